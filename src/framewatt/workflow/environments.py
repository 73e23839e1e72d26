"""Environments and container images: which ones there are, and which one a rule runs in."""

from pathlib import Path

from framewatt.datasets.sources import config_key
from framewatt.environments.framework import LOCK
from framewatt.environments.images import BOOTSTRAP, apptainer
from framewatt.environments.node_packages import node_lock
from framewatt.planning import paths
from framewatt.planning.jobs import environments_of
from framewatt.prepare.stage import attempt_of
from framewatt.study.cell import environment_of
from framewatt.study.runtimes import ONNX_RUNTIME
from framewatt.workflow.folder import container_mounts
from framewatt.workflow.setup import Setup
from framewatt.workflow.snakemake_api import OfStudy, Wildcards

ORCHESTRATOR = "orchestrator"
"""The environment of the workflow's own rules."""


class Environments:
    """Input functions about environments and images.

    Args:
        setup: the studies of this call.
        in_containers: whether rules run in containers.

    Attributes:
        mode: `locked`, `host` or `container`.
        orchestrator: path of the image in which the workflow's own rules run.
        checker: name of the environment in which exports are checked.
    """

    def __init__(self, setup: Setup, in_containers: bool) -> None:
        self._setup, self._in_containers = setup, in_containers
        self.mode = "container" if in_containers else str(setup.config["environment"])
        self.orchestrator = self.image(ORCHESTRATOR)
        self.checker = environment_of(ONNX_RUNTIME, setup.study.device, "cpu")

    def container_arguments(self) -> str:
        """Return the arguments of Apptainer that show a user's folders and a GPU to containers, as a shell reads them.

        A profile does not know the folders. `apptainer build` would also bind folders of the variable APPTAINER_BIND,
        and fail where an image has no such folder.

        Raises:
            FramewattError: there is no Apptainer, or it cannot bind a folder of that name.
        """
        if not self._in_containers:
            return ""
        apptainer()
        folders = [self._setup.config[config_key(name)] for name in self._setup.datasets.sources]
        for measured in self._setup.measured.values():
            for model in measured.own.values():
                folders += [model.path.parent, model.folder]
        # The driver's libraries and devices are those of the host.
        return container_mounts(folders) + " --nv" * (self._setup.study.device == "cuda")

    def record(self, name: str) -> str:
        """Return the path of an environment's record, an input of all that runs in the environment."""
        return paths.ENVIRONMENT.format(mode=self.mode, environment=name)

    def image(self, name: str) -> str:
        """Return the path of an environment's container image."""
        return paths.IMAGE.format(environment=name)

    def images(self) -> list[str]:
        """Return the paths of all images that the study needs."""
        return [self.image(name) for name in (ORCHESTRATOR, *environments_of(self._setup.study))]

    def orchestrator_image(self, _: object) -> list[str]:
        """Return the image in which a rule of the workflow's own runs; none without containers."""
        return [self.orchestrator] if self._in_containers else []

    def locks(self, wildcards: Wildcards) -> list[str]:
        """Return the locks of an environment: of its packages for Python and, if it has any, for Node.js."""
        folder = Path("envs", wildcards.environment)
        return [str(path) for path in (folder / LOCK, node_lock(folder)) if path]

    def base_image(self, _: object) -> list[str]:
        """Return the image on which others are built, if it is built here too."""
        return [paths.BASE_IMAGE] if self._setup.config["container_base"] == BOOTSTRAP else []

    def source(self, wildcards: Wildcards) -> list[str]:
        """Return what an environment is made from: its locks, or its image; the host's interpreter needs neither."""
        if wildcards.mode == "container":
            return [self.image(wildcards.environment)]
        return self.locks(wildcards) if wildcards.mode == "locked" else []

    def attempt(self, _: object, output: list[str]) -> int:
        """Return the number of the attempt to make an environment."""
        return attempt_of(Path(output[0]))

    def names(self, wildcards: OfStudy) -> list[str]:
        """Return the names of all environments that a study needs."""
        return list(environments_of(self._setup.studies[wildcards.study]))

    def records(self, wildcards: OfStudy) -> list[str]:
        """Return the records of all environments that a study needs."""
        return [self.record(name) for name in self.names(wildcards)]

    def framework(self, wildcards: Wildcards) -> str:
        """Return the record of the environment of the framework that trains and exports a model."""
        return self.record(self._setup.measured[wildcards.study].framework_environment(wildcards.model))

    def framework_image(self, wildcards: Wildcards) -> str:
        """Return the image of the framework that trains and exports a model."""
        return self.image(self._setup.measured[wildcards.study].framework_environment(wildcards.model))

    def run_image(self, wildcards: Wildcards) -> str:
        """Return the image that executes the model of a run."""
        return self.image(self._setup.measured[wildcards.study].engine_environment(wildcards.run))

    def profile_image(self, wildcards: Wildcards) -> str:
        """Return the image that executes the model of a profiled cell."""
        measured = self._setup.measured[wildcards.study]
        return self.image(measured.profiled[wildcards.cell].environment(measured.study.device))

    def timeline_image(self, wildcards: Wildcards) -> str:
        """Return the image that executes the model of a cell with a timeline."""
        measured = self._setup.measured[wildcards.study]
        return self.image(measured.timelines[wildcards.cell].environment(measured.study.device))
