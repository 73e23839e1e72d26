"""Operators of a program, one by one: which it calls with which arguments, and such a call alone, to be repeated.

Two processes share it. One has the program, and writes down what a step calls; the other has none of it, and calls an
operator alone. Numbers are drawn anew from a seeded normal distribution, as operators may be cheaper on zeros. Integers
are those of the program, since they are often places in other arguments.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from framewatt.base.errors import FramewattError
from framewatt.workloads.contract import Spec, Workload

CANNOT = "cannot be repeated: "
"""How the reason begins why an operator has no energy of its own."""


class UnrepeatableError(FramewattError):
    """An operator, or all of a program, cannot be called alone; the message is the reason."""


@dataclass(frozen=True)
class Case:
    """Calls of an operator with the same arguments.

    Attributes:
        name: the operator, as the profiler names it.
        shapes: of its inputs, as the profiler's spans have them.
        arguments: a JSON value, from which the engine makes them again.
        calls: in each step that was looked at.
    """

    name: str
    shapes: str
    arguments: Any
    calls: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """As a JSON value."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Case":
        """From `to_dict`."""
        return cls(**{**content, "calls": tuple(content["calls"])})


class Repeater(Protocol):
    """Operators of an engine.

    `captured` is called where the program is, all else where it is not.
    """

    def captured(self, workload: Workload, batches: Iterable[Any]) -> list[Case]:
        """Return what some steps of a workload, which is set up and warm, call.

        Raises:
            UnrepeatableError: it cannot be seen.
        """

    def make_call(self, case: Case) -> Callable[[], object]:
        """Return a call of an operator, with its arguments ready; it may return before it is done.

        Raises:
            UnrepeatableError: its arguments cannot be made again.
        """

    def synchronize(self) -> None:
        """Wait until all calls are done."""


def make_repeater(engine: str, spec: Spec, folder: Path) -> Repeater:
    """Return the operators of an engine.

    Args:
        engine: its name.
        spec: of the workload.
        folder: for what of arguments is no JSON; the same one in both processes.

    Raises:
        UnrepeatableError: operators of this engine cannot be called alone.
    """
    name = f"framewatt.workloads.{engine}.repeater"
    if importlib.util.find_spec(name) is None:
        raise UnrepeatableError(f"framewatt has no way to call operators of {engine} alone")
    repeater: Repeater = importlib.import_module(name).make_repeater(spec, folder)
    return repeater
