"""Reads the output of `perf stat`: joules per domain over a whole run, and its duration.

A total becomes a counter with two readings: 0 at the start, the total at the end. Source: perf-stat(1).
"""

import math
import re
from pathlib import Path

import numpy as np

from framewatt.base.errors import FramewattError
from framewatt.imports.contract import Log, Options
from framewatt.imports.text import Text, comma_hint, is_failed_reading, read_text
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.perf import domain_of
from framewatt.meters.trace import Trace

DOMAIN = re.compile(r"cpu:(package|dram)(-\d+)?")
"""Valid domains: over all sockets, or of one."""

_JOULES = re.compile(r"^(?:S(\d+)\s+\d+\s+)?(\S+|<[^>]*>)\s+Joules\s+(\S+)")
_NOT_COUNTED = re.compile(r"^(?:S(\d+)\s+\d+\s+)?(<[^>]*>)\s+(?:Joules\s+)?(\S+)")
_ELAPSED = re.compile(r"^(\S+)\s+(?:\+- \S+ )?seconds time elapsed")
_NUMBER = re.compile(r"(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")
_UPDATE_PERIOD_S = 0.001
_RESOLUTION_J = 0.01


def read(path: Path, options: Options) -> Log:
    """Return the joules of every domain, and the seconds of the run.

    Raises:
        FramewattError: a line with joules or seconds holds no number, or joules or seconds are missing.
    """
    text = read_text(path).dropped(options)
    joules, elapsed_s = _totals(text)
    if not joules or elapsed_s is None:
        lacks = "no joules" if not joules else "no seconds time elapsed"
        raise FramewattError(f"{path}: found {lacks}; allowed: what perf stat prints at its end, whole")
    channels = tuple(channel_of(domain, elapsed_s) for domain in joules)
    n = len(channels)
    time_ns = np.repeat(np.array([0, round(elapsed_s * 1e9)], np.int64), n)
    value = np.concatenate([np.zeros(n), np.array(list(joules.values()))])
    return Log(Trace(channels, time_ns, np.tile(np.arange(n, dtype=np.int32), 2), value), duration_s=elapsed_s)


def channel_of(domain: str, elapsed_s: float) -> Channel:
    """Return the channel of a domain, which DOMAIN matches.

    Args:
        domain: what was counted.
        elapsed_s: seconds that the run took.
    """
    return Channel(
        "perf",
        domain,
        "energy_j",
        COUNTER,
        _UPDATE_PERIOD_S,
        resolution=_RESOLUTION_J,
        # One reading at either end is complete, so the period is the whole run.
        period_s=elapsed_s,
    )


def _totals(text: Text) -> tuple[dict[str, float], float | None]:
    """Return the joules by domain, NaN where perf did not count, and the seconds of the run."""
    joules: dict[str, float] = {}
    elapsed_s = None
    for number, line in text.lines():
        if energy := _NOT_COUNTED.match(line) or _JOULES.match(line):
            domain = domain_of(energy[3])
            if domain is None:
                continue
            domain += f"-{energy[1]}" if energy[1] else ""
            if domain in joules:
                raise text.wrong(number, f"{energy[3]} a second time", "each event once")
            joules[domain] = math.nan if is_failed_reading(energy[2]) else _number(text, number, energy[2])
        elif elapsed := _ELAPSED.match(line):
            elapsed_s = _number(text, number, elapsed[1])
            if not elapsed_s:
                raise text.wrong(number, "0 seconds", "a run that took time")
    return joules, elapsed_s


def _number(text: Text, line: int, number: str) -> float:
    if not _NUMBER.fullmatch(number):
        raise text.wrong(line, repr(number) + comma_hint(number), "a number with a point as decimal mark")
    return float(number.replace(",", ""))
