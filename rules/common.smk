"""The study that this run of the workflow is about, and the functions by which rules ask for it."""

import os
import shlex
import sys
from pathlib import Path

ROOT = Path(workflow.basedir).parent
sys.path.insert(0, str(ROOT / "src"))

from snakemake.settings.types import DeploymentMethod

from framewatt import __version__, jobs
from framewatt.datasets.sources import config_key
from framewatt.errors import FramewattError
from framewatt.images import BOOTSTRAP, apptainer
from framewatt.options import QUANTISED
from framewatt.setup import load_setup, share_interpreter
from framewatt.training_shown import shows_training

share_interpreter(ROOT)
CONTAINERS = (
    DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method
)
try:
    SETUP = load_setup(config, ROOT)
    if CONTAINERS:
        apptainer()
except FramewattError as error:
    # One line and exit code 1, where a Snakemake exception would print where in the rules it was raised.
    sys.exit(f"framewatt: {error}")

STUDY, STUDIES = SETUP.study, SETUP.studies
if CONTAINERS and STUDY.device == "cuda":
    # The driver's libraries and devices are the host's.
    workflow.deployment_settings.apptainer_args += " --nv"
MODE = "container" if CONTAINERS else config["environment"]
ORCHESTRATOR = "resources/images/orchestrator.sif"
BASE_IMAGE = (
    "resources/images/base.sif" if config["container_base"] == BOOTSTRAP else []
)
DATASETS = SETUP.datasets
RUNS = [] if STUDY.imported else STUDY.runs()
CELLS = {cell.id: cell for cell in STUDY.measured_cells}
MODELS = jobs.models_of(STUDY)
EXPORTED = jobs.exported_models_of(STUDY)
OWN = {} if STUDY.imported else STUDY.own
OWN_ARRAYS = {model.arrays_name: model for model in OWN.values()}
if CONTAINERS:
    # The user's folders are to be seen inside, at the same path.
    own_folders = [
        folder for model in OWN.values() for folder in (model.path.parent, model.folder)
    ]
    for folder in filter(
        None, [*(config[config_key(name)] for name in DATASETS.sources), *own_folders]
    ):
        workflow.deployment_settings.apptainer_args += (
            f" --bind {shlex.quote(str(Path(folder).resolve()))}"
        )
POSITIONS = {(run.cell.id, str(run.repetition)): run.position for run in RUNS}
ARCHIVE = f"results/{{study}}/archive/framewatt-{{study}}-{__version__}.zip"
TABLES = [
    "energy_time",
    "accuracy",
    "fairness",
    "export_agreement",
    "comparisons",
    "deploy",
    "epochs",
    "trends",
    "to_accuracy",
    "failures",
]
FIGURES = [
    "energy_time",
    "energy_runtime_batch",
    "time_runtime_batch",
    "energy_accuracy",
    "deploy",
    "power_traces",
    "epochs",
]
TRAINING_FIGURES = ["series", "energy", "power", "utilisation", "accuracy"]


wildcard_constraints:
    study="|".join(STUDIES),
    mode="locked|host|container",
    environment="[a-z0-9]+(/[a-z0-9]+)?",
    cell="|".join(CELLS) or "none",
    model="[a-z0-9_-]+",
    precision="|".join(QUANTISED),
    dataset="|".join(DATASETS.definitions),
    source="|".join(DATASETS.sources),
    repetition="[1-9][0-9]*",
    table="|".join(TABLES),
    figure="|".join(FIGURES),
    training_figure="|".join(TRAINING_FIGURES),


def settings(*keys):
    """What the study of a rule's wildcards says under some keys, as a parameter."""

    def found(wildcards):
        value = STUDIES[wildcards.study].settings
        for key in keys:
            value = value[key]
        return value

    return found


def costs(wildcards):
    """What energy costs by the study, as a parameter; a study of files says nothing of it."""
    return STUDIES[wildcards.study].settings.get("costs", {})


def or_exit(find):
    """What a function finds; where it finds that something is missing, one line and exit code 1."""
    try:
        return find()
    except FramewattError as error:
        sys.exit(f"framewatt: {error}")


def run_records(wildcards):
    """Records of all planned runs in their order, or the folder of all imported ones."""
    if STUDIES[wildcards.study].imported:
        return f"results/{wildcards.study}/measure"
    return [
        f"results/{wildcards.study}/measure/{run.cell.id}/{run.repetition}/run.json"
        for run in RUNS
    ]


def figures_of(wildcards):
    """The figures of a study; those of training where it has some at several levels."""
    names = list(FIGURES)
    if shows_training(STUDIES[wildcards.study]):
        names += [f"training_{name}" for name in TRAINING_FIGURES]
    return expand(
        "results/{study}/figures/{figure}.svg", study=wildcards.study, figure=names
    )


def idle_records(wildcards):
    """Idle power before and after the runs; imported runs have none."""
    if STUDIES[wildcards.study].imported:
        return []
    return expand(
        "results/{study}/calibrate/{name}.json",
        study=wildcards.study,
        name=["idle", "idle_after"],
    )


def source_files(wildcards):
    """The files that a study's runs are read from; none where they are measured."""
    return STUDIES[wildcards.study].source_files()


def final_outputs():
    """What `snakemake` makes when no target is named."""
    return expand(
        [rules.write_report.output.page, rules.complete.output.done], study=STUDY.name
    )
