"""A meter outside this machine, read from its log: a CSV file that grows while runs are measured.

The meter has its own clock. The study states by how many seconds it is behind this machine's clock. The two are aligned
once, when the meter opens, so that setting a wall clock during a run shifts no reading.
"""

import csv
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from framewatt.base.errors import FramewattError
from framewatt.base.instants import utc_ns
from framewatt.meters.contract import COUNTER, GAUGE, Channel, Reading, require

_DOMAIN = "external:wall"
_WAIT_STEP_S = 0.05


@dataclass(frozen=True)
class Log:
    """The log file and its format.

    Attributes:
        path: the CSV file, with a header line.
        time_column: column of the times: seconds since 1970 (UTC), or ISO 8601 (UTC where it names no zone).
        value_column: column of the values.
        quantity: `power_w` or `energy_j` (cumulative).
        offset_s: seconds to add to the meter's time to have this machine's.
        period_s: seconds between two lines.
        lag_s: seconds after which a line must be in the file.
        resolution: last digit of the values, in their unit: a meter that ticks once per watt-hour has 3600 (joules).
        max_power_w: watts that the metered power cannot exceed, or None where unknown.
    """

    path: Path
    time_column: str = "time"
    value_column: str = "power_w"
    quantity: str = "power_w"
    offset_s: float = 0.0
    period_s: float = 1.0
    lag_s: float = 2.0
    resolution: float = 0.0
    max_power_w: float | None = None


class External:
    """One channel, `external:wall`: everything that the machine draws."""

    name = "external"

    def __init__(self, log: Log) -> None:
        self.log = log
        self.period_s = log.period_s
        self._file: IO[str] | None = None
        self._header: list[str] = []
        self._rest = ""
        self._utc_less_monotonic_ns = 0
        self._last_ns = 0

    def available(self) -> tuple[bool, str]:
        """Return whether the file exists and has the columns."""
        if not self.log.path.is_file():
            return (
                False,
                f"instruments.external.path: {str(self.log.path)!r} does not exist. Name a CSV file.",
            )
        with self.log.path.open(newline="", encoding="utf-8") as file:
            header = next(csv.reader([file.readline()]), [])
        for key, column in (("time_column", self.log.time_column), ("value_column", self.log.value_column)):
            if column not in header:
                return False, (
                    f"instruments.external.{key}: {column!r} is not a column of {self.log.path}. Use one of: "
                    f"{', '.join(header) or 'none'}."
                )
        return True, f"reads {self.log.path}"

    def open(self) -> list[Channel]:
        """Align the clocks and go to the end of the file."""
        require(self)
        self._utc_less_monotonic_ns = time.time_ns() - time.monotonic_ns()
        self._file = self.log.path.open(newline="", encoding="utf-8")
        self._header = next(csv.reader([self._file.readline()]))
        return [
            Channel(
                instrument=self.name,
                domain=_DOMAIN,
                quantity=self.log.quantity,
                kind=COUNTER if self.log.quantity == "energy_j" else GAUGE,
                update_period_s=self.log.period_s,
                resolution=self.log.resolution,
                max_power_w=self.log.max_power_w,
            )
        ]

    def stream(self) -> int | None:
        """Return None: a file does not signal that it has grown."""
        return None

    def read(self) -> Sequence[Reading]:
        """Return the lines since the last call, also those with times before `open`, which are before every window.

        Raises:
            FramewattError: a line has no time.
        """
        assert self._file is not None
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        readings = []
        for row in csv.DictReader(lines, fieldnames=self._header):
            stamp_ns = self._monotonic_ns(row[self.log.time_column] or "")
            if stamp_ns < self._last_ns:
                raise FramewattError(
                    f"meter external: {self.log.path}: the time {row[self.log.time_column]} is after a later time. Use "
                    "a log with ascending times."
                )
            self._last_ns = stamp_ns
            readings.append((stamp_ns, 0, _value(row[self.log.value_column])))
        return readings

    def end(self) -> Sequence[Reading]:
        """Wait up to `lag_s` for the line that covers this moment, and return the last readings."""
        assert self._file is not None
        end_ns = time.monotonic_ns()
        deadline_ns = end_ns + round((self.log.lag_s + self.log.period_s) * 1e9)
        readings = list(self.read())
        while self._last_ns < end_ns and time.monotonic_ns() < deadline_ns:
            time.sleep(_WAIT_STEP_S)
            readings += self.read()
        self._file.close()
        return readings

    def _monotonic_ns(self, text: str) -> int:
        """Return a time of the meter's clock as CLOCK_MONOTONIC nanoseconds."""
        try:
            instant_ns = utc_ns(text)
        except ValueError as error:
            raise FramewattError(
                f"meter external: {self.log.path}: {text!r} is not a time. Use seconds since 1970, or ISO 8601."
            ) from error
        return instant_ns + round(self.log.offset_s * 1e9) - self._utc_less_monotonic_ns


def _value(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan
