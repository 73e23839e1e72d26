"""The study that this run of the workflow is about, and the functions by which rules ask for it."""

import json
import os
import shlex
import sys
from pathlib import Path

ROOT = Path(workflow.basedir).parent
sys.path.insert(0, str(ROOT / "src"))

from snakemake.settings.types import DeploymentMethod

from framewatt import __version__, jobs
from framewatt.datasets.sources import config_key, folder_of
from framewatt.environments import LOCK, node_lock
from framewatt.errors import FramewattError
from framewatt.images import BOOTSTRAP, apptainer
from framewatt.options import QUANTISED
from framewatt.own_models import ONNX
from framewatt.setup import load_setup, share_interpreter
from framewatt.stage import attempt_of
from framewatt.study import environment_of
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


def as_argument(job):
    """A job as one argument of a shell line; keys are sorted so that the same job is the same parameter."""
    return json.dumps(job, sort_keys=True)


def environment_record(name):
    """Path of an environment's record; whatever runs in the environment takes it as input."""
    return f"resources/environments/{MODE}/{name}/environment.json"


def image(name):
    """Path of an environment's container image."""
    return f"resources/images/{name}.sif"


def orchestrator_image(wildcards):
    """The image in which a rule of the workflow's own side runs; none where there are no containers."""
    return [ORCHESTRATOR] if CONTAINERS else []


def environment_source(wildcards):
    """What an environment is made from: its locks, or its image; the host's own interpreter is there."""
    folder = Path("envs", wildcards.environment)
    return {
        "host": [],
        "locked": [
            str(path) for path in (folder / LOCK, node_lock(folder)) if path is not None
        ],
        "container": [image(wildcards.environment)],
    }[wildcards.mode]


def environments(wildcards):
    """Records of all environments that the study needs."""
    return [
        environment_record(name)
        for name in jobs.environments_of(STUDIES[wildcards.study])
    ]


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


def framework_of(wildcards):
    """Name of the environment of the framework that trains and exports a model."""
    return environment_of(MODELS[wildcards.model].framework, STUDY.device)


def engine_of(wildcards):
    """Name of the environment of what executes a cell's model."""
    return CELLS[wildcards.cell].environment(STUDY.device)


CHECKER = environment_of("onnxruntime", STUDY.device, "cpu")
"""Name of the environment in which exports are checked."""


def framework_environment(wildcards):
    """Record of the environment of the framework that trains and exports a model."""
    return environment_record(framework_of(wildcards))


def source_folders(wildcards):
    """Where the original files of a data set lie: the user's folder, or what is downloaded."""
    if wildcards.dataset in OWN_ARRAYS:
        return or_exit(OWN_ARRAYS[wildcards.dataset].arrays_files)
    sources = DATASETS.definitions[wildcards.dataset].get("sources", {})
    return or_exit(lambda: [folder_of(source, config) for source in sources.values()])


def or_exit(find):
    """What a function finds; where it finds that something is missing, one line and exit code 1."""
    try:
        return find()
    except FramewattError as error:
        sys.exit(f"framewatt: {error}")


def own_code(model, engine):
    """The files that an engine builds a study's own model from; none where it is a zoo's, or exported."""
    own = OWN.get(model)
    built = own is not None and engine in own.settings["factory"]
    return or_exit(own.code_files) if built else []


def model_code(wildcards):
    """The files that the framework of a model builds it from, where it is the user's own."""
    cell = MODELS[wildcards.model]
    return own_code(cell.workload, cell.framework)


def weights(wildcards):
    """What is exported: the folder of trained weights, or the user's ONNX file."""
    cell = MODELS[wildcards.model]
    if cell.framework == ONNX:
        return or_exit(OWN[cell.workload].onnx_file)
    return f"results/{wildcards.study}/train/{wildcards.model}"


def data_files(cell):
    """The arrays that a cell's model reads, and the record of what they are."""
    arrays = DATASETS.arrays_of(cell.dataset, cell.framework, cell.workload)
    return multiext(f"resources/data/{arrays}", ".npz", ".json")


def data_records(wildcards):
    """Records of all data sets that the study reads."""
    return sorted({data_files(cell)[1] for cell in CELLS.values()})


def model_data(wildcards):
    """The data that a model is trained on."""
    return data_files(MODELS[wildcards.model])


def checked_exports(wildcards):
    """Folders of the checks of every export, and of what is quantised of it."""
    study = STUDIES[wildcards.study]
    models = [*jobs.exported_models_of(study), *jobs.quantised_models_of(study)]
    return expand(
        "results/{study}/export/{model}/check", study=wildcards.study, model=models
    )


def trained_models(wildcards):
    """Folders of all weights that inference and export use."""
    models = jobs.trained_models_of(STUDIES[wildcards.study])
    return expand("results/{study}/train/{model}", study=wildcards.study, model=models)


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


def artefacts(wildcards):
    """What a measured run starts from: data, environment, and for inference trained weights or a checked export.

    A shell line names every input but code, so those that a cell does without are empty lists.
    """
    cell = CELLS[wildcards.cell]
    model, check = [], []
    if cell.engine == "onnxruntime":
        model = f"results/{wildcards.study}/export/{cell.export}/onnx"
        check = f"results/{wildcards.study}/export/{cell.export}/check"
    elif cell.phase == "infer":
        model = f"results/{wildcards.study}/train/{cell.model}"
    return {
        "data": data_files(cell),
        "environment": environment_record(engine_of(wildcards)),
        "model": model,
        "check": check,
        "code": own_code(cell.workload, cell.engine),
    }


def planned_order(wildcards):
    """Priority of a run, falling with its place in the order; ready jobs start by priority."""
    return 1 + len(RUNS) - POSITIONS[wildcards.cell, wildcards.repetition]


def attempt(wildcards, record):
    """Number of the attempt that is due for what leaves this record."""
    return attempt_of(Path(record.format(**dict(wildcards.items()))))


def train_job(wildcards):
    """Job of rule train."""
    number = attempt(wildcards, "results/{study}/train/{model}/train.json")
    return as_argument(jobs.train_job(STUDY, MODELS[wildcards.model], number))


def export_job(wildcards):
    """Job of rule export."""
    number = attempt(wildcards, "results/{study}/export/{model}/onnx/export.json")
    return as_argument(jobs.export_job(STUDY, MODELS[wildcards.model], number))


def check_job(wildcards):
    """Job of rule check_export."""
    number = attempt(wildcards, "results/{study}/export/{model}/check/check.json")
    return as_argument(jobs.check_job(STUDY, MODELS[wildcards.model], number))


def quantise_job(wildcards):
    """Job of rule quantise."""
    number = attempt(
        wildcards, "results/{study}/export/{model}/{precision}/onnx/export.json"
    )
    return as_argument(
        jobs.quantise_job(STUDY, MODELS[wildcards.model], wildcards.precision, number)
    )


def check_quantised_job(wildcards):
    """Job of rule check_quantised."""
    number = attempt(
        wildcards, "results/{study}/export/{model}/{precision}/check/check.json"
    )
    return as_argument(
        jobs.check_quantised_job(
            STUDY, MODELS[wildcards.model], wildcards.precision, number
        )
    )


def measure_job(wildcards):
    """Job of rule measure."""
    number = attempt(wildcards, "results/{study}/measure/{cell}/{repetition}/run.json")
    return as_argument(
        jobs.measure_job(
            STUDY, CELLS[wildcards.cell], int(wildcards.repetition), number
        )
    )


def final_outputs():
    """What `snakemake` makes when no target is named."""
    return expand(
        [rules.write_report.output.page, rules.complete.output.done], study=STUDY.name
    )
