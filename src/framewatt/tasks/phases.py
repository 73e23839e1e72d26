"""What the steps of a window did: units of work that may be known only afterwards, and phases of steps.

A step may consist of phases, such as prefill and decode. The engine takes their times (`PhaseMark`); the worker writes
them as windows of the run, and energy is computed of these windows as of all others. A phase of a step is not the phase
of a study (`train` or `infer`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, NamedTuple

from framewatt.base.errors import FramewattError
from framewatt.tasks.contract import Step, Task

PHASE = "phase-"
"""How the names of windows start that are phases of steps; the same as in energy.accounting."""


class PhaseMark(NamedTuple):
    """A phase of a step, as an engine took its time.

    Attributes:
        phase: its name, a key of the task's `phases`.
        start_ns: CLOCK_MONOTONIC in nanoseconds when it started.
        end_ns: the same when the device had finished its work.
    """

    phase: str
    start_ns: int
    end_ns: int


class PhasedOutputs(NamedTuple):
    """What an engine returns of a step of a task that has phases.

    Attributes:
        outputs: what it would return without phases.
        marks: the phases of the step, in the order in which they took place.
    """

    outputs: Any
    marks: tuple[PhaseMark, ...]


@dataclass(frozen=True)
class Work:
    """What the steps of a window did.

    Attributes:
        count: units of work, see Task.unit.
        phases: units of work of each phase, by its name; empty where steps have no phases.
        marks: the phases of all steps, in their order.
    """

    count: int
    phases: Mapping[str, int] = field(default_factory=dict)
    marks: tuple[PhaseMark, ...] = ()

    def facts(self, task: Task) -> dict[str, Any]:
        """Return the work as a run's result and record have it: `units`, and `phases` where steps have phases."""
        units = {"name": task.unit, "count": self.count}
        phases = {name: {"name": task.phases[name], "count": count} for name, count in self.phases.items()}
        return {"units": units, **({"phases": phases} if task.phases else {})}


def needs_outputs(task: Task) -> bool:
    """Return whether the outputs of every step have to be kept until the end of a window, to know what was done."""
    return task.counts_afterwards or bool(task.phases)


def without_marks(task: Task, returned: Any) -> Any:
    """Return the outputs of a step, from what an engine returned of it.

    Raises:
        FramewattError: the task has phases, and the engine returned no marks of them, or other phases.
    """
    if not task.phases:
        return returned
    if not isinstance(returned, PhasedOutputs) or [mark.phase for mark in returned.marks] != list(task.phases):
        marks = [mark.phase for mark in returned.marks] if isinstance(returned, PhasedOutputs) else "no marks"
        raise FramewattError(
            f"task {task.name}: the engine returned {marks} of a step. Return PhasedOutputs with the phases "
            f"{', '.join(task.phases)} in this order (tasks.phases)."
        )
    return returned.outputs


def work_done(task: Task, steps: Sequence[Step], returned: Sequence[Any], taken: int) -> Work:
    """Return what a window did: the units that were planned, or those that the task counts in the outputs.

    Args:
        task: of the data set.
        steps: of one pass; the window took them in turn, pass by pass.
        returned: what the engine returned of every step of the window; used only where `needs_outputs`.
        taken: number of steps that the window took.

    Raises:
        FramewattError: the engine returned no marks of phases, see without_marks.
    """
    if not needs_outputs(task):
        each = [step.units for step in steps]
        passes, rest = divmod(taken, len(each))
        return Work(passes * sum(each) + sum(each[:rest]))
    assert len(returned) == taken
    count, phases = 0, Counter(dict.fromkeys(task.phases, 0))
    for step, of_step in zip(cycle(steps), returned, strict=False):
        outputs = without_marks(task, of_step)
        count += task.units_done(step, outputs)
        phases.update(task.units_by_phase(step, outputs))
    marks = tuple(mark for of_step in returned for mark in of_step.marks) if task.phases else ()
    return Work(count, dict(phases), marks)
