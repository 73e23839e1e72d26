"""Packages of studies whose runs are read from files, made in tests as the workflow makes them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from package_factory import ROOT, aggregate, project_tree, records_of

from framewatt.base.files import write_json
from framewatt.base.identity import code_identity
from framewatt.base.validation import load_yaml
from framewatt.imports.file_study import load_file_study
from framewatt.imports.importing import import_runs
from framewatt.meters.trace_file import write_trace
from framewatt.package.write import project_files, source_files, study_files, write_package
from framewatt.planning.plan import plan_of
from framewatt.privacy.secrets import Secrets
from framewatt.runs.records import write_events, write_run
from framewatt.study.study import FileStudy


def study_of(root: Path) -> FileStudy:
    """The study of root/study.yaml, which is called trial."""
    schema = load_yaml(ROOT / "config/schemas/study.schema.yaml")
    path = root / "study.yaml"
    return load_file_study(path, load_yaml(path), schema, {}, root / "results")


def pack_files(root: Path, content: Mapping[str, Any]) -> Path:
    """The package of a study of the logs that lie below a folder.

    Args:
        root: the folder.
        content: of the study file.
    """
    (root / "study.yaml").write_text(yaml.safe_dump(dict(content)))
    study, project = study_of(root), project_tree(root)
    results = root / "results" / "trial"
    write_json(results / "plan" / "plan.json", plan_of(study))
    for run in import_runs(study, code_identity(project)):
        folder = results / "measure" / run.record["cell_id"] / str(run.record["repetition"])
        write_trace(folder / "power.parquet", run.trace)
        write_events(folder / "events.parquet", run.events, run.clock)
        write_run(folder / "run.json", run.record)
    aggregate(results, records_of(results))
    write_json(root / "identity.json", {"code": code_identity(project)})
    files = project_files(project, study.path, "trial", []) | study_files(results) | source_files(study)
    files["identity.json"] = root / "identity.json"
    path = root / "framewatt-trial-0.1.0.zip"
    write_package(path, files, {}, records_of(results), study.settings, Secrets({}))
    return path
