"""Tasks: what a model has to do with a data set, which samples a step takes, and metrics of the answers.

Adding a task is a file here, its row below, and its loss in every engine that trains it.
"""

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.tasks.classification import Classification
from framewatt.tasks.contract import Metric, Task
from framewatt.tasks.detection import Detection, Segmentation
from framewatt.tasks.language_modelling import LanguageModelling
from framewatt.tasks.recommendation import Recommendation
from framewatt.tasks.tagging import Tagging
from framewatt.tasks.translation import Translation

__all__ = ["DEFAULT", "METRICS", "PRIMARY", "TASKS", "task_for", "task_of"]

_ALL: tuple[Task, ...] = (
    Classification(),
    Tagging(),
    Recommendation(),
    LanguageModelling(),
    Translation(),
    Detection(),
    Segmentation(),
)

DEFAULT: Task = _ALL[0]
"""The task of data sets and models that name none."""

TASKS: dict[str, Task] = {task.name: task for task in _ALL}
"""Every task by its name."""

METRICS: dict[str, Metric] = {metric.name: metric for task in TASKS.values() for metric in task.metrics}
"""Every metric by its name, task by task."""

PRIMARY: dict[str, Metric] = {task.primary.name: task.primary for task in TASKS.values()}
"""The metrics that choices are compared by, one a task."""


def task_of(name: str | None) -> Task:
    """Return a task by its name; None is the default task.

    Raises:
        FramewattError: there is no such task.
    """
    if name is None:
        return DEFAULT
    if name not in TASKS:
        raise FramewattError(f"task: there is no {name!r}. Use one of: {', '.join(TASKS)}.")
    return TASKS[name]


def task_for(data: Arrays) -> Task:
    """Return the task that a data set is for.

    Raises:
        FramewattError: there is no such task, or it does not take this kind of data.
    """
    task = task_of(data.task)
    task.check_data(data)
    return task
