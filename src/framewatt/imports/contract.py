"""Interface of log readers: another tool's file becomes readings, a duration, and epochs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace

NO_READINGS = Trace((), np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))
"""The trace of a file without power readings, such as one of epochs."""


@dataclass(frozen=True)
class Epoch:
    """The end of an epoch, with the model's metrics at that time.

    Attributes:
        end_ns: nanoseconds, on the clock of the file.
        metrics: by name, None where the file has no value.
    """

    end_ns: int
    metrics: Mapping[str, float | None]


@dataclass(frozen=True)
class Log:
    """The content of a log file.

    Attributes:
        trace: its readings; times are nanoseconds since 1970 where `dated`, else since the start of the run.
        dated: whether the file has a clock. A clock without a zone is taken as UTC.
        duration_s: duration of the run in seconds, where the file states it.
        paced: whether times are only computed: the study's interval times the number of the reading.
        epochs: in order.
        flags: warnings about the file. Its numbers are valid in spite of them.
    """

    trace: Trace
    dated: bool = False
    duration_s: float | None = None
    paced: bool = False
    epochs: tuple[Epoch, ...] = ()
    flags: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Options:
    """How a file is to be read, see `files.logs` in the study's schema.

    Attributes:
        columns: name of what is read -> its column in the file, by name, or by number (from 1) where it has no header.
        interval_s: seconds between two readings, required for a file without a clock; None where unknown.
        domain: the metered domain, where the file does not name it.
        measured: domains that the tool measured rather than estimated, where the file does not state it.
        drop_head: lines to leave out at the beginning, after the header.
        drop_tail: lines to leave out at the end.
    """

    columns: Mapping[str, str | int] = field(default_factory=dict)
    interval_s: float | None = None
    domain: str = "gpu:0"
    measured: tuple[str, ...] = ("gpu",)
    drop_head: int = 0
    drop_tail: int = 0


Reader = Callable[[Path, Options], Log]
"""Reads a file.

Raises:
    FramewattError: one line of text. It names the file, the line in it, the value there and what is allowed.
"""


def single_channel(channel: Channel, time_ns: Any, value: Any) -> Trace:
    """Return a trace of one channel.

    Args:
        channel: what was metered.
        time_ns: shape (n,).
        value: shape (n,), NaN where a read failed.
    """
    return Trace((channel,), np.asarray(time_ns, np.int64), np.zeros(len(value), np.int32), np.asarray(value, float))
