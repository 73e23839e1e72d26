"""Meters by name. A new one needs a module with a class that implements the contract, and a line here."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import Meter
from framewatt.meters.estimate import Estimate
from framewatt.meters.external import External, Log
from framewatt.meters.nvidia_smi import NvidiaSmi
from framewatt.meters.nvml import Nvml
from framewatt.meters.perf import Perf
from framewatt.meters.pyrapl import PyRapl
from framewatt.meters.rapl import Rapl
from framewatt.meters.replay import Replay

__all__ = ["METERS", "availability", "chosen_of", "make_meter", "select_meters"]

_MAKERS: dict[str, Callable[[Mapping[str, Any]], Meter]] = {
    "rapl": lambda options: Rapl(period_s=options["period_s"]),
    "perf": lambda options: Perf(options["perf_period_s"]),
    "pyrapl": lambda options: PyRapl(options["period_s"]),
    "nvml": lambda options: Nvml(options["period_s"]),
    "nvidia-smi": lambda options: NvidiaSmi(options["nvidia_smi_period_s"]),
    "external": lambda options: External(Log(**{**options["external"], "path": Path(options["external"]["path"])})),
    "replay": lambda options: Replay(Path(options["replay_trace"]), options["replay_speed"], options["period_s"]),
    "estimate": lambda options: Estimate(
        options["estimate_idle_w_per_core"], options["estimate_busy_w_per_core"], options["period_s"]
    ),
}

METERS = tuple(_MAKERS)
ESTIMATE = "estimate"
_CPU_METERS = {"rapl", "perf", "pyrapl", "external", "replay", ESTIMATE}


def make_meter(name: str, options: Mapping[str, Any]) -> Meter:
    """Return the meter of that name, not yet opened.

    Args:
        name: one of METERS.
        options: the study's `instruments`, with defaults filled in.

    Raises:
        FramewattError: no such meter.
    """
    if name not in _MAKERS:
        raise FramewattError(f"instruments.meters: {name!r} is not a meter. Use one of: {', '.join(METERS)}.")
    return _MAKERS[name](options)


def availability(names: Iterable[str], options: Mapping[str, Any]) -> dict[str, tuple[bool, str]]:
    """Return whether each meter can be read here, and why (not).

    Args:
        names: of METERS.
        options: the study's `instruments`, with defaults filled in.
    """
    return {name: make_meter(name, options).available() for name in METERS if name in set(names)}


def select_meters(options: Mapping[str, Any]) -> list[str]:
    """Return the names of the meters to use on this machine.

    A named meter that is not available is an error, unless the study allows the estimate as a fallback. `auto` takes
    RAPL and NVML where they are available. The estimate only ever replaces a meter of the CPU's energy.

    Args:
        options: the study's `instruments`, with defaults filled in.

    Raises:
        FramewattError: a meter is missing and the study names no fallback.
    """
    known = availability(_wanted(options), options)
    return chosen_of(options, {name: ready for name, (ready, _) in known.items()}, lambda name: known[name][1])


def chosen_of(
    options: Mapping[str, Any], available: Mapping[str, bool], why: Callable[[str], str] = lambda _: "it was not there"
) -> list[str]:
    """Return the names of the meters to use, given which are available; see `select_meters` (pure).

    Args:
        options: the study's `instruments`, with defaults filled in.
        available: whether a meter can be read, by its name.
        why: returns why a meter cannot be read, by its name.

    Raises:
        FramewattError: a meter is missing and the study names no fallback.
    """
    ready = []
    for name in _wanted(options):
        if available.get(name):
            ready.append(name)
        elif options["meters"] != "auto" and options["fallback"] != ESTIMATE:
            raise FramewattError(
                f"instruments.meters: {name} cannot be read here: {why(name)}. Name a meter that this machine has, or "
                "set fallback: estimate."
            )
    if not _CPU_METERS & set(ready) and options["fallback"] == ESTIMATE:
        ready.append(ESTIMATE)
    return ready


def _wanted(options: Mapping[str, Any]) -> list[str]:
    return ["rapl", "nvml"] if options["meters"] == "auto" else list(options["meters"])
