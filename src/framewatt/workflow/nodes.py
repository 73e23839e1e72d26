"""Nodes of a cluster: which node runs what, and what its jobs ask Slurm for."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from framewatt.planning import paths
from framewatt.planning.jobs import EXPORT_TIMEOUT_S, STEP_S, TRAINING_TIMEOUT_S
from framewatt.planning.placement import NOWHERE, Placement, nodes_of
from framewatt.workflow.cluster import node_at, place
from framewatt.workflow.setup import Setup
from framewatt.workflow.snakemake_api import OfStudy, Wildcards

MOST_QUEUED = 2
"""Jobs that measure on a node or wait for it in Slurm's queue: one more than it runs, so that it has no pause.

Slurm starts jobs in the order in which they came, and Snakemake hands in jobs that are ready at once in no order. So
all others wait in Snakemake, by their priority, which is the planned order."""

_START_S = 300
"""Starting Snakemake and a framework anew, on a slow file system."""

_LOADS = 20
"""Most steps of known loads of a characterisation, of `step_s` each."""


class Nodes:
    """Input functions about nodes, and resources of jobs.

    Args:
        setup: the study and the cluster of this call.
        placement: which node measures which block; empty where the study has no nodes.
        idle_in_force: by node, the file of idle power that corrects the runs of this call, without its suffix.

    Attributes:
        places: the nodes that measure, as paths have them; without nodes, the one machine.
        queues: by node, the name of a resource. Each job on the node claims 1 of it.
    """

    def __init__(self, setup: Setup, placement: Placement, idle_in_force: Mapping[str, str]) -> None:
        self._setup, self._placement, self._idle_in_force = setup, placement, idle_in_force
        nodes = nodes_of(placement)
        self.places = [place(node) for node in nodes]
        self.queues = {node: f"node_{node}" for node in nodes} if placement else {}

    def node_of(self, wildcards: Wildcards) -> str:
        """Return the node of a job: of its run's block, or in its path, or of the first block for all else."""
        names = wildcards.keys()
        if "place" in names:
            return node_at(wildcards.place)
        return self.node_of_block(int(Path(wildcards.run).name) if "run" in names else 1)

    def node_of_block(self, block: int) -> str:
        """Return the node that measures a block."""
        return self._placement.get(block, NOWHERE)

    def file(self, path: str) -> Callable[[Wildcards], str]:
        """Return an input function: a file of the node of a job."""
        return lambda wildcards: path.format(study=wildcards.study, place=place(self.node_of(wildcards)))

    def files(self, path: str) -> Callable[[OfStudy], list[str]]:
        """Return an input function: a file of every node that measures."""
        return lambda wildcards: [path.format(study=wildcards.study, place=where) for where in self.places]

    def idle_in_force(self, wildcards: Wildcards) -> str:
        """Return the idle power that corrects a run: of its own node, or of this boot of the machine."""
        node = self.node_of(wildcards)
        record = paths.IDLE.format(study=wildcards.study, place=place(node))
        # A machine that was booted anew has a new file of idle power; without it, a run is refused.
        return str(Path(record).with_stem(self._idle_in_force.get(node, "idle")))

    def plan(self, wildcards: OfStudy) -> str | list[str]:
        """Return the plan, which states which node measures which block; nothing without nodes."""
        return paths.PLAN.format(study=wildcards.study) if self._placement else []

    @property
    def for_run(self) -> dict[str, Any]:
        """Resources of a measured run, see `_alone`."""
        return self._alone(minutes_of_run)

    @property
    def for_idle(self) -> dict[str, Any]:
        """Resources of a measurement of idle power, see `_alone`."""
        return self._alone(minutes_of_idle)

    @property
    def for_two_passes(self) -> dict[str, Any]:
        """Resources of a run that is not measured, with its profiler and without, see `_alone`."""
        return self._alone(minutes_of_two_passes)

    @property
    def for_training(self) -> dict[str, Any]:
        """Resources on a cluster of a job that makes weights: any node, a GPU, time."""
        return self._on_any(TRAINING_TIMEOUT_S)

    @property
    def for_export(self) -> dict[str, Any]:
        """Resources on a cluster of a job that makes an export: any node, a GPU, time."""
        return self._on_any(EXPORT_TIMEOUT_S)

    def _alone(self, minutes: Callable[[Mapping[str, Any]], int]) -> dict[str, Any]:
        """Return resources on a cluster: a whole node of the job's own, a GPU, time.

        Args:
            minutes: a function of the study's settings.
        """
        if not self._placement:
            return {}
        cluster = self._setup.cluster
        processors = [node.processors for node in cluster.known.values()]
        return {
            **{name: self._claims(node) for node, name in self.queues.items()},
            "slurm_extra": lambda wildcards: cluster.slurm_options(self.node_of(wildcards)),
            "runtime": minutes(self._setup.study.settings),
            **({"cpus_per_task": min(processors)} if processors else {}),
            **self._gpu(),
        }

    def _claims(self, node: str) -> Callable[[Wildcards], int]:
        return lambda wildcards: int(self.node_of(wildcards) == node)

    def _on_any(self, seconds: float) -> dict[str, Any]:
        return {"runtime": _minutes(seconds), **self._gpu()} if self._placement else {}

    def _gpu(self) -> dict[str, int]:
        return {"gpu": 1} if self._setup.study.device == "cuda" else {}


def minutes_of_run(settings: Mapping[str, Any]) -> int:
    """Return the most minutes of a measured run: it may be repeated once, and rests before each try.

    Args:
        settings: the study's.
    """
    rest = settings["cool_down"]
    waits_s = rest["rest_s"] + (rest["timeout_s"] if rest["idle_band"] is not None else 0)
    return _minutes(2 * (settings["timeout_s"] + waits_s))


def minutes_of_idle(settings: Mapping[str, Any]) -> int:
    """Return the most minutes of a measurement of idle power, with the known loads before the runs.

    Args:
        settings: the study's.
    """
    calibration = settings["calibration"]
    return _minutes(calibration["idle_s"] + _LOADS * calibration.get("step_s", STEP_S))


def minutes_of_two_passes(settings: Mapping[str, Any]) -> int:
    """Return the most minutes of a run that is not measured, with its profiler and without.

    Args:
        settings: the study's.
    """
    return _minutes(2 * settings["timeout_s"])


def _minutes(seconds: float) -> int:
    return math.ceil((seconds + _START_S) / 60)
