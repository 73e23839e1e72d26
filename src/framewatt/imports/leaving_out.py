"""Runs that a study of files leaves out by a stated rule (`files.leave_out`), each with the reason."""

from collections.abc import Mapping, Sequence
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.study.study import FileRun, LeftOut


def leave_out(
    runs: Sequence[FileRun], rules: Sequence[Mapping[str, Any]], where: str
) -> tuple[list[FileRun], list[LeftOut]]:
    """Split runs into those that are read and those that the rules leave out, both in order.

    Args:
        runs: all runs that were found.
        rules: the study's `files.leave_out`, with defaults filled in.
        where: the study file, for errors.

    Raises:
        FramewattError: a rule, or a level or repetition in it, matches no run; or no run is left.
    """
    reasons: dict[int, list[str]] = {}
    for number, rule in enumerate(rules):
        for place in _left_out_by(rule, runs, f"{where}: files.leave_out.{number}"):
            reasons.setdefault(place, []).append(rule["reason"])
    kept = [run for place, run in enumerate(runs) if place not in reasons]
    if runs and not kept:
        raise FramewattError(
            f"{where}: files.leave_out: leaves none of {len(runs)} runs; allowed: at least one is read"
        )
    return kept, [LeftOut(runs[place], "; ".join(dict.fromkeys(said))) for place, said in sorted(reasons.items())]


def _left_out_by(rule: Mapping[str, Any], runs: Sequence[FileRun], key: str) -> list[int]:
    """Indices of the runs that a rule leaves out."""
    wanted = {factor: _texts(levels) for factor, levels in rule["where"].items()}
    factors = list(runs[0].cell.to_dict()) if runs else []
    for factor, levels in wanted.items():
        if factor not in factors:
            raise FramewattError(f"{key}.where: found a factor {factor!r}; allowed: {', '.join(factors)}")
        known = list(dict.fromkeys(str(run.cell.to_dict()[factor]) for run in runs))
        for level in levels:
            if level not in known:
                raise FramewattError(f"{key}.where.{factor}: found {level!r}; allowed: {', '.join(known)}")
    of_cells = [place for place, run in enumerate(runs) if _fits(run.cell.to_dict(), wanted)]
    if not of_cells:
        together = ", ".join(f"{factor} {' or '.join(texts)}" for factor, texts in wanted.items())
        raise FramewattError(f"{key}.where: found no run of {together}; allowed: levels that some run has together")
    if rule["repetitions"] is None:
        return of_cells
    known_repetitions = sorted({runs[place].repetition for place in of_cells})
    for repetition in rule["repetitions"]:
        if repetition not in known_repetitions:
            allowed = ", ".join(map(str, known_repetitions))
            raise FramewattError(f"{key}.repetitions: found {repetition}, which no such run has; allowed: {allowed}")
    return [place for place in of_cells if runs[place].repetition in rule["repetitions"]]


def _texts(levels: Any) -> list[str]:
    return [str(level) for level in (levels if isinstance(levels, list) else [levels])]


def _fits(levels: Mapping[str, Any], wanted: Mapping[str, Sequence[str]]) -> bool:
    return all(str(levels[factor]) in texts for factor, texts in wanted.items())
