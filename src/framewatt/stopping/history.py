"""Whether a study's repetitions were changed once results of it had been written, by what lies there then.

Frames and statistics are written behind the last block. Where a study is planned anew beside them, with other
repetitions and with runs that it keeps, whoever changed them may have looked; the report says so from then on.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.files import read_json, write_json
from framewatt.study.cell import run_name
from framewatt.study.stopping_rule import rule_of

NAME = "repetitions.json"
"""Beside plan.json; only of studies whose repetitions were changed."""


def note_change(results: Path, plan: Mapping[str, Any]) -> None:
    """Note that the repetitions are others than those of the results that lie there, if they are.

    Where no run is kept, since something else changed too, nothing that was seen counts any more, and what was noted
    before goes.

    Args:
        results: results/<study>, as it was before the plan.
        plan: the new one.
    """
    path = results / "plan" / NAME
    kept = _kept(results, plan)
    seen = _blocks_seen(results)
    if not kept:
        path.unlink(missing_ok=True)
        return
    now = plan["settings"]["repetitions"]
    then = _repetitions_then(results, seen)
    if not seen or then == now:
        return
    noted = changes_of(results)
    change = {"from": then, "to": now, "seen_blocks": seen, "kept_runs": kept}
    write_json(path, [*noted, change])


def changes_of(results: Path) -> list[dict[str, Any]]:
    """The changes that were noted: from, to, the blocks of which there were results, the runs that were kept."""
    path = results / "plan" / NAME
    return list(read_json(path)) if path.is_file() else []


def sentences(changes: Iterable[Mapping[str, Any]]) -> list[str]:
    """What a reader has to know of each change."""
    return [_sentence(change) for change in changes]


def _sentence(change: Mapping[str, Any]) -> str:
    said = (
        f"Repetitions were changed from {_words(change['from'])} to {_words(change['to'])} when results of "
        f"{change['seen_blocks']} blocks had been written, and {change['kept_runs']} of their runs were kept. "
    )
    if rule_of({"repetitions": change["to"]}) and "best" in change["to"]["until"]:
        return said + "The e-values of the rule hold all the same; tests and intervals of a fixed number do not."
    return said + (
        "Tests and intervals of a number that is fixed ahead do not allow for that: whoever adds runs until something "
        "shows finds it too often."
    )


def _words(repetitions: Any) -> str:
    rule = rule_of({"repetitions": repetitions})
    return str(repetitions) if rule is None else f"{rule.at_least} to {rule.at_most} {rule.words}"


def _kept(results: Path, plan: Mapping[str, Any]) -> int:
    """Runs that are there and that the plan has."""
    kept = 0
    for entry in plan["order"]:
        path = results / "measure" / run_name(entry) / "run.json"
        try:
            kept += path.is_file() and read_json(path).get("job_sha256") == entry["job_sha256"]
        except (OSError, ValueError, AttributeError):
            continue  # what cannot be read is made again
    return kept


def _blocks_seen(results: Path) -> int:
    """Blocks of which there are statistics; 0 where there are none."""
    runs = results / "aggregate" / "runs.csv"
    if not runs.is_file() or not any((results / "statistics").glob("*.csv")):
        return 0
    return int(pd.read_csv(runs, usecols=["repetition"])["repetition"].max())


def _repetitions_then(results: Path, seen: int) -> Any:
    """The repetitions of a study of which so many blocks were seen: its rule where one stopped it there."""
    path = results / "stopping" / "stopping.json"
    if path.is_file():
        told = read_json(path)
        if told["blocks"] == seen:
            return told["repetitions"]
    return seen
