"""Instruments, by name. A new one is a file with a class that keeps the contract, and a line here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framewatt.errors import FramewattError
from framewatt.meters.contract import Meter
from framewatt.meters.estimate import Estimate
from framewatt.meters.nvml import Nvml
from framewatt.meters.rapl import Rapl
from framewatt.meters.replay import Replay

METERS = ("rapl", "nvml", "estimate", "replay")

__all__ = ["METERS", "make_meter", "select_meters"]


def make_meter(name: str, options: Mapping[str, Any]) -> Meter:
    """The meter of that name, not yet opened.

    Args:
        name: one of METERS.
        options: the study's `instruments`, with defaults filled in.

    Raises:
        FramewattError: no such meter.
    """
    if name == "rapl":
        return Rapl()
    if name == "nvml":
        return Nvml()
    if name == "estimate":
        return Estimate(options["estimate_idle_w_per_core"], options["estimate_busy_w_per_core"])
    if name == "replay":
        return Replay(Path(options["replay_trace"]), options["replay_speed"])
    raise FramewattError(f"instruments.meters: found {name!r}; allowed: {', '.join(METERS)}")


def select_meters(options: Mapping[str, Any]) -> list[str]:
    """Names of the meters to use on this machine.

    A named meter that is not available is an error, unless the study lets an estimate stand in for it. `auto`
    takes every measuring meter that is available. The estimate only ever stands in for the CPU's energy.

    Args:
        options: the study's `instruments`, with defaults filled in.

    Raises:
        FramewattError: a meter is missing and the study names no fallback.
    """
    automatic = options["meters"] == "auto"
    wanted = ["rapl", "nvml"] if automatic else list(options["meters"])
    ready = []
    for name in wanted:
        available, reason = make_meter(name, options).available()
        if available:
            ready.append(name)
        elif not automatic and options["fallback"] != "estimate":
            raise FramewattError(
                f"instruments.meters: found {name}, which this machine lacks: {reason}; "
                "allowed: a meter that is there, or fallback: estimate"
            )
    if not {"rapl", "estimate", "replay"} & set(ready) and options["fallback"] == "estimate":
        ready.append("estimate")
    return ready
