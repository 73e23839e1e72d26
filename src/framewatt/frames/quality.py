"""Quality of runs in frames: the primary metric of each cell, whichever task it is of.

No cell has metrics of two tasks, so the columns in which a cell has values identify its task.
"""

from collections.abc import Iterable, Sequence

import pandas as pd

from framewatt.tasks import METRICS, PRIMARY, TASKS
from framewatt.tasks.contract import HIGHER, Metric

SAMPLE = "sample"
"""The unit of work of runs without a metric that identifies their task."""

METRIC, QUALITY = "metric", "quality"
"""Columns of the name of a row's primary metric, and of its value."""

QUALITY_UNKNOWN = r", so [\w ]+ is unknown$"
"""The end of a flag with the reason why a run's quality is unknown, see runs.verdict."""


def metrics_in(frame: pd.DataFrame) -> list[Metric]:
    """Return the metrics that a frame has columns of."""
    return [metric for name, metric in METRICS.items() if name in frame]


def primary_in(frame: pd.DataFrame) -> list[Metric]:
    """Return the primary metrics that a frame has columns of, one for each task."""
    return [metric for name, metric in PRIMARY.items() if name in frame]


def with_quality(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with METRIC and QUALITY.

    A cell without a value in any run has the metric of the frame's only task. In a frame of several tasks the task of
    such a cell is not known, and its metric is "".

    Args:
        rows: of a frame of runs or of epochs.
    """
    primary = [metric.name for metric in primary_in(rows)]
    names = pd.Series(primary[0] if len(primary) == 1 else "", index=rows.index, dtype="object")
    values = pd.Series(float("nan"), index=rows.index, dtype="float64")
    for name in primary:
        numbers = pd.to_numeric(rows[name], errors="coerce").astype("float64")
        of_task = rows["cell"].isin(rows.loc[numbers.notna(), "cell"])
        names[of_task] = name
        values[of_task] = numbers[of_task]
    return rows.assign(**{METRIC: names, QUALITY: values})


def unit_of(metrics: Iterable[str]) -> str:
    """Return the unit of work of the tasks that have some of these metrics; `unit` where their units differ.

    Args:
        metrics: names, also of other columns.
    """
    names = set(metrics)
    units = {task.unit for task in TASKS.values() if task.primary.name in names}
    return units.pop() if len(units) == 1 else "unit" if units or names == {""} else SAMPLE


def words_of(metrics: Sequence[str]) -> str:
    """Metrics by name, within a sentence: the metric's words where there is one, else `quality`."""
    names = [name for name in dict.fromkeys(metrics) if name in METRICS]
    return METRICS[names[0]].words if len(names) == 1 else "quality"


def title_of(metrics: Sequence[str]) -> str:
    """Metrics by name, as a heading, see `words_of`."""
    words = words_of(metrics)
    return words[0].upper() + words[1:]


def is_share(metric: str) -> bool:
    """Return whether a metric is a share of answers. A metric of no task is taken as a share of right answers."""
    return metric not in METRICS or METRICS[metric].is_share()


def counts_right_answers(metric: str) -> bool:
    """Return whether a metric is the share of answers that are right. A metric of no task is taken as that."""
    tasks = [task for task in TASKS.values() if metric in task.names]
    return not tasks or tasks[0].has_right_answers


def is_higher_better(metric: str) -> bool:
    """Return whether higher values of a metric are better. A metric of no task is taken as a share of right answers."""
    return metric not in METRICS or METRICS[metric].better == HIGHER
