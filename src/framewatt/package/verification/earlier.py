"""Compare packages of earlier code: records before schema 3, and studies before there were answers.

The energies of such records were interpolated between readings and not between a meter's updates.
"""

import csv
import io
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from framewatt.base.files import read_json
from framewatt.frames.frames import PLACES
from framewatt.imports.file_study import is_file_study
from framewatt.imports.merged_study import is_merged_study
from framewatt.profiling.collection import RECORD
from framewatt.statistics.power import planned_power
from framewatt.study.factors import AnyCell
from framewatt.study.statistical_tests import RANK_SUM, SIGNED_RANK
from framewatt.study.study_file import with_planned_defaults

_FEWEST_THEN = 2
"""Fewest runs for a test, before there were three."""

SINCE = 3
"""The first schema version with windows that this code computes in the same way, to the last digit."""

SINCE_PLACES = 4
"""The first schema version with frames that have columns for machine and session."""

ADDED: Mapping[str, tuple[str, ...]] = {
    "runs": PLACES,
    "epochs": PLACES,
    "functions": ("cell", *PLACES, "repetition"),
}
"""By frame, its columns since then."""

_PROFILES_OF_THEN = {
    "folder": "cProfile_results",
    "names": "resources/published/georgiou2022_profile_names.csv",
    "checksums": "resources/published/georgiou2022_profiles.csv",
}

_RECOUNTED = ("energy_gross_j", "energy_net_j", "mean_power_w")
_NOT_RECOUNTED = ("energy_uncertainty_j", "energy_net_uncertainty_j", "cross_checks", "valid", "reasons", "flags")


def as_read_then(content: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study file as it was read when its plan was made.

    Before there were answers, all tests were rank tests. Before a rule for the best had a setting for its looks, it
    looked after every block.

    Args:
        content: what the study file sets.
        plan: the package's. Its `settings` are the study's, with the defaults of that time.
    """
    if is_merged_study(content):
        # Its settings are its packages'.
        return dict(content)
    content = with_planned_defaults(content, plan)
    statistics = (plan.get("settings") or {}).get("statistics")
    if not isinstance(statistics, Mapping) or "noise" in statistics:
        return dict(content)
    default = RANK_SUM if is_file_study(content) else SIGNED_RANK
    return {**content, "statistics": {"test": default, **(content.get("statistics") or {})}}


def significance_then(plan: Mapping[str, Any], cells: Iterable[AnyCell]) -> dict[str, Any]:
    """Return what a plan stated about its runs' power, before a test took three runs.

    Args:
        plan: as it follows from the study file now.
        cells: those that are planned.
    """
    return asdict(planned_power(int(plan["repetitions"]), cells, plan["settings"]["statistics"], _FEWEST_THEN))


def header_of(path: Path) -> list[str]:
    """Return the names of the columns of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


def added_since(frame: str, columns: Collection[str]) -> list[str]:
    """Return the columns that were added to a frame after a package was written.

    Args:
        frame: its name.
        columns: what the package's has.
    """
    return [name for name in ADDED.get(frame, ()) if name not in columns]


def is_before_places(results: Path) -> bool:
    """Return whether all records of a package are older than the columns for machine and session."""
    records = list(results.glob("measure/*/*/run.json"))
    return bool(records) and all(read_json(path).get("schema_version", 1) < SINCE_PLACES for path in records)


def but_for_added(results: Path) -> str:
    """Return words on the columns that were added after a package was written; empty if it lacks none."""
    frames = [path for name in ADDED if (path := results / "aggregate" / f"{name}.csv").is_file()]
    added = dict.fromkeys(column for path in frames for column in added_since(path.stem, header_of(path)))
    return f", except columns that were added since ({', '.join(added)})" if added else ""


def same_but_for_added(packed: Path, again: Path) -> bool:
    """Return whether a frame equals that of an older package, without the columns that were added since.

    Args:
        packed: the package's, as CSV or Parquet.
        again: what this code makes of the same records.
    """
    if packed.suffix == ".csv":
        added = added_since(packed.stem, header_of(packed))
        return bool(added) and packed.read_text(encoding="utf-8") == _csv_without(again, added)
    if packed.suffix != ".parquet":
        return False
    then, now = pq.read_table(packed), pq.read_table(again)
    added = added_since(packed.stem, then.column_names)
    # The metadata has notes of pandas on index and columns; only types and values are compared.
    return bool(added) and bool(then.equals(now.drop_columns([name for name in added if name in now.column_names])))


def _csv_without(path: Path, names: Collection[str]) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    places = [place for place, name in enumerate(rows[0]) if name not in names]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([row[place] for place in places] for row in rows)
    return text.getvalue()


def with_profiles_of_then(content: Mapping[str, Any], results: Path) -> dict[str, Any]:
    """Return a study file of files with its `files.profiles`.

    Only one study had profiles when no study file could name them.

    Args:
        content: what the study file sets.
        results: of the package.
    """
    files = content.get("files")
    if not isinstance(files, Mapping) or "profiles" in files or not (results / RECORD).is_file():
        return dict(content)
    return {**content, "files": {**files, "profiles": _PROFILES_OF_THEN}}


def windows_as_then(stated: Mapping[str, Any], derived: Mapping[str, Any]) -> dict[str, Any]:
    """Return windows as this code computes them, with stated values where earlier code may differ.

    Energies are the stated ones if they are within two uncertainties of the derived ones. Uncertainties, reasons and
    flags are always the stated ones, since their rules have changed.

    Args:
        stated: windows of a record.
        derived: windows from its trace and events, by this code.
    """
    return {
        name: {**window, "domains": _domains((stated.get(name) or {}).get("domains") or {}, window["domains"])}
        for name, window in derived.items()
    }


def _domains(stated: Mapping[str, Any], derived: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {**domain, **_stated_values(stated.get(name), domain)} for name, domain in derived.items()}


def _stated_values(stated: Any, derived: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(stated, Mapping):
        return {}
    values = {key: stated[key] for key in _NOT_RECOUNTED if key in stated}
    then_j, now_j = stated.get("energy_gross_j"), derived["energy_gross_j"]
    unsure_j = max(stated.get("energy_uncertainty_j") or 0.0, derived["energy_uncertainty_j"] or 0.0)
    if then_j is None or now_j is None or abs(then_j - now_j) <= 2 * unsure_j:
        values |= {key: stated[key] for key in _RECOUNTED if key in stated}
    return values
