"""A package of a comparison: its runs, and the facts by which it may differ from the other package."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.host.machine import facts_of, machine_of
from framewatt.package.verification.opened import open_package
from framewatt.planning.planned import records_of
from framewatt.runs.aside import set_aside
from framewatt.statistics.selection import totals
from framewatt.study.records import Plan, RunRecord
from framewatt.study.study import PACKAGES, MergedStudy

_MANY = "measured on several machines"


@dataclass(frozen=True)
class Side:
    """A verified package.

    Attributes:
        path: the zip file.
        plan: of its study.
        rows: totals of its runs, see selection.totals.
        records: its run records.
        packages: by environment and package, the version.
    """

    path: Path
    plan: Plan
    rows: pd.DataFrame
    records: Collection[RunRecord]
    packages: Mapping[str, str]

    @property
    def cells(self) -> dict[str, dict[str, Any]]:
        """The levels of every planned cell, by name."""
        return {cell["id"]: {key: cell[key] for key in cell if key != "id"} for cell in self.plan["cells"]}

    def rows_of(self, cell: str) -> pd.DataFrame:
        """Return the runs of a cell that count."""
        return self.rows[(self.rows["cell"] == cell) & self.rows["counts"]]

    def facts(self) -> dict[str, str]:
        """Return what may differ between packages, in words, by name: machine, versions, locks, meters, settings."""
        values: dict[str, list[Any]] = {}
        for record in self.records:
            machine = record["machine"] or {}
            facts = {"machine": machine_of(machine), **facts_of(machine)}
            libraries = (record["workload"] or {}).get("libraries") or {}
            facts |= {f"library {name}": version for name, version in libraries.items()}
            facts["framewatt"] = record["framewatt_version"]
            facts["code"] = (record["identity"].get("code") or {}).get("sha256", "")[:12]
            facts |= {name: record[name] for name in ("threads", "device")}
            for name, value in facts.items():
                values.setdefault(name, []).append(value)
            values["blocks"] = [record["repetition"]]
            values.setdefault("meters", []).extend(record["meters"])
        values |= {f"package {name}": [version] for name, version in self.packages.items()}
        values |= {f"setting {name}": [value] for name, value in _flat(self.plan["settings"]).items()}
        return {name: _listed(of_name) for name, of_name in values.items()}


def side_of(archive: Path, folder: Path) -> Side:
    """Return a verified package as a side of a comparison.

    Args:
        archive: the zip file.
        folder: where it is unpacked.
    """
    package = open_package(folder)
    plan = cast("Plan", package.stored_plan)
    paths = [str(run.path / "run.json") for run in package.runs]
    records = set_aside(records_of(plan, paths), plan["settings"]).values()
    runs = pd.read_parquet(package.results / "aggregate" / "runs.parquet")
    if runs.empty:
        raise FramewattError(f"{archive} has no run. Use the package of a study with runs.")
    data = (
        [source.folder / "data" for source in package.study.sources] if isinstance(package.study, MergedStudy) else []
    )
    return Side(archive, plan, totals(runs), records, _versions([package.data, *data]))


def _versions(places: Iterable[Path]) -> dict[str, str]:
    """Return the versions of packages in the environments of a package."""
    versions: dict[str, str] = {}
    for data in places:
        for path in sorted(data.glob("resources/environments/*/**/environment.json")):
            about = read_json(path)
            name = str(about["name"])
            known = {f"{name}/{package}": str(version) for package, version in (about.get("packages") or {}).items()}
            known[f"{name}/python"] = str(about.get("python_version"))
            for key, version in known.items():
                versions[key] = version if versions.get(key, version) == version else _MANY
    return versions


def _flat(settings: Mapping[str, Any], at: str = "") -> dict[str, Any]:
    """Return settings by their path; a list is one value."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        name = f"{at}.{key}" if at else str(key)
        if name == PACKAGES:
            continue
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, name)
        else:
            flat[name] = value
    return flat


def _listed(values: Iterable[Any]) -> str:
    texts = {value if isinstance(value, str) else json.dumps(value, sort_keys=True) for value in values}
    return ", ".join(sorted(texts)) or "none"
