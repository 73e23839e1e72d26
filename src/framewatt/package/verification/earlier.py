"""Packages of an earlier code: records from before schema 3, and studies from before there were answers.

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
"""The schema version of records whose windows are this code's, to the last digit."""

SINCE_PLACES = 4
"""The schema version of records whose frames name machine and session."""

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
    """A study file as it was read when its plan was made.

    Before there were answers, tests were those of ranks. Before a rule for the best said when it looks, it looked after
    every block.

    Args:
        content: what the study file sets.
        plan: the package's, of which `settings` are the study's with the defaults of then.
    """
    if is_merged_study(content):
        # Its settings are its packages'.
        return dict(content)
    content = with_planned_defaults(content, plan)
    statistics = (plan.get("settings") or {}).get("statistics")
    if not isinstance(statistics, Mapping) or "noise" in statistics:
        return dict(content)
    usual = RANK_SUM if is_file_study(content) else SIGNED_RANK
    return {**content, "statistics": {"test": usual, **(content.get("statistics") or {})}}


def significance_then(plan: Mapping[str, Any], cells: Iterable[AnyCell]) -> dict[str, Any]:
    """What a plan said that its runs can show, before a test took three runs.

    Args:
        plan: as it follows from the study file now.
        cells: those that are planned.
    """
    return asdict(planned_power(int(plan["repetitions"]), cells, plan["settings"]["statistics"], _FEWEST_THEN))


def header_of(path: Path) -> list[str]:
    """Names of the columns of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


def added_since(frame: str, columns: Collection[str]) -> list[str]:
    """Columns that a frame has now and had not when a package was made.

    Args:
        frame: its name.
        columns: what the package's has.
    """
    return [name for name in ADDED.get(frame, ()) if name not in columns]


def is_before_places(results: Path) -> bool:
    """Whether all records of a package are from before frames named machine and session."""
    records = list(results.glob("measure/*/*/run.json"))
    return bool(records) and all(read_json(path).get("schema_version", 1) < SINCE_PLACES for path in records)


def but_for_added(results: Path) -> str:
    """Which columns the frames of a package lack, which they have since, in words; empty where they lack none."""
    kept = [path for name in ADDED if (path := results / "aggregate" / f"{name}.csv").is_file()]
    added = dict.fromkeys(column for path in kept for column in added_since(path.stem, header_of(path)))
    return f", but for columns that frames have since ({', '.join(added)})" if added else ""


def same_but_for_added(kept: Path, again: Path) -> bool:
    """Whether a frame is that of an older package, once the columns are left out that frames had not then.

    Args:
        kept: the package's, as CSV or Parquet.
        again: what this code makes of the same records.
    """
    if kept.suffix == ".csv":
        added = added_since(kept.stem, header_of(kept))
        return bool(added) and kept.read_text(encoding="utf-8") == _csv_without(again, added)
    if kept.suffix != ".parquet":
        return False
    then, now = pq.read_table(kept), pq.read_table(again)
    added = added_since(kept.stem, then.column_names)
    # What pandas notes of its index and columns lies in the metadata; types and values are compared.
    return bool(added) and bool(then.equals(now.drop_columns([name for name in added if name in now.column_names])))


def _csv_without(path: Path, names: Collection[str]) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    kept = [place for place, name in enumerate(rows[0]) if name not in names]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([row[place] for place in kept] for row in rows)
    return text.getvalue()


def with_profiles_of_then(content: Mapping[str, Any], results: Path) -> dict[str, Any]:
    """A study file of files with its `files.profiles`, which only one study had, and no study file could name, before.

    Args:
        content: what the study file sets.
        results: of the package.
    """
    files = content.get("files")
    if not isinstance(files, Mapping) or "profiles" in files or not (results / RECORD).is_file():
        return dict(content)
    return {**content, "files": {**files, "profiles": _PROFILES_OF_THEN}}


def windows_as_then(told: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Windows as they are found now, with what an earlier code may tell otherwise as it told it.

    Energies are as told where they are no further from those found than two uncertainties; uncertainties, reasons and
    flags, whose rules have changed, always.

    Args:
        told: windows of a record.
        found: windows from its trace and events, by this code.
    """
    return {
        name: {**window, "domains": _domains((told.get(name) or {}).get("domains") or {}, window["domains"])}
        for name, window in found.items()
    }


def _domains(told: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {**domain, **_of_one(told.get(name), domain)} for name, domain in found.items()}


def _of_one(told: Any, found: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(told, Mapping):
        return {}
    kept = {key: told[key] for key in _NOT_RECOUNTED if key in told}
    then_j, now_j = told.get("energy_gross_j"), found["energy_gross_j"]
    unsure_j = max(told.get("energy_uncertainty_j") or 0.0, found["energy_uncertainty_j"] or 0.0)
    if then_j is None or now_j is None or abs(then_j - now_j) <= 2 * unsure_j:
        kept |= {key: told[key] for key in _RECOUNTED if key in told}
    return kept
