"""georgiou2022's Tables 5 to 8 compared with what its cProfile dumps give, number by number.

The tables' run time is a function's own time, and their cost is that time in the sum of all own times, which pstats
calls the total (docs/profiles.md shows it).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.papers.contract import Sources
from framewatt.papers.georgiou2022.claims import PROFILE_TABLES
from framewatt.profiling.collection import PROFILES_COLUMNS, REFUSED, Names, read_names
from framewatt.profiling.dump import FUNCTIONS_COLUMNS, cell_of, keyed, profiled_as, rows_of_run
from framewatt.tables.functions import SHOWN, THRESHOLD_PERCENT
from framewatt.tables.table import Table, text

COMPARISON_COLUMNS = ["entry", "table", "row", "column", "recomputed", "published", "unit", "note"]
"""Columns of the comparison: `recomputed` in full, `published` as printed, either missing where there is none.

`entry` is the number of the function: several of a profile may have one API name, and so one `row`.
"""

_NUMBERS = {
    "calls": ("ncalls", "calls", ""),
    "own time": ("run_time_s", "own_time_s", "s"),
    "share": ("cost_percent", "share_percent", "%"),
}
"""Column of the comparison: column of the published table, column of the functions frame, unit."""

NOT_OPENED = (
    "the dump of this run was given and not opened, since its checksum is not a known one (--config "
    "trust_profiles=True opens it)"
)
"""Why a number of a profile that may not be opened is missing: the same words for every such dump."""

_JUDGED = "judged by the authors from documentation and source code; a profile does not tell"


_SOURCES = ("recomputed", "published")
_COMPARED = {
    "calls": ("calls", "Calls"),
    "own time": ("own_time_s", "Own time (s)"),
    "share": ("share_percent", "Share (%)"),
}
"""Column of the comparison: column of this table's data, heading."""


@dataclass(frozen=True)
class PublishedFunction:
    """A function of the published tables.

    Attributes:
        api_name: as framewatt writes it.
        profiled_as: description in the profile, where the row's numbers belong to a function of another name.
        note: further remarks for readers.
    """

    api_name: str
    profiled_as: str
    note: str


def read_functions(path: Path) -> dict[str, PublishedFunction]:
    """The table of published function names (resources/published/georgiou2022_functions.csv)."""
    rows = _read(path).to_dict("records")
    return {row["published_name"]: PublishedFunction(row["api_name"], row["profiled_as"], row["note"]) for row in rows}


def compare(functions: pd.DataFrame, profiles: pd.DataFrame, resources: Path, names: Names) -> pd.DataFrame:
    """Every number of Tables 5 to 8, and every function above their threshold that they leave out.

    Args:
        functions: the functions frame.
        profiles: the record of the dumps, with the reasons why some are missing.
        resources: folder of the published tables.
        names: levels of the frame, and what the tables call them.

    Returns:
        COMPARISON_COLUMNS; functions that the tables leave out follow the other rows of the same model.
    """
    entries = _entries(functions, profiles, resources, names)
    rows = [{"entry": number, **row} for number, entry in enumerate(entries, 1) for row in entry]
    return pd.DataFrame(rows, columns=COMPARISON_COLUMNS)


def _entries(
    functions: pd.DataFrame, profiles: pd.DataFrame, resources: Path, names: Names
) -> Iterator[list[dict[str, Any]]]:
    """The rows of every function."""
    meanings = read_functions(resources / "georgiou2022_functions.csv")
    for table, file in PROFILE_TABLES.items():
        published = _read(resources / file)
        for model, part in published.groupby("model", sort=False):
            cell = cell_of(_levels(names, part.iloc[0]))
            profiled = rows_of_run(functions, cell)
            reason = _why_missing(profiles, cell) if profiled.empty else ""
            listed = []
            for _, printed in part.iterrows():
                match, note = _find(profiled, meanings[printed["function"]], reason)
                listed += [] if match is None else [match["rank"]]
                yield list(_rows(table, f"{model}, {printed['function']}", printed, match, note))
            yield from _left_out(table, str(model), profiled, listed)


def functions_published(comparison: pd.DataFrame) -> Table:
    """One row per function: calls, own time and share of the run, each next to the published number.

    Args:
        comparison: the frame of `compare`.
    """
    numbers = comparison[comparison["column"].isin(list(_COMPARED))]
    heads = numbers.drop_duplicates("entry").set_index("entry")[["table", "row", "note"]]
    wide = numbers.pivot(index="entry", columns="column", values=list(_SOURCES))
    columns = {
        f"{name}_{source}": wide[source, column] for column, (name, _) in _COMPARED.items() for source in _SOURCES
    }
    data = heads.assign(**columns).reset_index(drop=True)
    data["calls_recomputed"] = data["calls_recomputed"].astype("Int64")
    shown = pd.DataFrame({"Table": data["table"], "Model and function": data["row"]})
    numeric = []
    for name, heading in _COMPARED.values():
        shown[heading] = data[f"{name}_recomputed"].map(SHOWN[name])
        shown[f"{heading}, published"] = data[f"{name}_published"].map(text)
        numeric += [heading, f"{heading}, published"]
    shown["Note"] = data["note"]
    caption = "Tables 5 to 8 of georgiou2022 beside what its profiles give"
    return Table("functions_published", caption, data, shown, frozenset(numeric))


def compare_sources(sources: Sources) -> pd.DataFrame:
    """Return the comparison of Tables 5 to 8 with the imported profiles; without profiles it has no own numbers.

    Returns:
        COMPARISON_COLUMNS.
    """
    functions, profiles = without_profiles()
    if sources.functions and sources.profiles:
        functions, profiles = pd.read_parquet(sources.functions), keyed(pd.read_csv(sources.profiles))
    names = read_names(sources.resources / "georgiou2022_profile_names.csv")
    return compare(functions, profiles, sources.resources, names)


def without_profiles() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The functions frame and the record of the dumps where there are none."""
    return pd.DataFrame(columns=FUNCTIONS_COLUMNS), pd.DataFrame(columns=PROFILES_COLUMNS)


def _read(path: Path) -> pd.DataFrame:
    """A table with every cell as it is printed."""
    return pd.read_csv(path, dtype="str", keep_default_na=False)


def _levels(names: Names, printed: pd.Series) -> dict[str, str]:
    """The levels of the cell that a published row is about; the authors profiled one run of each."""
    columns = {"workload": "model", "framework": "framework", "phase": "phase"}
    levels = {field: {title: level for level, title in names.titles[field].items()} for field in columns}
    return {field: levels[field][printed[column]] for field, column in columns.items()}


def _why_missing(profiles: pd.DataFrame, cell: str) -> str:
    """Why a run has no profile, without the names of files, so that dumps with one fault have one reason."""
    dumps = rows_of_run(profiles, cell)
    if (dumps["status"] == REFUSED).any():
        return NOT_OPENED
    reasons = [
        str(reason).removeprefix(f"{file}: ")
        for file, reason in zip(dumps["file"], dumps["reason"], strict=True)
        if pd.notna(reason)
    ]
    return "; ".join(reasons) or "no profile of this run was given"


def _find(profiled: pd.DataFrame, wanted: PublishedFunction, reason: str) -> tuple[Mapping[Any, Any] | None, str]:
    """Return the profiled function that a published name means, and a note on it."""
    if wanted.profiled_as:
        matches, note = profiled[profiled["function"] == wanted.profiled_as], wanted.note
    else:
        matches, note = profiled[profiled["api_name"] == wanted.api_name], ""
    if matches.empty:
        return None, reason or f"no profiled function has the API name {wanted.api_name}"
    if (matches["share_percent"] > THRESHOLD_PERCENT).sum() > 1:
        note = "the one with the most own time of several functions with that API name"
    return matches.iloc[0].to_dict(), note


def _rows(
    table: str, row: str, printed: pd.Series, match: Mapping[Any, Any] | None, note: str
) -> Iterator[dict[str, Any]]:
    """One published row: one row per number, and its type."""
    head = {"table": table, "row": row}
    for column, (as_printed, computed, unit) in _NUMBERS.items():
        recomputed = None if match is None else float(match[computed])
        yield head | {
            "column": column,
            "recomputed": recomputed,
            "published": printed[as_printed],
            "unit": unit,
            "note": note,
        }
    yield head | {"column": "type", "recomputed": None, "published": printed["type"], "unit": "", "note": _JUDGED}


def _left_out(table: str, model: str, profiled: pd.DataFrame, listed: Sequence[int]) -> Iterator[list[dict[str, Any]]]:
    """Functions above the threshold that the table does not list."""
    above = profiled[profiled["share_percent"] > THRESHOLD_PERCENT]
    shared = set(above.loc[above["api_name"].duplicated(), "api_name"].dropna())
    others = above[~above["rank"].isin(listed)]
    in_table = set(profiled.loc[profiled["rank"].isin(listed), "api_name"].dropna())
    for function, described in zip(others.to_dict("records"), profiled_as(others), strict=True):
        api_name = function["api_name"] if pd.notna(function["api_name"]) else None
        # The profile's own names distinguish functions that share an API name.
        name = f"{api_name} ({described})" if api_name in shared else api_name or described
        note = _left_out_note(api_name, in_table)
        yield [
            {
                "table": table,
                "row": f"{model}, {name}",
                "column": column,
                "recomputed": float(function[computed]),
                "published": None,
                "unit": unit,
                "note": note,
            }
            for column, (_, computed, unit) in _NUMBERS.items()
        ]


def _left_out_note(api_name: str | None, in_table: Collection[str]) -> str:
    over = f"more than {THRESHOLD_PERCENT:g} % of the run"
    if api_name in in_table:
        return f"{over}; the table's row of that API name is another function"
    return f"{over}, and not in the table" + ("" if api_name else "; no API name known")
