"""Environments and images: their records, and which one a rule runs in."""

from framewatt.study.cell import environment_of
from framewatt.study.runtimes import ONNX_RUNTIME
from framewatt.environments.framework import LOCK
from framewatt.environments.node_packages import node_lock


def environment_record(name):
    """Path of an environment's record; whatever runs in the environment takes it as input."""
    return f"resources/environments/{MODE}/{name}/environment.json"


def image(name):
    """Path of an environment's container image."""
    return f"resources/images/{name}.sif"


def orchestrator_image(wildcards):
    """The image in which a rule of the workflow's own side runs; none where there are no containers."""
    return [ORCHESTRATOR] if CONTAINERS else []


def locks(wildcards):
    """The locks of an environment: of its packages for Python and, where it has any, for Node.js."""
    folder = Path("envs", wildcards.environment)
    return [str(path) for path in (folder / LOCK, node_lock(folder)) if path]


def environment_source(wildcards):
    """What an environment is made from: its locks, or its image; the host's own interpreter is there."""
    return {
        "host": [],
        "locked": locks(wildcards),
        "container": [image(wildcards.environment)],
    }[wildcards.mode]


def environments(wildcards):
    """Records of all environments that the study needs."""
    return [
        environment_record(name)
        for name in jobs.environments_of(STUDIES[wildcards.study])
    ]


def framework_of(wildcards):
    """Name of the environment of the framework that trains and exports a model."""
    return environment_of(model_of(wildcards).framework, STUDY.device)


def engine_of(wildcards):
    """Name of the environment of what executes a cell's model."""
    return cell_of(wildcards).environment(STUDY.device)


CHECKER = environment_of(ONNX_RUNTIME, STUDY.device, "cpu")
"""Name of the environment in which exports are checked."""


def framework_environment(wildcards):
    """Record of the environment of the framework that trains and exports a model."""
    return environment_record(framework_of(wildcards))
