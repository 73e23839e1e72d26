"""How far a study has come, from the records of its runs. Each record is read once."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from framewatt.frames.totals import Scope, domains_of
from framewatt.report.numbers import NO_BREAK_SPACE, si
from framewatt.runs.verdict import FAILED, UNAVAILABLE, counts
from framewatt.study.cell import run_name
from framewatt.study.stopping_rule import rule_of

COUNTS, INVALID = "counts", "invalid"
"""Outcomes of a run, in addition to `failed` and `unavailable`."""


@dataclass(frozen=True)
class Ended:
    """A run that has a record.

    Attributes:
        outcome: COUNTS, FAILED, INVALID, UNAVAILABLE.
        reasons: why it does not count.
        seconds: how long it took, with its rest; None where that is unknown.
        joules: energy of its whole process; None where that is unknown.
        estimated: whether they are an estimate.
    """

    outcome: str
    reasons: str
    seconds: float | None
    joules: float | None
    estimated: bool


class Progress:
    """Runs that have ended and runs that are left.

    Args:
        plan: the study's.
        measured: results/<study>/measure.
        due: names of the runs that this call measures; with a stopping rule, the most.

    Attributes:
        ended: by `<cell>/<repetition>`.
        left: the due runs that this call has not measured yet, in their order.
    """

    def __init__(self, plan: Mapping[str, Any], measured: Path, due: Collection[str]) -> None:
        self._settings = plan.get("settings", {})
        self._measured = measured
        self._places = {run_name(entry): entry for entry in plan["order"]}
        self.at_most = "at most " if "stopping" in plan else ""
        self.left = [name for name in self._places if name in set(due)]
        complete = self._places.keys() - set(self.left)
        self.ended = {name: run for name in self._places if name in complete and (run := self._read(name))}

    @property
    def planned(self) -> int:
        """Number of planned runs; with a stopping rule, the most."""
        return len(self._places)

    def take(self, name: str) -> None:
        """Count a due run as ended; without a record it is still left."""
        if run := self._read(name):
            self.ended[name] = run
            self.left = [other for other in self.left if other != name]

    def stamp(self, name: str) -> int | None:
        """Return when the record of a run was written, in nanoseconds; None without a record."""
        try:
            return self._path(name).stat().st_mtime_ns
        except OSError:
            return None

    def runs_with(self, outcome: str) -> list[str]:
        """Return the names of the runs that ended with `outcome`, in plan order."""
        return [name for name in self._places if name in self.ended and self.ended[name].outcome == outcome]

    def line(self, name: str) -> str:
        """Return what is measured now, after how many other runs, and the time left; the start fits a terminal."""
        entry = self._places[name]
        return (
            f"run {entry['position']} of {self.at_most}{self.planned} ({self.done}; {self.time_left}; {self.energy}): "
            f"{entry['cell']}, repetition {entry['repetition']}"
        )

    @property
    def done(self) -> str:
        """Number of runs that have ended, and of those that do not count, in words."""
        words = {FAILED: "failed", INVALID: "invalid", UNAVAILABLE: "with nothing to run"}
        bad = [f"{len(names)} {word}" for outcome, word in words.items() if (names := self.runs_with(outcome))]
        return ", ".join([f"{len(self.ended)} done", *bad])

    @property
    def time_left(self) -> str:
        """Time left in words, estimated from the runs that have ended."""
        seconds = self.seconds_left
        return "time left unknown" if seconds is None else f"{self.at_most}about {_words(seconds)} left"

    @property
    def seconds_left(self) -> float | None:
        """Seconds of the runs that are left, estimated from those that have ended; None where none has."""
        by_cell: dict[str, list[float]] = {}
        for name, run in self.ended.items():
            if run.seconds is not None:
                by_cell.setdefault(self._places[name]["cell"], []).append(run.seconds)
        known = [seconds for values in by_cell.values() for seconds in values]
        if not known:
            return None
        mean = fmean(known)
        cells = [self._places[name]["cell"] for name in self.left]
        seconds_left = sum(fmean(by_cell[cell]) if cell in by_cell else mean for cell in cells)
        rule = rule_of(self._settings) if self.at_most else None
        if rule and rule.minutes is not None:
            return min(seconds_left, max(60 * rule.minutes - sum(known), 0.0))
        return seconds_left

    @property
    def longest_s(self) -> float | None:
        """Seconds of the longest run that has ended; None where none has."""
        return max((run.seconds for run in self.ended.values() if run.seconds is not None), default=None)

    @property
    def energy(self) -> str:
        """Joules of the runs that have ended, in words."""
        known = [run for run in self.ended.values() if run.joules is not None]
        if not known:
            return "energy unknown"
        least = "at least " if len(known) < len(self.ended) else ""
        estimated = ", estimated" if any(run.estimated for run in known) else ""
        joules = si(sum(run.joules or 0.0 for run in known), "J").replace(NO_BREAK_SPACE, " ")
        return f"{least}{joules} so far{estimated}"

    def whole_blocks(self) -> int:
        """Return the number of blocks, from the first on, in which every run has ended."""
        unfinished = [entry["repetition"] for name, entry in self._places.items() if name not in self.ended]
        return min(unfinished, default=max((e["repetition"] for e in self._places.values()), default=0) + 1) - 1

    def records_of(self, blocks: range) -> Sequence[Path]:
        """Return the paths of the records of some blocks."""
        return [self._path(name) for name, entry in self._places.items() if entry["repetition"] in blocks]

    def _path(self, name: str) -> Path:
        return self._measured / name / "run.json"

    def _read(self, name: str) -> Ended | None:
        """Return a run by its record, unchecked: frames check it later. None where no record can be read."""
        try:
            record = json.loads(self._path(name).read_text(encoding="utf-8"))
            outcome = record["status"] if record["status"] in (FAILED, UNAVAILABLE) else INVALID
            window = record["windows"].get("process") or {}
            total = domains_of(window["domains"], self._scope)[0] if window.get("domains") else {}
            known = total.get("valid") is True
            return Ended(
                COUNTS if counts(record) else outcome,
                "; ".join(record["reasons"]),
                float(window["duration_s"]) + float(record["cool_down_s"]) if window else None,
                total["energy_gross_j"] if known else None,
                bool(total.get("estimated")),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    @property
    def _scope(self) -> Scope:
        return Scope.from_settings(self._settings) if "statistics" in self._settings else Scope()


def rest_line(cool_down: Mapping[str, Any]) -> str:
    """Return how long the machine rests before a run, as the end of a sentence; empty where it does not rest.

    Args:
        cool_down: the study's setting: `rest_s`, `idle_band`, `timeout_s`.
    """
    rest_s = float(cool_down["rest_s"])
    rest = f"; rests {rest_s:g} s first" if rest_s else ""
    if cool_down["idle_band"] is None:
        return rest
    wait = f"up to {cool_down['timeout_s']:g} s until it draws as little as when idle"
    return f"{rest}, then {wait}" if rest else f"; first waits {wait}"


def _words(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
