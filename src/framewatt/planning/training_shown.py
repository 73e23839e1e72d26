"""Which studies have figures of training and of what weights detect (pure)."""

from framewatt.planning.jobs import trained_models_of
from framewatt.study.study import FileStudy, Study
from framewatt.study.training import FINE_TUNED, TRAINED, weights_of
from framewatt.workloads.registry import DETECTORS

_LEVELS = ("workload", "batch_size")


def detects(study: Study) -> bool:
    """Whether a study trains the weights of a detector, not measured: what measured runs train is not kept."""
    found = {cell.workload for cell in trained_models_of(study).values()} & {*DETECTORS}
    return any(weights_of(study.settings, workload) in (TRAINED, FINE_TUNED) for workload in found)


def shows_training(study: Study) -> bool:
    """Whether a study trains several models, or one at several batch sizes; of files, whether they hold epochs."""
    if isinstance(study, FileStudy):
        return study.trains
    trained = [levels for cell in study.cells if (levels := cell.to_dict())["phase"] == "train"]
    return any(len({cell[name] for cell in trained}) > 1 for name in _LEVELS)
