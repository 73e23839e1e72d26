"""Joules by operator and by API as rows: of every cell that has a timeline, and how well each is resolved."""

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.base.spreadsheet import read_csv
from framewatt.profiling.api_names import family_of
from framewatt.profiling.cell_joules import CellJoules, joules_of, resolved
from framewatt.runs.profiling import PLAIN, PROFILED
from framewatt.runs.timelines import RECORD
from framewatt.witness.judgement import disturbance_flags

OPERATOR, API = "operator", "api"
"""What a row is of."""

COLUMNS = (
    *("cell", "engine", "phase", "domain", "estimated", "units", "by", "name", "family", "of", "calls", "seconds"),
    *("energy_j", "uncertainty_j", "share_percent"),
)
"""A row an operator or API of a cell; `of` is how many operators it is, `units` what was done in the window."""

KEYS = ("cell", "domain", "by", "name")
"""Columns that tell rows apart."""

ABOUT = (
    *("cell", "status", "reason", "domain", "estimated", "operators", "resolved", "between_percent", "intervals"),
    *("shortest_s", "clock_uncertainty_s", "clock_drift", "flags"),
    "host_reads_per_step",
    *(f"{what}_per_unit_{which}" for what in ("seconds", "joules") for which in (PLAIN, PROFILED)),
)
"""A row a timeline and domain."""


def rows_of(record: Mapping[str, Any], cell: str, found: CellJoules) -> list[dict[str, Any]]:
    """Rows of a cell by operator, and once more by API: those that are resolved, the rest together, and BETWEEN.

    Args:
        record: of the timeline.
        cell: its name.
        found: its joules in a domain.
    """
    told = {
        "cell": cell,
        **{name: record[name] for name in ("engine", "phase")},
        **{"domain": found.domain, "estimated": found.estimated},
        "units": record["passes"][PROFILED]["units"]["count"],
    }
    rows = []
    for by, name_of in ((OPERATOR, lambda kind: kind[0]), (API, lambda kind: kind[1])):
        joules, members = resolved(found, name_of)
        columns = (joules.names, members, joules.seconds, joules.energy_j, joules.uncertainty_j)
        for name, places, seconds, energy_j, uncertainty_j in zip(*columns, strict=True):
            rows.append(
                {
                    **told,
                    **{"by": by, "name": name, "family": family_of(name) if by == OPERATOR else None},
                    "of": len({name_of(found.kinds[place]) for place in places if place < len(found.kinds)}),
                    "calls": int(sum(found.calls[place] for place in places if place < len(found.kinds))),
                    **{"seconds": seconds, "energy_j": energy_j, "uncertainty_j": uncertainty_j},
                    "share_percent": 100 * energy_j / joules.total_j,
                }
            )
    return rows


def frame_of(folders: Sequence[Path]) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Joules of all timelines of a study, and what is to be known of each.

    Args:
        folders: of timelines, named by their cells.

    Returns:
        the frame (COLUMNS), and a row a timeline and domain: status and reason, clock, intervals, and what the profiler
        cost.
    """
    rows: list[dict[str, Any]] = []
    told: list[dict[str, Any]] = []
    for folder in folders:
        record = read_json(folder / RECORD)
        status = {"cell": folder.name, "status": record["status"], "reason": record["reason"]}
        found: list[CellJoules] = []
        if record["status"] == "ok":
            try:
                found = joules_of(folder)
            except (FramewattError, ValueError) as error:
                status |= {"status": "failed", "reason": str(error)}
        for one in found:
            rows += rows_of(record, folder.name, one)
            told.append(status | about(record, one))
        if not found:
            told.append(status)
    return pd.DataFrame(rows, columns=list(COLUMNS)), told


def _flags(passes: Mapping[str, Any], domain: str) -> list[str]:
    """What a reader should know of a timeline's two passes, each thing once."""
    found: dict[str, None] = {}
    for which, one in passes.items():
        window = one["window"]
        told = [*window["domains"].get(domain, {}).get("flags", ()), *disturbance_flags(window["witness"])]
        found |= dict.fromkeys(f"{which}: {flag}" for flag in told)
    return list(found)


def _lost(steps: int) -> list[str]:
    return (
        [f"the profiler shows no operator in {steps} steps: it lost some, and their time is between operators"]
        if steps
        else []
    )


def failed_timelines(paths: Iterable[str | Path], accepted: Container[str]) -> list[str]:
    """Cells without joules by operator, each with its reason, in a line.

    Args:
        paths: the file of all timelines (ABOUT); none where a study has none.
        accepted: names of cells that the study may end without.
    """
    rows = [row for path in paths for row in read_csv(path).to_dict("records")]
    failed = [row for row in rows if row["status"] != "ok" and row["cell"] not in accepted]
    return [f"operators of {row['cell']}: {row['reason']}" for row in failed]


def about(record: Mapping[str, Any], found: CellJoules) -> dict[str, Any]:
    """What is to be known of a timeline in a domain: how well it is resolved, and what its profiler cost."""
    passes = record["passes"]
    per_unit = {
        which: one["window"]["domains"][found.domain]["energy_gross_j"] / one["units"]["count"]
        if one["window"]["domains"].get(found.domain, {}).get("valid")
        else None
        for which, one in passes.items()
    }
    seconds = {which: one["window"]["duration_s"] / one["units"]["count"] for which, one in passes.items()}
    rows, _ = resolved(found, lambda kind: kind[0])
    operators = {kind[0] for kind in found.kinds}
    return {
        "domain": found.domain,
        "estimated": found.estimated,
        "operators": len(operators),
        "resolved": len([name for name in rows.names if name in operators]),
        "between_percent": 100 * float(found.joules.seconds[-1] / found.joules.seconds.sum()),
        "intervals": found.intervals,
        "shortest_s": found.shortest_s,
        "clock_uncertainty_s": 1e-9 * found.clock.uncertainty_ns,
        "clock_drift": found.clock.drift,
        "host_reads_per_step": found.host_reads_per_step,
        "flags": "; ".join(
            [
                *_flags(passes, found.domain),
                *_lost(found.empty_steps),
                *(f"the profiler does not show what ran on {gpu}: no joules by operator" for gpu in found.unseen),
            ]
        ),
        **{f"seconds_per_unit_{which}": value for which, value in seconds.items()},
        **{f"joules_per_unit_{which}": value for which, value in per_unit.items()},
    }
