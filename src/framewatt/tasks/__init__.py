"""Tasks: what a model is asked, which samples a step takes, and metrics of the answers.

Adding a task is a file here, its row below, and its loss in every engine that trains it.
"""

from framewatt.base.errors import FramewattError
from framewatt.tasks.classification import Classification
from framewatt.tasks.contract import Metric, Task
from framewatt.tasks.detection import Detection, Segmentation
from framewatt.tasks.language_modelling import LanguageModelling
from framewatt.tasks.recommendation import Recommendation
from framewatt.tasks.tagging import Tagging
from framewatt.tasks.translation import Translation

__all__ = ["METRICS", "PRIMARY", "TASKS", "task_of"]

_ALL: tuple[Task, ...] = (
    Classification(),
    Tagging(),
    Recommendation(),
    LanguageModelling(),
    Translation(),
    Detection(),
    Segmentation(),
)

TASKS: dict[str, Task] = {task.name: task for task in _ALL}
"""Every task by its name."""

METRICS: dict[str, Metric] = {metric.name: metric for task in TASKS.values() for metric in task.metrics}
"""Every metric by its name, task by task."""

PRIMARY: dict[str, Metric] = {task.primary.name: task.primary for task in TASKS.values()}
"""The metrics that choices are compared by, one a task."""


def task_of(name: str) -> Task:
    """A task by its name.

    Raises:
        FramewattError: there is no such task.
    """
    if name not in TASKS:
        raise FramewattError(f"task: found {name}; allowed: {', '.join(TASKS)}")
    return TASKS[name]
