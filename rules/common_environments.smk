"""Environments and images: their records, and which one a rule runs in."""

from framewatt.datasets.sources import config_key
from framewatt.environments.framework import LOCK
from framewatt.environments.images import BOOTSTRAP, apptainer
from framewatt.environments.node_packages import node_lock
from framewatt.workflow.place import binds_of
from framewatt.study.cell import environment_of
from framewatt.study.runtimes import ONNX_RUNTIME

CHECKER = environment_of(ONNX_RUNTIME, STUDY.device, "cpu")
"""Name of the environment in which exports are checked."""

if CONTAINERS:
    or_exit(apptainer)
    # The user's folders are to be seen inside, at the same path. A profile does not know them, and what the environment
    # variable APPTAINER_BIND names is bound by `apptainer build` too, which ends where an image has no such folder.
    folders = [config[config_key(name)] for name in DATASETS.sources]
    for measured in MEASURED.values():
        for model in measured.own.values():
            folders += [model.path.parent, model.folder]
    workflow.deployment_settings.apptainer_args += or_exit(lambda: binds_of(folders))
    if STUDY.device == "cuda":
        # The driver's libraries and devices are the host's.
        workflow.deployment_settings.apptainer_args += " --nv"


def environment_record(name):
    """Path of an environment's record; whatever runs in the environment takes it as input."""
    return rules.environment.output.record.format(mode=MODE, environment=name)


def image(name):
    """Path of an environment's container image."""
    return rules.image.output.image.format(environment=name)


def orchestrator_image(wildcards):
    """The image in which a rule of the workflow's own side runs; none where there are no containers."""
    return [ORCHESTRATOR] if CONTAINERS else []


def locks(wildcards):
    """The locks of an environment: of its packages for Python and, where it has any, for Node.js."""
    folder = Path("envs", wildcards.environment)
    return [str(path) for path in (folder / LOCK, node_lock(folder)) if path]


def base_image(wildcards):
    """The image that others are built on, where it is built here too."""
    built = config["container_base"] == BOOTSTRAP
    return rules.base_image.output.image if built else []


def environment_source(wildcards):
    """What an environment is made from: its locks, or its image; the host's own interpreter is there."""
    if wildcards.mode == "container":
        return [image(wildcards.environment)]
    return locks(wildcards) if wildcards.mode == "locked" else []


def environments(wildcards):
    """Records of all environments that the study needs."""
    needed = jobs.environments_of(STUDIES[wildcards.study])
    return [environment_record(name) for name in needed]


def framework_of(wildcards):
    """Name of the environment of the framework that trains and exports a model."""
    return MEASURED[wildcards.study].framework_environment(wildcards.model)


def engine_of(wildcards):
    """Name of the environment of what executes a run's model."""
    return MEASURED[wildcards.study].engine_environment(wildcards.run)


def profiled_engine(wildcards):
    """Name of the environment of what executes the model of a profiled cell."""
    measured = MEASURED[wildcards.study]
    return measured.profiled[wildcards.cell].environment(measured.study.device)


def recorded_engine(wildcards):
    """Name of the environment of what executes the model of a cell that has a timeline."""
    measured = MEASURED[wildcards.study]
    return measured.timelines[wildcards.cell].environment(measured.study.device)


def framework_environment(wildcards):
    """Record of the environment of the framework that trains and exports a model."""
    return environment_record(framework_of(wildcards))
