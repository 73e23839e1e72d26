"""Whether a study's repetitions were changed after results had been written.

Frames and statistics are written after the last block. Where a study with results is planned again, with
other repetitions and the same runs, the results may have been known before the change; the report states this.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.files import read_json, write_json
from framewatt.study.cell import run_name
from framewatt.study.records import Plan
from framewatt.study.stopping_rule import rule_of

NAME = "repetitions.json"
"""Name of the file next to plan.json; only studies with changed repetitions have it."""


def note_change(results: Path, plan: Plan) -> None:
    """Record a change of the repetitions against the existing results, if there is one.

    Where no run is kept, since something else changed too, no result that was seen counts any more, and earlier notes
    are deleted.

    Args:
        results: results/<study>, as it was before the plan.
        plan: the new one.
    """
    path = results / "plan" / NAME
    reused = _reused_runs(results, plan)
    seen = _blocks_seen(results)
    if not reused:
        path.unlink(missing_ok=True)
        return
    now = plan["settings"]["repetitions"]
    then = _repetitions_then(results, seen)
    if not seen or then == now:
        return
    noted = changes_of(results)
    change = {"from": then, "to": now, "seen_blocks": seen, "kept_runs": reused}
    write_json(path, [*noted, change])


def changes_of(results: Path) -> list[dict[str, Any]]:
    """The recorded changes: from, to, number of blocks with results, number of runs kept."""
    path = results / "plan" / NAME
    return list(read_json(path)) if path.is_file() else []


def sentences(changes: Iterable[Mapping[str, Any]]) -> list[str]:
    """One sentence per change, for the report's reader."""
    return [_sentence(change) for change in changes]


def _sentence(change: Mapping[str, Any]) -> str:
    sentence = (
        f"Repetitions were changed from {_words(change['from'])} to {_words(change['to'])} when results of "
        f"{change['seen_blocks']} blocks had been written, and {change['kept_runs']} of their runs were kept. "
    )
    rule = rule_of({"repetitions": change["to"]})
    if rule and rule.at_every_block:
        return sentence + "The e-values of the rule hold all the same; tests and intervals of a fixed number do not."
    return sentence + (
        "Tests and intervals of a number that is fixed ahead do not allow for that: whoever adds runs until something "
        "shows finds it too often."
    )


def _words(repetitions: Any) -> str:
    rule = rule_of({"repetitions": repetitions})
    return str(repetitions) if rule is None else f"{rule.at_least} to {rule.at_most} {rule.words}"


def _reused_runs(results: Path, plan: Plan) -> int:
    """Number of existing runs that the plan still has."""
    reused = 0
    for entry in plan["order"]:
        path = results / "measure" / run_name(entry) / "run.json"
        try:
            reused += path.is_file() and read_json(path).get("job_sha256") == entry["job_sha256"]
        except (OSError, ValueError, AttributeError):
            continue  # an unreadable record is made again
    return reused


def _blocks_seen(results: Path) -> int:
    """Number of blocks in the existing statistics; 0 where there are none."""
    runs = results / "aggregate" / "runs.csv"
    if not runs.is_file() or not any((results / "statistics").glob("*.csv")):
        return 0
    return int(pd.read_csv(runs, usecols=["repetition"])["repetition"].max())


def _repetitions_then(results: Path, seen: int) -> Any:
    """The repetitions of a study before the change: its stopping rule where that stopped it after `seen` blocks."""
    path = results / "stopping" / "stopping.json"
    if path.is_file():
        record = read_json(path)
        if record["blocks"] == seen:
            return record["repetitions"]
    return seen
