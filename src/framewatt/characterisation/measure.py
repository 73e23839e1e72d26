"""Characterises the meters of this machine: reads them under known loads, and lists the problems of each."""

import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.characterisation.agreement import Agreement, agreements, mirrors
from framewatt.characterisation.channel import Character, character_of
from framewatt.characterisation.loads import Loads, loads, planned
from framewatt.characterisation.schedule import ALL_CORES, GPU, Stretch, expected_load, needed
from framewatt.characterisation.series import Series, series_of
from framewatt.energy.accounts import energy_accounts
from framewatt.meters.trace import Trace
from framewatt.sampling.client import Sampler

_MOST_FAILED = 0.01
"""Largest share of reads that may fail."""

MOST_OTHERS = 0.1
"""Processors that other work may keep busy during a step."""


def problems(found: Character, agreements: Sequence[Agreement], mirrors: Sequence[tuple[str, str]]) -> list[str]:
    """Why a channel cannot be trusted; empty if it can.

    Args:
        found: its behaviour.
        agreements: of all domains.
        mirrors: pairs of domains that show one counter.
    """
    channel = found.channel
    if not found.readings:
        return ["not one reading was good"]
    said = [found.still] if found.still else []
    if channel.estimated:
        said.append("an estimate, no measurement")
    reads = found.readings + found.failed + found.absurd
    if found.failed > _MOST_FAILED * reads:
        said.append(f"{found.failed} of {reads} reads failed")
    if found.absurd:
        said.append(f"{found.absurd} readings that no such domain can have: negative, or more than it can draw")
    if found.resets:
        said.append(f"went back or jumped {found.resets} times by other than a wrap")
    if not found.still:
        said += _unseen(found)
    name = f"{channel.quantity} of {channel.instrument}"
    said += [
        f"{100 * (other.ratio - 1):+.1f} % between {other.other} and {other.account}"
        for other in agreements
        if other.domain == channel.domain and name in (other.account, other.other) and other.parts and other.ratio
    ]
    said += [f"{a} and {b} show one counter" for a, b in mirrors if channel.domain in (a, b)]
    return said


def disturbances(stretches: Sequence[Stretch]) -> list[str]:
    """Stretches with more than a little other work, so that their steps of load are not as planned."""
    return [
        f"other work kept {stretch.others:.1f} processors busy in stretch {number} ({stretch.load})"
        for number, stretch in enumerate(stretches, 1)
        if stretch.others is not None and stretch.others > MOST_OTHERS
    ]


def _unseen(found: Character) -> list[str]:
    """Why it was not seen to show the load that it should."""
    load = expected_load(found.channel.domain)
    if load is None:
        return []
    own = next((one for one in found.responses if one.load == load), None)
    if own is None:
        return [f"was not seen under load: there was no load of {load}"]
    return [] if own.seen else [f"does not show a load of {load}: {own.reason}"]


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
    series = [series_of(trace.channels[index], *trace.read_channel(index), origin_ns) for index in indices]
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


_NOT_OF_HARDWARE = ("estimate", "replay")
"""An estimate follows its formula and a replay its recorded trace: loads reveal nothing about them."""

_OF_GPUS = ("nvml", "nvidia-smi")
REPEATS = 3


def characterise_for_study(
    meters: Sequence[str], options: Mapping[str, Any], step_s: float, environments: Path, trace_path: Path
) -> dict[str, Any] | None:
    """The record of a characterisation, see measure.Characterisation.to_dict; None where there is nothing to measure.

    Args:
        meters: names of the study's meters.
        options: the study's `instruments`.
        step_s: seconds of each load, about; 0 leaves all meters as they are documented.
        environments: where environments are built; those of PyTorch can load a GPU.
        trace_path: where raw readings go.

    Raises:
        FramewattError: a meter cannot be read.
    """
    metered = [name for name in meters if name not in _NOT_OF_HARDWARE]
    if not metered or not step_s:
        return None
    wanted = [ALL_CORES] + ([GPU] if set(_OF_GPUS) & set(metered) else [])
    built = sorted(map(str, environments.glob("*/torch*/**/bin/python")))
    pythons = [*built, sys.executable, *filter(None, [shutil.which("python3")])]
    with loads(wanted, pythons) as load:
        plan = planned(load.names, REPEATS, step_s)
        return characterise(metered, options, load, plan, trace_path).to_dict()
