"""Measured studies as the workflow has them, for tests: a study file's content, and the hashes of its jobs."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from framewatt.base.validation import load_yaml
from framewatt.datasets.catalogue import Catalogue
from framewatt.planning.job_hashes import JobHashes, Sources
from framewatt.planning.jobs import environments_of
from framewatt.study.study import MeasuredStudy
from framewatt.study.study_file import Lacks, load_study

SCHEMA = Path(__file__).parents[1] / "config" / "schemas" / "study.schema.yaml"
WORKLOADS = {f"workload/{name}": ["resnet50", "mobilenet"] for name in ("torch", "tensorflow", "mxnet")}


@functools.cache
def schema() -> dict[str, Any]:
    """The schema of study files."""
    return load_yaml(SCHEMA)


def loaded(
    folder: Path,
    content: dict[str, Any],
    device: str = "cpu",
    processors: int = 2,
    known: Mapping[str, list[str]] | None = None,
    lacks: Lacks | None = None,
) -> MeasuredStudy:
    """A study of this content, whose file is in `folder`; `known` are other workloads than the default ones."""
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(content))
    there = {"dataset": ["digits", "cifar10"], **WORKLOADS, **(known or {})}
    return load_study(path, content, schema(), there, device, processors, lacks)


def hashes_of(study: MeasuredStudy, mode: str = "locked", lock: str = "1") -> JobHashes:
    """Its hashes, with locks and files that are what `lock` says."""
    definitions = {name: {"module": name, "seed": 0} for name in ("digits", "cifar10")}
    environments = {name: {"mode": mode, "lock_sha256": lock} for name in environments_of(study)}
    own = {name: {"code": "c", "onnx": "o", "arrays": "a"} for name in study.own}
    return JobHashes(study, Catalogue({}, definitions, {}).with_own(study.own.values()), Sources(environments, own))
