"""Which studies have figures of training, of inference and of what weights find (pure)."""

from framewatt.imports.file_study import FileStudy
from framewatt.planning.jobs import AnyStudy, trained_models_of
from framewatt.study.training import FINE_TUNED, TRAINED, weights_of
from framewatt.workloads.detector import DETECTORS

_LEVELS = ("workload", "batch_size")


def trains(study: AnyStudy) -> bool:
    """Whether a study trains; of files, whether they hold epochs."""
    if isinstance(study, FileStudy):
        return any(log["reader"] == "epochs" for log in study.settings["files"]["logs"])
    return any(cell.to_dict()["phase"] == "train" for cell in study.cells)


def infers(study: AnyStudy) -> bool:
    """Whether a study may hold inference; files tell only when they are read."""
    return isinstance(study, FileStudy) or any(cell.to_dict()["phase"] == "infer" for cell in study.cells)


def detects(study: AnyStudy) -> bool:
    """Whether a study trains the weights of a detector, not measured: what measured runs train is not kept."""
    found = {cell.workload for cell in trained_models_of(study).values()} & {*DETECTORS}
    return any(weights_of(study.settings, workload) in (TRAINED, FINE_TUNED) for workload in found)


def shows_training(study: AnyStudy) -> bool:
    """Whether a study trains several models, or one at several batch sizes; of files, whether they hold epochs."""
    if isinstance(study, FileStudy):
        return trains(study)
    trained = [levels for cell in study.cells if (levels := cell.to_dict())["phase"] == "train"]
    return any(len({cell[name] for cell in trained}) > 1 for name in _LEVELS)
