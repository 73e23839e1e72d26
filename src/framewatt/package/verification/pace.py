"""How often meters were read: as the study asks for it, as the trace has it, as the sampling process counted it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from framewatt.meters import make_meter
from framewatt.meters.contract import Polled
from framewatt.meters.trace import Readings
from framewatt.package.verification.compare import differences
from framewatt.package.verification.opened import Opened

_NO_STUDY_SAYS = ("replay", "external")
"""Meters that read on where others wrote: their lines come as they come."""

_MORE, _EDGES = 1.2, 3
"""A meter may be read this much more often than planned, by its own clock, and so many times more at the edges."""

_SLOWER, _SLOWER_S = 10, 1.0
"""By how much a program's lines may be slower than asked for, as a factor and in seconds: it asks every GPU in turn."""

_ROUNDED = 1e-6


def problems_of_pace(trace: Readings, record: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[str]:
    """Where a measured run's readings are not as often as the study asks for.

    Args:
        trace: of the run.
        record: of the run.
        options: the study's `instruments`.
    """
    meters = [name for name in record["meters"] if name not in _NO_STUDY_SAYS]
    first = {name: _first(trace, name) for name in meters}
    for name, index in first.items():
        if index is not None:
            yield from _as_planned(trace, name, options)
            yield from _often_enough(trace, index, polled=_polled(name, options))
    polled = [index for name, index in first.items() if _polled(name, options)]
    # A meter that has no channel here was read all the same, and left nothing.
    if record["sampler"] is not None and "replay" not in record["meters"] and None not in polled:
        yield from _counted(trace, [index for index in polled if index is not None], record["sampler"])


def problems_of_idle(package: Opened, told: Mapping[str, Any]) -> Iterator[str]:
    """Where idle power was read less often than the study asks for; its readings are not kept.

    Args:
        package: that it is in.
        told: idle.json.
    """
    options = package.settings["instruments"]
    meters = [make_meter(name, options) for name in told.get("meters", [])]
    sampler = told.get("sampler") or {}
    if any(meter.name == "replay" for meter in meters) or "sources" not in package.told_plan:
        return
    duration_s, due = sampler.get("duration_s", 0.0), sampler.get("reads", 0) + sampler.get("missed_reads", 0)
    planned = sum(duration_s / meter.period_s + 1 for meter in meters if isinstance(meter, Polled))
    # At its end, the process may have been kept from reading for a while.
    if duration_s < told.get("duration_s", 0.0) or not 0.2 * planned - _EDGES <= due <= planned * (1 + _ROUNDED):
        yield f"sampler: it says {due} reads were due in {duration_s:.6g} s, the study file gives {planned:.0f}"


def _first(trace: Readings, instrument: str) -> int | None:
    """A meter's first channel: all have the same readings."""
    return next((i for i, channel in enumerate(trace.channels) if channel.instrument == instrument), None)


def _polled(name: str, options: Mapping[str, Any]) -> bool:
    return isinstance(make_meter(name, options), Polled)


def _as_planned(trace: Readings, name: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Channels that say they were read at another pace than the study gives."""
    found = {"period_s": make_meter(name, options).period_s}
    for channel in trace.channels:
        if channel.instrument == name:
            told = {"period_s": channel.period_s}
            yield from differences(told, found, f"{name} {channel.domain}", by="its trace says", why="the study gives")


def _often_enough(trace: Readings, index: int, *, polled: bool) -> Iterator[str]:
    """Readings that come more often than planned, or from a program less often than it can be late."""
    channel = trace.channels[index]
    time_ns, value = trace.of(index)
    if len(time_ns) < 2 or not channel.period_s:
        return
    span_s = float(np.ptp(time_ns)) * 1e-9
    good = int(np.count_nonzero(np.isfinite(value)))
    said = f"{channel.instrument}: {len(time_ns)} readings in {span_s:.6g} s, planned every {channel.period_s:g} s"
    if good > _MORE * span_s / channel.period_s + _EDGES:
        yield f"{said}: more often than that"
    elif not polled and len(time_ns) < span_s / (_SLOWER * channel.period_s + _SLOWER_S) - _EDGES:
        yield f"{said}: less often than that"


def _counted(trace: Readings, polled: Sequence[int], sampler: Mapping[str, Any]) -> Iterator[str]:
    """Readings that are not those that the sampling process counted (sampling.OnTime): on time, or missed."""
    reads, due = 0, 0.0
    for index in polled:
        # The last reading is the one at the end, which comes when it comes.
        time_ns = trace.of(index)[0][:-1]
        reads += len(time_ns)
        period_s = trace.channels[index].period_s
        if len(time_ns) and period_s:
            due += float(np.ptp(time_ns)) * 1e-9 / period_s
    told, missed = sampler.get("reads"), sampler.get("missed_reads")
    yield from differences({"reads": told}, {"reads": reads}, "sampler", why="its trace has")
    if not isinstance(missed, int) or reads + missed < due * (1 - _ROUNDED):
        yield f"sampler.missed_reads: the record says {missed}, of {due:.0f} reads that were due {reads} are there"
