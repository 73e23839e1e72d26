"""The study that this run of the workflow is about, and the functions by which rules ask for it."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(workflow.basedir).parent
sys.path.insert(0, str(ROOT / "src"))

from snakemake.settings.types import DeploymentMethod

from framewatt import __version__

from framewatt.planning import jobs
from framewatt.datasets.sources import config_key
from framewatt.base.errors import FramewattError
from framewatt.flow.place import binds_of, check_places
from framewatt.environments.images import BOOTSTRAP, apptainer
from framewatt.flow.setup import load_setup, share_interpreter
from framewatt.planning.training_shown import shows_training

share_interpreter(ROOT)
CONTAINERS = (
    DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method
)


def or_exit(find):
    """What a function finds; where it finds that something is missing, one line and exit code 1."""
    try:
        return find()
    except FramewattError as error:
        # A Snakemake exception would print where in the rules it was raised.
        sys.exit(f"framewatt: {error}")


or_exit(lambda: check_places(ROOT, CONTAINERS))
SETUP = or_exit(lambda: load_setup(config, ROOT))
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
QUANTISED = jobs.quantised_models_of(STUDY)
OWN = {} if STUDY.imported else STUDY.own
OWN_ARRAYS = {model.arrays_name: model for model in OWN.values()}
if CONTAINERS:
    or_exit(apptainer)
    # The user's folders are to be seen inside, at the same path.
    folders = [config[config_key(name)] for name in DATASETS.sources]
    for model in OWN.values():
        folders += [model.path.parent, model.folder]
    workflow.deployment_settings.apptainer_args += or_exit(lambda: binds_of(folders))
PLANNED = {f"{run.cell.id}/{run.repetition}": run for run in RUNS}
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
    model="[a-z0-9_-]+",
    dataset="|".join(DATASETS.definitions),
    source="|".join(DATASETS.sources),
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


def cell_of(wildcards):
    """The cell of a measured run."""
    return PLANNED[wildcards.run].cell


def figures_of(wildcards):
    """The figures of a study; those of training where it has some at several levels."""
    names = list(FIGURES)
    if shows_training(STUDIES[wildcards.study]):
        names += [f"training_{name}" for name in TRAINING_FIGURES]
    if wildcards.study in STOPPING:
        names.append("stopping")
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


def final_outputs(wildcards):
    """What `snakemake` makes when no target is named.

    Everything is named, since what is deleted halfway would not be missed by what lies behind it.
    """
    study = SimpleNamespace(study=STUDY.name)
    made_by = (
        rules.plan,
        rules.aggregate,
        rules.statistics,
        rules.tables,
        rules.write_report,
        rules.complete,
    )
    return [
        *expand([path for rule in made_by for path in rule.output], study=STUDY.name),
        *([f"results/{STUDY.name}/measure"] if STUDY.imported else run_records(study)),
        *idle_records(study),
        *replicated_tables(study),
        *stopping_files(study),
        *figures_of(study),
    ]
