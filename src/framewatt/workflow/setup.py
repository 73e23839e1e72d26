"""The configuration of this machine and the study that it names, loaded and checked."""

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.paths import usable
from framewatt.base.validation import load_yaml, validate
from framewatt.datasets.catalogue import Catalogue, load_catalogue
from framewatt.datasets.options import check_options
from framewatt.host.machine import usable_processors
from framewatt.imports.file_study import is_file_study, load_file_study
from framewatt.imports.merged_study import is_merged_study, load_merged_study
from framewatt.meters.nvml import Nvml
from framewatt.papers.schemas import config_schema, study_schema
from framewatt.planning.needed import Absent
from framewatt.planning.staleness import content_of
from framewatt.study.runtimes import FRAMEWORKS
from framewatt.study.study import MeasuredStudy, Study
from framewatt.study.study_file import load_study, with_planned_defaults
from framewatt.workflow.cluster import Cluster, cluster_of
from framewatt.workflow.folder import check_owner
from framewatt.workflow.models import Measured
from framewatt.workloads import registered_models

STUDIES, RESULTS = Path("config/studies"), Path("results")
"""Where study files and results are, below the working directory."""

COMPUTED = Path("resources/environments/host/computed.json")
"""Which engines computed on the device, so that not every call tries them."""


@dataclass(frozen=True)
class Setup:
    """The study and data sets of a configuration, on this machine.

    Attributes:
        study: the study that the configuration names.
        studies: by name: that study, and every study of files with a root in the configuration.
        datasets: the defined data sets.
        cluster: the nodes that measure.
        config: the configuration, with its defaults.
    """

    study: Study
    studies: Mapping[str, Study]
    datasets: Catalogue
    cluster: Cluster = field(default_factory=Cluster)
    config: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def measured(self) -> dict[str, Measured]:
        """The studies with runs that are measured here, by name; runs of the others are read from files."""
        measuring = {name: study for name, study in self.studies.items() if isinstance(study, MeasuredStudy)}
        return {name: Measured(study, self.datasets) for name, study in measuring.items()}


def load_setup(config: dict[str, Any], root: Path) -> Setup:
    """Check the configuration, fill in its defaults in place, and load the study it names.

    Args:
        config: Snakemake's config.
        root: the project's folder.

    Raises:
        FramewattError: a file or a key of the configuration or of the study is missing or wrong.
    """
    schemas = root / "config" / "schemas"
    config.update(
        validate(config, config_schema(load_yaml(schemas / "config.schema.yaml")), "config/config.yaml or --config")
    )
    datasets = load_catalogue(root / "config" / "datasets.yaml", schemas / "datasets.schema.yaml")
    schema = study_schema(load_yaml(schemas / "study.schema.yaml"))
    path = study_path(config["study"])
    content = load_yaml(path)
    planned = content_of(RESULTS / str(content.get("study")) / "plan" / "plan.json")
    cluster = cluster_of(config["nodes"], planned)
    study: Study
    if is_merged_study(content):
        study = load_merged_study(path, content, schema, RESULTS / str(content.get("study")))
    elif is_file_study(content):
        study = load_file_study(path, _with_first_defaults(content), schema, config, RESULTS)
        if study.root is not None:
            # Missing files of the named study are reported now; another study may be used for its profiles only.
            study.runs()
    else:
        known = {"dataset": datasets.names, **{f"workload/{name}": registered_models(name) for name in FRAMEWORKS}}
        wanted = config["device"] or content.get("device", "cpu")
        there = _there(cluster, wanted, content.get("threads", "auto"))
        content = _with_first_defaults(content)
        study = load_study(path, content, schema, known, *there)
        if absent := _absent(config, study, cluster):
            study = load_study(path, content, schema, known, *there, absent)
        if config["measured_only"]:
            study = _measured_part(study)
        datasets = datasets.with_own(study.own.values())
        for cell in study.cells:
            datasets.arrays_of(cell.dataset, cell.framework, cell.workload)
    if config["measured_only"] and not study.measures:
        raise FramewattError(f"measured_only: {path} reads files, and its runs are all there. Leave measured_only out.")
    check_owner(path, study.name, RESULTS / study.name, STUDIES)
    others = _studies_with_root(config, schema, but=path)
    return Setup(study, {**others, study.name: study}, datasets, cluster, config)


def _with_first_defaults(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study file with the defaults that were in force when its study was started."""
    return with_planned_defaults(content, content_of(RESULTS / str(content.get("study")) / "plan" / "plan.json") or {})


def _absent(config: Mapping[str, Any], study: MeasuredStudy, cluster: Cluster) -> Absent | None:
    """Return what the host's interpreter lacks, by an earlier plan or by running it; None in other environments."""
    if config["absent"] is not None:
        return Absent(config["absent"])
    if config["environment"] != "host":
        return None
    # A GPU study is planned where there is no GPU, too: on a laptop, or on the login node of a cluster.
    gpu_here = study.device == "cuda" and not cluster.aliases and Nvml().available()[0]
    return Absent.from_interpreter(config["host_python"], study.cells, "cuda" if gpu_here else "cpu", COMPUTED)


def _measured_part(study: MeasuredStudy) -> MeasuredStudy:
    """Return the study with only the cells that have a run on disk, and without timelines if none was recorded.

    Raises:
        FramewattError: there is none.
    """
    folder = RESULTS / study.name / "measure"
    cells = tuple(cell for cell in study.cells if any(folder.glob(f"{cell.id}/*/run.json")))
    if not cells:
        raise FramewattError(
            f"measured_only: {folder} has no run of this study. Measure some, or leave measured_only out."
        )
    if any((RESULTS / study.name / "timelines").glob("*")):
        return replace(study, cells=cells)
    return replace(study, cells=cells, settings={**study.settings, "operators": False, "repeated_operators": 0})


def _there(cluster: Cluster, device: str, threads: object) -> tuple[str, int]:
    """Return the device, and how many processors a process may use, on this machine or on the study's nodes."""
    if cluster.aliases:
        return cluster.device(device), cluster.processors(threads)
    return resolve_device(device), usable_processors()


def check_data(study: MeasuredStudy, datasets: Catalogue) -> None:
    """Check the options of the data sets that a study uses; a package is rebuilt without making them again.

    Raises:
        FramewattError: no module takes an option.
    """
    used = (datasets.arrays_of(cell.dataset, cell.framework, cell.workload) for cell in study.cells)
    for name in dict.fromkeys(used):
        check_options(f"data set {name}", datasets.definitions[name])


def without_roots(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration without private values: folders of the user, and names of nodes."""
    private = ("published_", "data_")
    public = {key: "<folder>" if key.startswith(private) and value else value for key, value in config.items()}
    return public | ({"nodes": dict.fromkeys(public["nodes"], "<node>")} if public.get("nodes") else {})


def _studies_with_root(config: Mapping[str, Any], schema: Mapping[str, Any], but: Path) -> dict[str, Study]:
    """Return the studies in config/studies that have a root in the configuration, except the one that is loaded."""
    roots = [key for key in schema["properties"]["files"]["properties"]["root_config"]["enum"] if config.get(key)]
    studies: dict[str, Study] = {}
    for path in sorted(set(STUDIES.glob("*.yaml")) - {but}) if roots else []:
        content = load_yaml(path)
        if is_file_study(content) and (content.get("files") or {}).get("root_config") in roots:
            study = load_file_study(path, _with_first_defaults(content), schema, config, RESULTS)
            check_owner(path, study.name, RESULTS / study.name, STUDIES)
            studies[study.name] = study
    return studies


def share_interpreter(root: Path) -> None:
    """Let every job find this interpreter as `python`, and this checkout's library.

    It works whether or not the virtual environment is activated. Snakemake puts the interpreter's path unquoted into a
    shell line; where a shell would misread the path, the line gets the interpreter's name instead.

    Args:
        root: the project's folder.
    """
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = str(root / "src")
    if shlex.quote(sys.executable) != sys.executable:
        sys.executable = "python"


def study_path(name: str) -> Path:
    """Return the study file of that name, or at that path (relative to the project's folder).

    Raises:
        FramewattError: Snakemake cannot take the path.
    """
    return usable(Path(name)) if name.endswith((".yaml", ".yml")) else STUDIES / f"{name}.yaml"


def resolve_device(wanted: str) -> str:
    """Return `cpu` or `cuda`; `auto` asks the NVIDIA driver. The study's schema refuses anything else.

    Whether there is a GPU for `cuda` is checked only before measuring (see require_device), so that a study can be
    planned, and a package rebuilt, without one.
    """
    if wanted == "auto":
        return "cuda" if Nvml().available()[0] else "cpu"
    return "cuda" if wanted == "cuda" else "cpu"


def require_device(device: str) -> None:
    """Make sure that the device is available.

    Raises:
        FramewattError: it is `cuda`, and no GPU can be used.
    """
    available, reason = Nvml().available()
    if device == "cuda" and not available:
        raise FramewattError(f"device: cuda cannot be used here: {reason}. Use cpu, auto, or a machine with a GPU.")
