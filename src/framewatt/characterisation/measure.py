"""Characterises the meters of this machine: reads all of them under a schedule of loads, and analyses each."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.characterisation.agreement import Agreement, agreements, mirrors
from framewatt.characterisation.channel import Character, character_of
from framewatt.characterisation.domains import needed
from framewatt.characterisation.loads import Loads
from framewatt.characterisation.schedule import Stretch
from framewatt.characterisation.series import Series, series_of
from framewatt.characterisation.verdict import disturbances, problems
from framewatt.energy.accounts import energy_accounts
from framewatt.meters.trace import Trace
from framewatt.sampling.client import Sampler


@dataclass(frozen=True)
class Characterisation:
    """Results for all meters.

    Attributes:
        stretches: the actual loads.
        found: every channel of joules or watts, the best account of a domain before its others.
        series: their readings.
        agreements: further accounts of a domain beside its best one.
        problems: for each channel, why it cannot be trusted; empty if it can.
        disturbances: other work during the loads.
        missing: loads that were not available, and why.
        origin_ns: CLOCK_MONOTONIC of the series' second 0.
        trace: the raw readings of all meters.
    """

    stretches: tuple[Stretch, ...]
    found: tuple[Character, ...]
    series: tuple[Series, ...]
    agreements: tuple[Agreement, ...]
    problems: tuple[list[str], ...]
    disturbances: tuple[str, ...]
    missing: dict[str, str]
    origin_ns: int
    trace: Trace

    @property
    def trusted(self) -> list[str]:
        """Channels without problems."""
        return [one.name for one, wrong in zip(self.found, self.problems, strict=True) if not wrong]

    @property
    def doubted(self) -> list[str]:
        """Channels with problems that a total of the machine needs."""
        pairs = zip(self.found, self.problems, strict=True)
        return [one.name for one, wrong in pairs if wrong and needed(one.channel.domain)]

    def to_dict(self) -> dict[str, Any]:
        """The record: JSON-ready, without readings."""
        return {
            "stretches": [stretch.to_dict() for stretch in self.stretches],
            "channels": [
                one.to_dict() | {"problems": wrong} for one, wrong in zip(self.found, self.problems, strict=True)
            ],
            "agreements": [one.to_dict() for one in self.agreements],
            "disturbances": list(self.disturbances),
            "missing_loads": self.missing,
        }


def characterise(
    meters: Sequence[str],
    options: Mapping[str, Any],
    load: Loads,
    plan: Sequence[tuple[str, float]],
    trace_path: Path,
    begin_ns: int | None = None,
) -> Characterisation:
    """Read the meters during a plan of loads, and analyse the readings.

    Args:
        meters: names of the meters to read.
        options: the study's `instruments`.
        load: what puts the machine under load, ready.
        plan: loads and their seconds, see loads.planned.
        trace_path: where raw readings go.
        begin_ns: CLOCK_MONOTONIC of the plan's begin; soon, where it is None.

    Raises:
        FramewattError: a meter cannot be read.
    """
    sampler = Sampler(meters, options, trace_path)
    sampler.start()
    try:
        stretches = load.run(plan, begin_ns)
        time.sleep(sampler.settle_s)
    finally:
        summary = sampler.stop()
    if "error" in summary:
        raise FramewattError(f"characterisation: {summary['error']}")
    return look(sampler.trace(), stretches, load.missing)


def look(trace: Trace, stretches: Sequence[Stretch], missing: Mapping[str, str] | None = None) -> Characterisation:
    """Analyse meters' readings of a schedule of loads (pure).

    Args:
        trace: readings that span the schedule.
        stretches: the schedule.
        missing: loads that could not be had, and why.
    """
    origin_ns = stretches[0].start_ns
    indices = [index for accounts in energy_accounts(trace.channels).values() for index in accounts]
    channels = [trace.channels[index] for index in indices]
    series = [series_of(trace.channels[index], *trace.of(index), origin_ns) for index in indices]
    pairs = list(zip(channels, series, strict=True))
    found = [character_of(channel, one, stretches, origin_ns) for channel, one in pairs]
    agreed = agreements(trace, stretches)
    mirrored = mirrors(pairs)
    return Characterisation(
        tuple(stretches),
        tuple(found),
        tuple(series),
        tuple(agreed),
        tuple(problems(one, agreed, mirrored) for one in found),
        tuple(disturbances(stretches)),
        dict(missing or {}),
        origin_ns,
        trace,
    )
