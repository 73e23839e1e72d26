"""Progress of a study, from the run records that exist."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from framewatt.base.files import read_json
from framewatt.study.stopping_rule import rule_of


def progress_line(plan: Mapping[str, Any], measured: Path, cell_id: str, repetition: int) -> str:
    """Run k of N in the planned order, the current run, and the time left as estimated from finished runs of its cells.

    Where later runs already have records (this run is repeated, or all runs are), only Snakemake knows which of them
    it will keep, so no time is given.

    Args:
        plan: the study's plan.
        measured: results/<study>/measure.
        cell_id: what runs now.
        repetition: which repetition of it.
    """
    durations: dict[str, list[float]] = {}
    left: list[str] = []
    now = next(e["position"] for e in plan["order"] if (e["cell"], e["repetition"]) == (cell_id, repetition))
    later_kept = False
    for entry in plan["order"]:
        record = measured / entry["cell"] / str(entry["repetition"]) / "run.json"
        seconds = _seconds(record)
        if seconds is None:
            left.append(entry["cell"])
        else:
            durations.setdefault(entry["cell"], []).append(seconds)
            later_kept |= entry["position"] > now
    known = [seconds for values in durations.values() for seconds in values]
    guess = "time left unknown"
    if known and not later_kept:
        mean = fmean(known)
        seconds_left = sum(fmean(durations[cell]) if cell in durations else mean for cell in left)
        if limit_min := _minutes_of(plan):
            seconds_left = min(seconds_left, max(60 * limit_min - sum(known), 0.0))
        guess = f"about {_words(seconds_left)} left"
    # With a stopping rule, the number of runs is only an upper bound.
    most = "at most " if "stopping" in plan else ""
    guess = guess.replace("about", f"{most}about")
    return f"run {now} of {most}{len(plan['order'])}: {cell_id}, repetition {repetition}; {guess}"


def rest_line(cool_down: Mapping[str, Any]) -> str:
    """How long the machine rests before the run, as the end of a sentence; empty where it does not.

    Args:
        cool_down: the study's: `rest_s`, `idle_band`, `timeout_s`.
    """
    rest_s = float(cool_down["rest_s"])
    rest = f"; rests {rest_s:g} s first" if rest_s else ""
    if cool_down["idle_band"] is None:
        return rest
    wait = f"up to {cool_down['timeout_s']:g} s until it draws as little as when idle"
    return f"{rest}, then {wait}" if rest else f"; first waits {wait}"


def _minutes_of(plan: Mapping[str, Any]) -> float | None:
    """The measuring time that the study allows; None where it has no limit."""
    rule = rule_of(plan.get("settings", {}))
    return rule.minutes if rule else None


def _seconds(record: Path) -> float | None:
    """How long a finished run took, its rest included; None where it is not finished."""
    try:
        content = read_json(record)
        return float(content["windows"]["process"]["duration_s"]) + float(content["cool_down_s"])
    except (OSError, ValueError, KeyError):
        return None


def _words(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
