"""Packages of package_factory's study from several machines: the same runs, on other hardware at other watts."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import package_factory
import played_runs

from framewatt.host.machine import machine_of


def machine(processors: int) -> dict[str, Any]:
    """A machine of so many processors, in a session of its own."""
    hardware = {**played_runs._HARDWARE, "processors": processors}
    return {**hardware, "id": machine_of(hardware), "session": f"{processors:016x}"}


@contextlib.contextmanager
def measured_on(processors: int, watts: float = 1.0) -> Iterator[None]:
    """Runs are played on a machine of so many processors, which draws so many times what the usual one does."""
    usual = played_runs._trace

    def trace(time_ns: Any, meters: list[str], power_w: float, seed: int) -> Any:
        return usual(time_ns, meters, watts * power_w, 100 * processors + seed)

    here = machine(processors)
    with (
        mock.patch.object(played_runs, "MACHINE", here),
        mock.patch.object(package_factory, "MACHINE", here),
        mock.patch.object(played_runs, "_trace", trace),
    ):
        yield


def package_of(root: Path, processors: int, watts: float = 1.0, **how: Any) -> Path:
    """A package that such a machine made; `how` is results_tree's."""
    with measured_on(processors, watts):
        return package_factory.make_package(root, **how)
