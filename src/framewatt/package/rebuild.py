"""Make frames, statistics, tables, figures and report again from a package's raw traces and records alone.

The package is data: the code that runs is this checkout's, in a fresh folder, with no framework and no measuring.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, sha256_of
from framewatt.base.identity import ROOT
from framewatt.base.validation import load_yaml
from framewatt.package.unpack import LARGEST_B, unpack
from framewatt.package.verification.earlier import (
    as_read_then,
    is_before_places,
    same_but_for_added,
    with_profiles_of_then,
)

DERIVED = ("stopping", "aggregate", "statistics", "tables", "replication", "figures", "report")
"""Folders of a results tree that are derived from the others."""

RULES = (
    *(*DERIVED[:-1], "write_report"),
    *("functions", "function_tables", "compare_profiles", "profiler_cost"),
    *("operator_tables", "repeated_table"),
)
"""The rules that make them."""

_CODE = (
    *("workflow", "rules", "scripts", "src", "docs/captions", "envs/orchestrator"),
    *("config/schemas", "config/config.yaml", "config/datasets.yaml", "config/api_names.csv", "resources/published"),
)
_SNAKEFILE = "workflow/rebuild.smk"
_DATASETS = "config/datasets.yaml"
_NOT_COMPARED = ("complete.txt", "callgraph*")
"""Patterns of file names. Call graphs are not compared since versions of Graphviz draw them differently."""


def rebuild(package: Path, target: Path, root: Path, largest_b: int = LARGEST_B) -> list[str]:
    """Rebuild a package and compare.

    Args:
        package: the zip file.
        target: an empty folder, for `package/` and `rebuilt/`.
        root: the checkout that rebuilds it with its code.
        largest_b: bytes that the package may unpack to.

    Returns:
        one line for each derived file that is not byte-identical to the package's; frames of records before schema 4
        may lack the columns that were added since.

    Raises:
        FramewattError: the package is refused, or cannot be rebuilt.
    """
    data = unpack(package, target / "package", largest_b) / "data"
    plans = sorted(data.glob("results/*/plan/plan.json"))
    if len(plans) != 1:
        raise FramewattError(f"{package} has {len(plans)} plans. Use a package of one study.")
    results = plans[0].parents[1]
    plan = read_json(plans[0])
    work = target / "rebuilt"
    _lay_out(root, data, results, work)
    _write_study(data, work, results.name, plan)
    wanted = compared_in(results)
    targets = [path.relative_to(data).as_posix() for path in wanted]
    _run(work, results.name, str(plan["device"]), plan.get("absent"), targets)
    older = is_before_places(results)
    differences = []
    for path, name in zip(wanted, targets, strict=True):
        again = work / name
        if not again.is_file():
            differences.append(f"{name}: not made again")
        elif sha256_of(again) != sha256_of(path) and not (older and same_but_for_added(path, again)):
            differences.append(f"{name}: differs")
    return differences


def compared_in(results: Path) -> list[Path]:
    """Return the derived files of a study's results that are rebuilt and compared."""
    return [path for path in _derived_in(results) if not _is_left_out(path)]


def not_compared_in(results: Path) -> list[str]:
    """Return the names, below a study's results, of derived files that are not compared."""
    return [path.relative_to(results).as_posix() for path in _derived_in(results) if _is_left_out(path)]


def _derived_in(results: Path) -> list[Path]:
    return [path for folder in DERIVED for path in sorted((results / folder).rglob("*")) if path.is_file()]


def _is_left_out(path: Path) -> bool:
    return any(path.match(pattern) for pattern in _NOT_COMPARED)


def differences(archive: str, target: str) -> list[str]:
    """Rebuild a package with this checkout's code, see rebuild; the arguments are JSON values."""
    return rebuild(Path(archive), Path(target), ROOT)


def _lay_out(root: Path, data: Path, results: Path, work: Path) -> None:
    """Set up a project folder with this checkout's code and the package's raw results."""
    for name in _CODE:
        source, place = root / name, work / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, place)
    # A study may use data sets that only its own checkout defines; definitions are data, not code.
    if (data / _DATASETS).is_file():
        shutil.copy2(data / _DATASETS, work / _DATASETS)
    for folder in sorted(results.iterdir()):
        if folder.name not in DERIVED:
            shutil.copytree(folder, work / "results" / results.name / folder.name)
    # Another program draws call graphs. The page shows those that were there when it was made.
    for name in not_compared_in(results):
        place = work / "results" / results.name / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(results / name, place)
    # Records of environments of every mode go to `locked`, the mode of the rebuild; no environment is made.
    for record in data.glob("resources/environments/*/**/environment.json"):
        environment = record.parent.relative_to(data / "resources" / "environments").parts[1:]
        place = work.joinpath("resources", "environments", "locked", *environment)
        place.mkdir(parents=True)
        shutil.copy2(record, place)


def _write_study(data: Path, work: Path, study: str, plan: Mapping[str, Any]) -> None:
    """Write the study file with the settings of the measuring machine: threads, which cell names hold, and the test."""
    name = f"config/studies/{study}.yaml"
    path = work / name
    path.parent.mkdir()
    content = with_profiles_of_then(as_read_then(load_yaml(data / name), plan), data / "results" / study)
    if plan.get("threads") is not None:
        content["threads"] = plan["threads"]
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


def _run(work: Path, study: str, device: str, absent: dict[str, str] | None, targets: list[str]) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "snakemake", "--snakefile", _SNAKEFILE),
            *("--cores", "1", "--rerun-triggers", "mtime"),
            *("--config", f"study={study}", *([f"device={device}"] if device else []), "environment=locked"),
            *([f"absent={json.dumps(absent)}"] if absent else []),
            *("--allowed-rules", *RULES, "--", *targets),
        ],
        cwd=work,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        log = work / "rebuild.log"
        log.write_text(done.stdout)
        raise FramewattError(f"rebuild: {_why(done.stdout)}. Read the whole output in {log}.")


def _why(output: str) -> str:
    """Return the line of Snakemake's output with the reason: the workflow's own error, else an exception."""
    lines = [line.strip() for line in output.splitlines()]
    own = [line.removeprefix("framewatt: ") for line in lines if line.startswith("framewatt: ")]
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return next(iter([*own, *raised]), f"Snakemake ended without a word, {len(lines)} lines in")
