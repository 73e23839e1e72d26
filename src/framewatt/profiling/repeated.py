"""Compare operators that were repeated alone with their joules in the program: two measurements that should agree.

A repeated call is a call as the program makes it, with all that the operator calls and launches. So the other side,
from the timeline, is not a row of innermost operators. It is the part of all innermost operators in such calls: of the
joules of each kind, the share of its seconds in these calls. Both sides include the machine's floor for as long as a
call lasts.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.spreadsheet import read_csv
from framewatt.energy.accounts import energies_of
from framewatt.meters.trace_file import open_trace
from framewatt.profiling.alone import BothWays, called_in, whole
from framewatt.profiling.operators import OPERATOR, CellJoules, opened, resolved
from framewatt.runs.repeated import POWER, RECORD, read_repeated

COLUMNS = (
    *("cell", "engine", "phase", "domain", "estimated", "by", "operator", "shapes"),
    *("calls", "covered_percent", "covered_s_percent"),
    *("joined_s", "repeated_s", "joined_j", "joined_uncertainty_j", "repeated_j", "repeated_uncertainty_j"),
    *("ratio", "ratio_low", "ratio_high", "agree", "reason", "flags"),
)
"""A row for each operator of a cell, and a row for each kind of its calls.

Seconds and joules are of a call, uncertainties standard ones; `ratio` is joined over repeated, with an interval of
95 %, `agree` whether it holds 1.
"""

KEYS = ("cell", "domain", "by", "operator", "shapes")
"""Columns that identify a row."""

_ALL = {"by": OPERATOR, "operator": "all operators", **whole(0.0)}
"""Columns of the row of a cell that has no operator to name."""

_NONE_RESOLVED = "cannot be repeated: the timeline tells no operator apart that the program calls"

_ALIKE = 1e-4
"""Largest relative difference of a loop's joules in the trace and in the record."""


def frame_of(timelines: Sequence[Path], repeated: Sequence[Path]) -> pd.DataFrame:
    """Return both measurements side by side (COLUMNS), of all cells of a study.

    Args:
        timelines: folders, named by their cells.
        repeated: folders, in the same order.
    """
    rows = [row for pair in zip(timelines, repeated, strict=True) for row in _rows_of_cell(*pair)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows_of_cell(timeline: Path, folder: Path) -> list[dict[str, Any]]:
    try:
        record = read_repeated(folder / RECORD)
    except FramewattError as error:
        return [{"cell": folder.name, "by": OPERATOR, "reason": f"{error}"}]
    if record["status"] != "ok":
        return [{"cell": folder.name, "by": OPERATOR, "reason": record["reason"]}]
    about = {"cell": folder.name, **{name: record[name] for name in ("engine", "phase")}}
    try:
        recorded, domains = opened(timeline)
        if record["cannot"]:
            return [row for cell_joules in domains for row in _not_repeated(about, record, cell_joules)]
        if not record["cases"]:
            return [
                {**about, **_ALL, "domain": cell_joules.domain, "reason": _NONE_RESOLVED} for cell_joules in domains
            ]
        check_trace(record, folder / POWER)
        both = [(called_in(recorded, record["called"], cell_joules.domain), cell_joules) for cell_joules in domains]
        return [row for called, cell_joules in both for row in BothWays(record, called, cell_joules).rows(about)]
    except (FramewattError, ValueError) as error:
        return [{**about, "by": OPERATOR, "reason": f"{error}"}]


def failed_repetitions(paths: Iterable[str | Path], accepted: Container[str]) -> list[str]:
    """Return a line for each cell without a compared operator, since all failed: the cell and the reason.

    Args:
        paths: the file of both ways (COLUMNS); none where a study repeats nothing.
        accepted: names of cells that the study may end without.
    """
    rows = [row for path in paths for row in read_csv(path).to_dict("records")]
    failed = [row for row in rows if pd.isna(row["operator"]) and row["cell"] not in accepted]
    return [f"operators of {row['cell']} alone: {row['reason']}" for row in failed]


def _not_repeated(about: Mapping[str, Any], record: Mapping[str, Any], cell_joules: CellJoules) -> list[dict[str, Any]]:
    """Return the cell's largest rows, with the reason why no operator was repeated."""
    joules, members = resolved(cell_joules, lambda kind: kind[0])
    common = {
        **about,
        "domain": cell_joules.domain,
        "estimated": cell_joules.estimated,
        "by": OPERATOR,
        "reason": record["cannot"],
    }
    operators = {kind[0] for kind in cell_joules.kinds}
    rows: list[dict[str, Any]] = []
    columns = (joules.names, members, joules.seconds, joules.energy_j, joules.uncertainty_j)
    for name, places, seconds, energy_j, unsure_j in zip(*columns, strict=True):
        calls = sum(int(cell_joules.calls[place]) for place in places if place < len(cell_joules.kinds))
        if name in operators and calls and len(rows) < record["operators"]:
            each = {"joined_s": seconds, "joined_j": energy_j, "joined_uncertainty_j": unsure_j}
            per_call = {key: value / calls for key, value in each.items()}
            rows.append({**common, "operator": name, "calls": calls, **whole(0.0), **per_call})
    return rows or [{**common, **_ALL}]


def check_trace(record: Mapping[str, Any], path: Path) -> None:
    """Check that the trace gives the joules of every loop.

    Args:
        record: of repeated operators.
        path: of their trace.

    Raises:
        FramewattError: it does not.
    """
    loops = [loop for case in record["cases"] for loop in case["loops"]]
    if not loops:
        return
    trace = open_trace(path)
    spans = [(loop["start_monotonic_ns"], loop["end_monotonic_ns"]) for loop in loops]
    for index, channel in enumerate(trace.channels):
        name = (channel.domain, channel.instrument, channel.quantity)
        stated = [
            loop["domains"][channel.domain]
            if (one := loop["domains"].get(channel.domain))
            and (channel.domain, one["instrument"], one["source"]) == name
            else None
            for loop in loops
        ]
        if not any(stated):
            continue
        for recorded, computed in zip(stated, energies_of(channel, *trace.read_channel(index), spans), strict=True):
            if recorded and recorded["valid"] and not _near(recorded["energy_gross_j"], computed.energy_j):
                raise FramewattError(
                    f"operators: the record of a loop has {recorded['energy_gross_j']} J of {channel.domain}, "
                    f"its trace gives {computed.energy_j} J. Repeat the operators again."
                )


def _near(stated: float, computed: float | None) -> bool:
    return computed is not None and abs(stated - computed) <= _ALIKE * max(abs(stated), abs(computed))
