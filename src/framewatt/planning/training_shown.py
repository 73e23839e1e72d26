"""Which studies have figures of training and of inference (pure)."""

from framewatt.imports.file_study import FileStudy
from framewatt.study.study import Study

_LEVELS = ("workload", "batch_size")


def trains(study: Study | FileStudy) -> bool:
    """Whether a study trains; of files, whether they hold epochs."""
    if isinstance(study, FileStudy):
        return any(log["reader"] == "epochs" for log in study.settings["files"]["logs"])
    return any(cell.phase == "train" for cell in study.cells)


def infers(study: Study | FileStudy) -> bool:
    """Whether a study may hold inference; files tell only when they are read."""
    return isinstance(study, FileStudy) or any(cell.phase == "infer" for cell in study.cells)


def shows_training(study: Study | FileStudy) -> bool:
    """Whether a study trains several models, or one at several batch sizes; of files, whether they hold epochs."""
    if isinstance(study, FileStudy):
        return trains(study)
    trained = [cell.to_dict() for cell in study.cells if cell.phase == "train"]
    return any(len({cell[name] for cell in trained}) > 1 for name in _LEVELS)
