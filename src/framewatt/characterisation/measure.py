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


def problems(character: Character, agreements: Sequence[Agreement], mirrors: Sequence[tuple[str, str]]) -> list[str]:
    """Return why a channel cannot be trusted; empty if it can.

    Args:
        character: its behaviour.
        agreements: of all domains.
        mirrors: pairs of domains that show one counter.
    """
    channel = character.channel
    if not character.readings:
        return ["not one reading was good"]
    reasons = [character.still] if character.still else []
    if channel.estimated:
        reasons.append("an estimate, not a measurement")
    reads = character.readings + character.failed + character.absurd
    if character.failed > _MOST_FAILED * reads:
        reasons.append(f"{character.failed} of {reads} reads failed")
    if character.absurd:
        reasons.append(f"{character.absurd} readings that no such domain can have: negative, or more than it can draw")
    if character.resets:
        reasons.append(f"went back or jumped {character.resets} times by other than a wrap")
    if not character.still:
        reasons += _unseen(character)
    name = f"{channel.quantity} of {channel.instrument}"
    reasons += [
        f"{100 * (other.ratio - 1):+.1f} % between {other.other} and {other.account}"
        for other in agreements
        if other.domain == channel.domain and name in (other.account, other.other) and other.parts and other.ratio
    ]
    reasons += [f"{a} and {b} show one counter" for a, b in mirrors if channel.domain in (a, b)]
    return reasons


def disturbances(stretches: Sequence[Stretch]) -> list[str]:
    """Return the stretches with more than a little other work, so that their steps of load are not as planned."""
    return [
        f"other work kept {stretch.others:.1f} processors busy in stretch {number} ({stretch.load})"
        for number, stretch in enumerate(stretches, 1)
        if stretch.others is not None and stretch.others > MOST_OTHERS
    ]


def _unseen(character: Character) -> list[str]:
    """Return why it was not seen to show the load that it should."""
    load = expected_load(character.channel.domain)
    if load is None:
        return []
    own = next((response for response in character.responses if response.load == load), None)
    if own is None:
        return [f"was not seen under load: there was no load of {load}"]
    return [] if own.seen else [f"does not show a load of {load}: {own.reason}"]


@dataclass(frozen=True)
class Characterisation:
    """Results for all meters.

    Attributes:
        stretches: the actual loads.
        characters: every channel of joules or watts, the best account of a domain before its others.
        series: their readings.
        agreements: further accounts of a domain, each compared with its best account.
        problems: for each channel, why it cannot be trusted; empty if it can.
        disturbances: other work during the loads.
        missing: loads that were not available, and why.
        origin_ns: CLOCK_MONOTONIC of the series' second 0.
        trace: the raw readings of all meters.
    """

    stretches: tuple[Stretch, ...]
    characters: tuple[Character, ...]
    series: tuple[Series, ...]
    agreements: tuple[Agreement, ...]
    problems: tuple[list[str], ...]
    disturbances: tuple[str, ...]
    missing: dict[str, str]
    origin_ns: int
    trace: Trace

    @property
    def trusted(self) -> list[str]:
        """Return the channels without problems."""
        return [one.name for one, wrong in zip(self.characters, self.problems, strict=True) if not wrong]

    @property
    def doubted(self) -> list[str]:
        """Return the channels with problems that a total of the machine needs."""
        pairs = zip(self.characters, self.problems, strict=True)
        return [one.name for one, wrong in pairs if wrong and needed(one.channel.domain)]

    def to_dict(self) -> dict[str, Any]:
        """Return the record: JSON-ready, without readings."""
        return {
            "stretches": [stretch.to_dict() for stretch in self.stretches],
            "channels": [
                one.to_dict() | {"problems": wrong} for one, wrong in zip(self.characters, self.problems, strict=True)
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
        begin_ns: CLOCK_MONOTONIC of the start of the plan; None starts it soon.

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
        raise FramewattError(f"characterisation: {summary['error']}. Start again.")
    return look(sampler.trace(), stretches, load.missing)


def look(trace: Trace, stretches: Sequence[Stretch], missing: Mapping[str, str] | None = None) -> Characterisation:
    """Analyse meters' readings of a schedule of loads (pure).

    Args:
        trace: readings that span the schedule.
        stretches: the schedule.
        missing: loads that were not available, and why.
    """
    origin_ns = stretches[0].start_ns
    indices = [index for accounts in energy_accounts(trace.channels).values() for index in accounts]
    channels = [trace.channels[index] for index in indices]
    series = [series_of(trace.channels[index], *trace.read_channel(index), origin_ns) for index in indices]
    pairs = list(zip(channels, series, strict=True))
    characters = [character_of(channel, one, stretches, origin_ns) for channel, one in pairs]
    agreed = agreements(trace, stretches)
    mirrored = mirrors(pairs)
    return Characterisation(
        tuple(stretches),
        tuple(characters),
        tuple(series),
        tuple(agreed),
        tuple(problems(one, agreed, mirrored) for one in characters),
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
    """Return the record of a characterisation, see Characterisation.to_dict; None where there is nothing to measure.

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
