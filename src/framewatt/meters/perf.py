"""RAPL as `perf stat` reads it, the instrument of Georgiou et al. 2022, in machine-readable form.

They ran `perf stat -a -e power/energy-pkg/,power/energy-ram/` around a whole program. Here perf prints intervals (`-I`)
per socket (`--per-socket`), so that windows inside the program have their energy too. perf handles the counters' wraps.
Source: perf-stat(1), "CSV format" and "JSON format".

In CSV each line's joules are rounded to two decimals: DRAM that draws 0.04 W reads 0 in lines of 0.1 s. In JSON (perf
6.0 and newer) they have six.
"""

import json
import math
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import COUNTER, Channel, Reading, require
from framewatt.meters.rapl import MOST_W
from framewatt.meters.subprocess_lines import Lines

EVENTS = Path("/sys/bus/event_source/devices/power/events")
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")

_DOMAINS = {"energy-pkg": "cpu:package", "energy-ram": "cpu:dram"}
_UPDATE_PERIOD_S = 0.001
_FASTEST_S = 0.01
_FIRST_LINES_S = 5.0
_SET_BACK_J = -1e9
_DIGIT_J = {True: 1e-6, False: 0.01}
"""Resolution of a line in joules, in JSON and in CSV."""


class Perf:
    """The events energy-pkg and energy-ram of every socket.

    Args:
        period_s: seconds between two lines of perf, at least 0.01.
        events: folder in which the kernel lists the events.
        paranoid: the kernel's file with the level of what users may count.
    """

    name = "perf"

    def __init__(self, period_s: float = 0.1, events: Path = EVENTS, paranoid: Path = PARANOID) -> None:
        self.period_s = max(period_s, _FASTEST_S)
        self._events = events
        self._paranoid = paranoid
        self._lines: Lines | None = None
        self._parser = IntervalParser()
        self._waiting: list[str] = []

    def available(self) -> tuple[bool, str]:
        """Return whether perf is installed, the processor has the events, and this user may count them."""
        if shutil.which("perf") is None:
            return False, "the program perf is not installed (Debian: apt install linux-perf)"
        if not self._present():
            return False, f"{self._events} lists no energy-pkg (no such hardware, or a virtual machine that hides it)"
        if os.geteuid() != 0 and int(self._paranoid.read_text()) > 0:
            return False, "only root may count system-wide; grant it with: sudo sysctl kernel.perf_event_paranoid=0"
        return True, f"perf stat counts {', '.join(self._present())}"

    def open(self) -> list[Channel]:
        """Start perf and wait for its first interval, which shows the sockets."""
        require(self)
        names = ",".join(f"power/{event}/" for event in self._present())
        interval_ms = str(round(self.period_s * 1000))
        in_json = _can_print_json()
        form = ["-j"] if in_json else ["-x", ","]
        self._lines = Lines(
            ["perf", "stat", "--all-cpus", "--per-socket", *form, "-I", interval_ms, "-e", names], signal.SIGINT
        )
        self._waiting = self._first_interval()
        return [
            Channel(
                instrument=self.name,
                domain=domain,
                quantity="energy_j",
                kind=COUNTER,
                update_period_s=_UPDATE_PERIOD_S,
                resolution=_DIGIT_J[in_json],
                rounds_each=True,
                max_power_w=MOST_W,
            )
            for domain in self._parser.domains
        ]

    def stream(self) -> int | None:
        """Return the descriptor of the output of perf."""
        assert self._lines is not None
        return self._lines.stream

    def read(self) -> Sequence[Reading]:
        """Return the joules since the start of perf, at the end of each interval that it has printed."""
        assert self._lines is not None
        lines, self._waiting = self._waiting + self._lines.take(), []
        return self._parser.readings(lines, time.monotonic_ns())

    def end(self) -> Sequence[Reading]:
        """End perf, and return its last, shorter interval."""
        assert self._lines is not None
        return self._parser.readings(self._waiting + self._lines.stop(), time.monotonic_ns())

    def _present(self) -> list[str]:
        return [event for event in _DOMAINS if (self._events / event).exists()]

    def _first_interval(self) -> list[str]:
        """Return the lines of the first interval, from which the parser learns which sockets there are."""
        assert self._lines is not None
        lines: list[str] = []
        deadline = time.monotonic() + _FIRST_LINES_S + self.period_s
        while time.monotonic() < deadline and not self._lines.ended:
            time.sleep(0.01)
            taken = self._lines.take()
            self._parser.align(taken, time.monotonic_ns())
            lines += taken
            if self._parser.learn(lines):
                return lines
        output = " ".join([*lines, *self._lines.stop()]).strip() or "nothing"
        raise FramewattError(
            f"meter perf: perf stat printed {output[:300]!r} instead of an interval with energies. Try it by "
            "hand, or use the meter rapl."
        )


class IntervalParser:
    """Turns lines of `perf stat -I --per-socket`, in JSON or CSV, into readings of cumulative counters."""

    def __init__(self) -> None:
        self.domains: list[str] = []
        self._joules: list[float] = []
        self._start_ns: int | None = None
        self._last_ns = 0

    def learn(self, lines: Sequence[str]) -> bool:
        """Take the domains from the first interval if it is complete; return whether it is."""
        rows = [row for line in lines if (row := _parse(line))]
        if not rows or rows[-1][0] == rows[0][0]:
            return False
        self.domains = [domain for second, domain, _ in rows if second == rows[0][0]]
        self._joules = [0.0] * len(self.domains)
        return True

    def align(self, lines: Sequence[str], now_ns: int) -> None:
        """Estimate perf's start time from lines that have just arrived.

        perf counts seconds from its own start on CLOCK_MONOTONIC. A line arrives some time after the instant that it
        reports, so the earliest start that any line implies is the best estimate.
        """
        starts_ns = [now_ns - round(row[0] * 1e9) for line in lines if (row := _parse(line))]
        if self._start_ns is not None:
            starts_ns.append(self._start_ns)
        self._start_ns = min(starts_ns, default=None)

    def readings(self, lines: Sequence[str], now_ns: int) -> list[Reading]:
        """Return the readings of the lines, in order.

        An interval that perf could not count sets the counter back. A window across it then shows a reset and is
        invalid; windows before and after it stay valid.

        Args:
            lines: what perf printed since the last call.
            now_ns: CLOCK_MONOTONIC of now.
        """
        self.align(lines, now_ns)
        readings = []
        for line in lines:
            row = _parse(line)
            if row is None or row[1] not in self.domains:
                continue
            second, domain, joules = row
            assert self._start_ns is not None
            # A better estimate of the start must not make timestamps go back.
            self._last_ns = max(self._start_ns + round(second * 1e9), self._last_ns)
            index = self.domains.index(domain)
            self._joules[index] += _SET_BACK_J if math.isnan(joules) else joules
            readings.append((self._last_ns, index, self._joules[index]))
        return readings


def _can_print_json() -> bool:
    """Return whether the installed perf can print JSON."""
    done = subprocess.run(
        ["perf", "stat", "-j", "--", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=10
    )
    return done.returncode == 0


def _parse(line: str) -> tuple[float, str, float] | None:
    """Return the second, domain and joules of a line; None for any other line, NaN joules where perf did not count.

    Fields of CSV: time, socket (`S0`), processors in it, value, unit, event, …
    """
    fields = line.strip().split(",")
    if line.lstrip().startswith("{"):
        try:
            values = json.loads(line)
        except ValueError:
            return None
        names = ("interval", "socket", "aggregate-number", "counter-value", "unit", "event")
        fields = [str(values.get(name, "")) for name in names]
    if len(fields) < 6 or not fields[1].strip().startswith("S"):
        return None
    domain = domain_of(fields[5])
    if domain is None:
        return None
    try:
        second = float(fields[0])
    except ValueError:
        return None
    try:
        joules = float(fields[3]) if fields[4].strip() == "Joules" else math.nan
    except ValueError:
        joules = math.nan
    return second, f"{domain}-{fields[1].strip()[1:]}", joules if joules >= 0 else math.nan


def domain_of(event: str) -> str | None:
    """Return the domain that an event counts, over all sockets; None where it is not a known energy counter.

    Args:
        event: `power/energy-pkg/`, as perf writes it.
    """
    return _DOMAINS.get(event.strip().removeprefix("power/").removesuffix("/"))
