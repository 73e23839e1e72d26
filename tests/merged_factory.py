"""Packages of package_factory's study from several machines: the same runs, on other hardware at other watts."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import package_factory
import played_runs

from framewatt.base.files import write_json
from framewatt.base.identity import code_identity
from framewatt.base.validation import load_yaml
from framewatt.host.machine import machine_of
from framewatt.imports.merged_study import load_merged_study
from framewatt.package.confined import Limits
from framewatt.package.merge import merge
from framewatt.package.write import project_files, study_files, write_package
from framewatt.planning.plan import plan_of
from framewatt.planning.planned import planned_runs, with_own_drift
from framewatt.privacy.secrets import Secrets

SCHEMA = package_factory.ROOT / "config/schemas/study.schema.yaml"


def machine(processors: int) -> dict[str, Any]:
    """A machine of so many processors, in a session of its own."""
    hardware = {**played_runs._HARDWARE, "processors": processors}
    return {**hardware, "id": machine_of(hardware), "session": f"{processors:016x}"}


@contextlib.contextmanager
def measured_on(processors: int, watts: float = 1.0) -> Iterator[None]:
    """Runs are played on a machine of so many processors, which draws so many times what the usual one does."""
    usual = played_runs._trace

    def trace(time_ns: Any, meters: list[str], power_w: float, seed: int) -> Any:
        return usual(time_ns, meters, watts * power_w, 100 * processors + seed)

    here = machine(processors)
    with (
        mock.patch.object(played_runs, "MACHINE", here),
        mock.patch.object(package_factory, "MACHINE", here),
        mock.patch.object(played_runs, "_trace", trace),
    ):
        yield


def package_of(root: Path, processors: int, watts: float = 1.0, **how: Any) -> Path:
    """A package that such a machine made; `how` is results_tree's."""
    with measured_on(processors, watts):
        return package_factory.make_package(root, **how)


def merged_package(root: Path, archives: list[Path]) -> Path:
    """The package of a merged study as `make merge` lays it out, with what a check recounts; in the current folder.

    Args:
        root: for the project and the package.
        archives: of one machine each.
    """
    path = merge(archives, "", root / "scratch", Limits())
    study = load_merged_study(path, load_yaml(path), load_yaml(SCHEMA), Path("results", path.stem))
    results = Path("results", study.name)
    write_json(results / "plan" / "plan.json", plan_of(study))
    records = planned_runs(results / "plan" / "plan.json", [str(run.path) for run in study.runs()])
    package_factory.aggregate(results, with_own_drift(records).values())
    project = package_factory.project_tree(root)
    files = project_files(project, path, study.name, []) | study_files(results)
    identity = {"code": code_identity(project), "config": {"study": study.name}, "machine": machine(4)}
    package = root / f"framewatt-{study.name}-0.1.0.zip"
    texts = {"identity.json": json.dumps(identity)}
    write_package(package, files, texts, records.values(), study.settings, Secrets({}))
    return package
