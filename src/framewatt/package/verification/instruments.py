"""Which meters were read: as the study asks for them, as the baseline and the traces have them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.meters import chosen_of
from framewatt.meters.contract import WITNESS
from framewatt.meters.trace import Readings
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.planning.placement import NOWHERE
from framewatt.study.study import Study

_REPLAY = "replay"


@dataclass(frozen=True)
class _Kind:
    """What readings of a meter look like.

    Attributes:
        domains: names that it meters, a regular expression.
        digit_j: last digit of its joules; None where it has none.
    """

    domains: str
    digit_j: float | None = None


_KINDS = {
    "rapl": _Kind("cpu:.+", 1e-6),
    "pyrapl": _Kind("cpu:.+", 1e-6),
    "perf": _Kind("cpu:.+", 1e-2),
    "nvml": _Kind("gpu:.+", 1e-3),
    "nvidia-smi": _Kind("gpu:.+"),
    "external": _Kind("external:.+"),
    "estimate": _Kind("cpu:estimate"),
}

_OFF_DIGITS = 1e-2
"""Share of its last digit by which a reading may be off a whole number of digits, by floating point."""


def problems(package: Opened, study: Study) -> Iterator[str]:
    """Where the meters are not those that the study asks for, or idled and ran with other ones."""
    told = {}
    for path in (folder / "instruments.json" for folder in package.calibrations):
        name, record = path.relative_to(package.results).as_posix(), mapping_in(path)
        available = {meter: bool(entry.get("available")) for meter, entry in dict(record.get("available", {})).items()}
        wanted: Any = []
        try:
            wanted = chosen_of(study.settings["instruments"], available)
        except FramewattError as error:
            yield f"{name}: {error}"
        told[str(record.get("node", NOWHERE))] = name, {"meters": record.get("meters")}
        yield from some(
            differences(
                {"meters": record.get("meters")}, {"meters": wanted}, by="it says", why="study and machine give"
            ),
            name,
        )
    for run, one in package.records:
        if (node := one.get("node", NOWHERE)) not in told:
            yield f"{run.where}: node: found {node!r}, of which the package has no instruments.json"
            continue
        name, meters = told[node]
        yield from some(differences({"meters": one["meters"]}, meters, why=f"{name} has"), run.where)


def problems_of_channels(trace: Readings, meters: Sequence[str]) -> Iterator[str]:
    """Channels of a measured run that its meters do not have, or whose readings are not such a meter's.

    Args:
        trace: of the run. One that is replayed has the channels of whatever was recorded.
        meters: names of those that were read.
    """
    if _REPLAY in meters:
        return
    for index, channel in enumerate(trace.channels):
        if channel.instrument == WITNESS:
            continue
        kind = _KINDS.get(channel.instrument)
        if channel.instrument not in meters or kind is None:
            yield f"a channel of {channel.instrument}; the run's meters are {', '.join(meters)}"
            continue
        if not re.fullmatch(kind.domains, channel.domain):
            yield f"a channel of {channel.instrument} meters {channel.domain}, which it cannot"
        if channel.estimated != (channel.instrument == "estimate"):
            yield f"a channel of {channel.instrument} is {'' if channel.estimated else 'not '}said to be an estimate"
        if channel.quantity == "energy_j" and kind.digit_j:
            yield from _off_digits(trace, index, kind.digit_j)


def _off_digits(trace: Readings, index: int, digit_j: float) -> Iterator[str]:
    """Readings of joules that a meter with such a last digit does not give, as an estimate's are."""
    value = np.asarray(trace.of(index)[1], dtype=np.float64)
    digits = value[np.isfinite(value)] / digit_j
    off = int(np.count_nonzero(np.abs(digits - np.rint(digits)) > _OFF_DIGITS))
    if off:
        channel = trace.channels[index]
        yield f"{off} readings of {channel.domain} are no whole number of {digit_j:g} J, as {channel.instrument} gives"
