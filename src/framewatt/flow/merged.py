"""Which studies join what several machines measured."""

from framewatt.imports.merged_study import MergedStudy
from framewatt.planning.jobs import AnyStudy


def is_merged(study: AnyStudy) -> bool:
    """Whether the runs of a study lie in packages of several machines."""
    return isinstance(study, MergedStudy)
