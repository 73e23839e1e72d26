"""Channels of imported runs: those that the readers of their logs give, and no others."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from framewatt.energy.accounts import energy_channels
from framewatt.imports import codecarbon, nvidia_smi, perf, watts
from framewatt.imports.contract import Options
from framewatt.imports.nvidia_smi_layout import QUANTITIES
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Readings
from framewatt.package.verification.compare import differences

WITHOUT_READINGS = "epochs"
"""The reader that gives epochs and no channel."""

_GPU = re.compile(r"gpu:\d+")
_SPREADS = "perf"
"""The reader whose logs have a length and no clock: to it the readings of other logs may have been stretched."""


@dataclass(frozen=True)
class Log:
    """A log of an imported run.

    Attributes:
        reader: name of its reader.
        options: how the study has it read.
    """

    reader: str
    options: Options


@dataclass(frozen=True)
class _Seen:
    """A channel as the trace has it, and what its readings tell of how it was made."""

    channel: Channel
    time_ns: np.ndarray
    stretched: bool

    @property
    def span_s(self) -> float:
        """Seconds from its first reading to its last."""
        return float(self.time_ns.max(initial=0) - self.time_ns.min(initial=0)) * 1e-9 if len(self.time_ns) else 0.0


def problems_of_imported(trace: Readings, logs: Sequence[Log]) -> Iterator[str]:
    """Channels that none of a run's logs can have given, logs that gave none, and totals that are no totals.

    Args:
        trace: of the run.
        logs: those that it was read from.
    """
    stretched = any(log.reader == _SPREADS for log in logs)
    told: set[int] = set()
    for index, channel in enumerate(trace.channels):
        time_ns, value = (np.asarray(part) for part in trace.of(index))
        where = f"channel {channel.domain}, {channel.quantity}"
        given = [
            (number, one)
            for number, log in enumerate(logs)
            for one in _given(log, _Seen(channel, time_ns, stretched))
            if (one.domain, one.quantity) == (channel.domain, channel.quantity)
        ]
        if not given:
            readers = ", ".join(dict.fromkeys(log.reader for log in logs))
            yield f"{where}: no reader of its logs gives it ({readers})"
            continue
        lines = [list(_between(channel, one, logs[number].reader, where)) for number, one in given]
        if energy_channels([channel]):
            told |= {number for (number, _), found in zip(given, lines, strict=True) if not found}
        yield from min(lines, key=len)
        if channel.kind == COUNTER and (len(value) != 2 or value[0] != 0):
            yield f"{where}: {len(value)} readings from {value[0] if len(value) else 'none'} on; a total is two, from 0"
    for number, log in enumerate(logs):
        if log.reader != WITHOUT_READINGS and number not in told:
            yield f"no channel of energy or power is what {log.reader} gives, and a log of its is among the run's"


def _between(channel: Channel, given: Channel, reader: str, where: str) -> Iterator[str]:
    yield from differences(channel.to_dict(), given.to_dict(), where, by="the trace says", why=f"{reader} gives")


def _given(log: Log, seen: _Seen) -> Iterable[Channel]:
    """The channels that a log may have given, one of which is to be the one that is seen."""
    maker = _READERS.get(log.reader)
    return maker(seen, log.options) if maker else ()


def _of_codecarbon(seen: _Seen, options: Options) -> Iterator[Channel]:
    return (codecarbon.channel_of(column, options, seen.span_s) for column in codecarbon.DOMAINS)


def _of_perf(seen: _Seen, _: Options) -> Iterator[Channel]:
    if perf.DOMAIN.fullmatch(seen.channel.domain):
        yield perf.channel_of(seen.channel.domain, seen.span_s)


def _of_watts(_: _Seen, options: Options) -> Iterator[Channel]:
    if options.interval_s:
        yield watts.channel_of(options, options.interval_s)


def _of_nvidia_smi(seen: _Seen, options: Options) -> Iterator[Channel]:
    period_s = nvidia_smi.period_of(seen.time_ns, options)
    if seen.stretched and not options.interval_s:
        # The median was taken before readings were moved apart.
        period_s = seen.channel.period_s
    # A file of several GPUs numbers them; of one it does not say which.
    for domain in {options.domain, *_GPU.findall(seen.channel.domain)}:
        yield from (nvidia_smi.channel_of(domain, field, period_s) for field in QUANTITIES)


_READERS: dict[str, Callable[[_Seen, Options], Iterator[Channel]]] = {
    "codecarbon": _of_codecarbon,
    "perf": _of_perf,
    "watts": _of_watts,
    "nvidia-smi": _of_nvidia_smi,
}
