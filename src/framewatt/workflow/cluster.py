"""The nodes of a cluster that measure a study: their names, their hardware, and what a job requests from Slurm.

The call that plans asks Slurm once, and passes the answer to its jobs.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.planning.placement import NOWHERE, nodes_of, placement_of

VARIABLE = "FRAMEWATT_NODE_FACTS"
"""The hardware of the nodes, as JSON: the call that plans passes it to its jobs, which do not ask again."""

_ANSWER_S = 30


@dataclass(frozen=True)
class Node:
    """The hardware of a node, as the scheduler knows it.

    Attributes:
        processors: number of logical processors.
        gpus: number of GPUs.
        booted_s: when it was booted, in seconds since 1970; None where that is unknown.
    """

    processors: int
    gpus: int
    booted_s: int | None = None


def read_nodes(names: Mapping[str, str]) -> dict[str, Node]:
    """Return the hardware of the nodes, by alias: as the call that planned this job passed it on, or from Slurm."""
    passed = json.loads(os.environ.get(VARIABLE) or "{}")
    if passed.get("names") == dict(names):
        return {alias: Node(**node) for alias, node in passed["known"].items()}
    known = _nodes_of_slurm(names) if shutil.which("scontrol") else {}
    os.environ[VARIABLE] = json.dumps(
        {"names": dict(names), "known": {alias: asdict(node) for alias, node in known.items()}}
    )
    return known


def _nodes_of_slurm(names: Mapping[str, str]) -> dict[str, Node]:
    """Ask Slurm for the hardware of some nodes."""
    known = {}
    for alias, name in names.items():
        try:
            done = subprocess.run(
                ["scontrol", "--oneliner", "show", "node", name],
                capture_output=True,
                text=True,
                check=False,
                timeout=_ANSWER_S,
            )
        except subprocess.TimeoutExpired as late:
            raise FramewattError(
                f"nodes.{alias}: scontrol did not answer in {_ANSWER_S} s. Try again when Slurm answers."
            ) from late
        node = node_of_line(done.stdout) if done.returncode == 0 else None
        if node is None:
            output = (done.stdout + done.stderr).strip().splitlines()
            raise FramewattError(
                f"nodes.{alias}: scontrol does not know the node {name!r}: {output[0] if output else 'no output'!r}. "
                "Name a node that sinfo -N lists."
            )
        known[alias] = node
    return known


def node_of_line(line: str) -> Node | None:
    """Return the node that a line of `scontrol --oneliner show node` describes; None where it describes none."""
    processors = re.search(r"\bCPUTot=(\d+)", line)
    if not processors:
        return None
    gres = re.search(r"\bGres=(\S+)", line)
    # As gpu:2, gpu:a100:2 or gpu:a100:2(S:0-1), perhaps among others.
    entries = [entry.split(":") for entry in re.sub(r"\([^)]*\)", "", gres[1] if gres else "").split(",")]
    gpus = [int(words[-1]) if words[-1].isdecimal() else 1 for words in entries if words[0] == "gpu"]
    booted = re.search(r"\bBootTime=(\d{4}-\d\d-\d\dT[\d:]+)", line)
    return Node(int(processors[1]), sum(gpus), int(datetime.fromisoformat(booted[1]).timestamp()) if booted else None)


ALONE = "--exclusive"
"""The option by which Slurm runs nothing else on the node of a job."""

_SAME_BOOT_S = 120
"""Times of the same boot differ by this much at most: they are computed from clocks, which are set."""

_ALIAS = re.compile(r"[a-z][a-z0-9]{0,15}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Cluster:
    """The nodes that measure; none where everything is measured on the machine of Snakemake.

    Attributes:
        names: the names that the cluster uses, by alias.
        known: their hardware, by alias; empty where there is no scheduler.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Node] = field(default_factory=dict)

    @property
    def aliases(self) -> list[str]:
        """The aliases of the nodes in the configuration, or of the nodes in a plan."""
        return list(self.names or self.known)

    def check_named(self, nodes: Iterable[str]) -> None:
        """Make sure that the nodes that are to measure have names.

        Args:
            nodes: aliases.

        Raises:
            FramewattError: a node has none, as where a study on nodes is continued without `nodes` in the config.
        """
        unnamed = [node for node in dict.fromkeys(nodes) if node not in self.names]
        if unnamed:
            given = ", ".join(f"{node}: <name>" for node in unnamed)
            raise FramewattError(
                f"nodes: {', '.join(unnamed)} measured this study so far and have no name now. Name them with --config "
                f"nodes='{{{given}}}', or give a study that is measured here another name."
            )

    def device(self, wanted: str) -> str:
        """Return `cpu` or `cuda`, as the nodes have it.

        Args:
            wanted: cpu, cuda or auto.

        Raises:
            FramewattError: it is auto, and only some nodes have a GPU, or their hardware is unknown.
        """
        if wanted != "auto":
            return "cuda" if wanted == "cuda" else "cpu"
        return "cuda" if self._common("device", lambda node: node.gpus > 0) else "cpu"

    def processors(self, threads: object) -> int:
        """Return how many processors a process may use on every node.

        Args:
            threads: the study's setting: a number, or auto.

        Raises:
            FramewattError: it is auto, and the nodes have different numbers, or their hardware is unknown.
        """
        if threads == "auto":
            return int(self._common("threads", lambda node: node.processors))
        return min((node.processors for node in self.known.values()), default=1)

    def boot_of(self, node: str, idle: Mapping[str, Any]) -> str | None:
        """Return a name of the present boot of a node; None where a record of idle power is from this boot.

        It is also None where the time of a boot is unknown: a run then checks the boot itself, and refuses to start.

        Args:
            node: alias.
            idle: the record, with the time of the boot.
        """
        now, then = self.known[node].booted_s if node in self.known else None, idle.get("booted_s")
        if now is None or not isinstance(then, int) or abs(now - then) <= _SAME_BOOT_S:
            return None
        return f"{now:x}"

    def _common(self, key: str, read: Callable[[Node], Any]) -> Any:
        """Return a property that is equal on all nodes."""
        if not self.known:
            raise FramewattError(
                f"{key}: auto needs the hardware of the nodes, and there is no scontrol. Set {key} in the study."
            )
        values = {alias: read(node) for alias, node in self.known.items()}
        if len({*values.values()}) > 1:
            listed = ", ".join(f"{value} on {alias}" for alias, value in values.items())
            raise FramewattError(
                f"{key}: auto would be {listed}, and every block must have the same cells. Set {key} in the study, or "
                "name equal nodes."
            )
        return next(iter(values.values()))

    def slurm_options(self, node: str) -> str:
        """Return the options of Slurm by which a job has its node to itself."""
        return f"{ALONE} --nodelist={self.names[node]}" if node in self.names else ALONE

    def check_alone(self, rule: str, node: str, options: object) -> None:
        """Make sure that a job which measures will be alone, on its own node.

        Args:
            rule: of the job.
            node: alias; NOWHERE where none was named.
            options: its resource `slurm_extra`.

        Raises:
            FramewattError: it will not.
        """
        if node == NOWHERE:
            raise FramewattError(
                f"nodes: {rule} would run on any node of the cluster, since no node is named. Name the nodes that "
                "measure, as --config nodes='{a: <name>, b: <name>}' (docs/clusters.md)."
            )
        wanted = self.slurm_options(node)
        if not {*wanted.split()} <= {*str(options).split()}:
            raise FramewattError(
                f"slurm_extra: {options!r} of {rule} lacks {wanted}, so that other jobs could run during a measurement."
                " Remove slurm_extra from set-resources."
            )


def cluster_of(names: Mapping[str, Any], plan: Mapping[str, Any] | None = None) -> Cluster:
    """Return the cluster of a configuration.

    Args:
        names: the configuration's `nodes`.
        plan: the study's last plan. It has the hardware of its nodes, so that results of a cluster can be opened
            anywhere without `nodes`.

    Raises:
        FramewattError: an alias or a name is not valid, two aliases are one node, or Slurm does not know a node.
    """
    if not names:
        placement = placement_of(plan)
        planned = plan or {}
        node = Node(int(planned.get("threads") or 1), int(planned.get("device") == "cuda"))
        return Cluster({}, dict.fromkeys(nodes_of(placement), node) if placement else {})
    for alias, name in names.items():
        if not _ALIAS.fullmatch(str(alias)) or str(alias) in ("idle", "instruments"):
            raise FramewattError(
                f"nodes: {alias!r} is not an alias. Use up to 16 small letters and digits, a letter first."
            )
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise FramewattError(f"nodes.{alias}: {name!r} is not the name of a node. Use a name that sinfo -N lists.")
        if alias == name:
            raise FramewattError(
                f"nodes.{alias}: the alias is the node's own name, and results must not contain names of hosts. Use "
                "another alias, such as a."
            )
    if len({*names.values()}) < len(names):
        twice = next(name for name in names.values() if [*names.values()].count(name) > 1)
        raise FramewattError(
            f"nodes: {twice} has two aliases, which would count as two machines. Give every node one alias."
        )
    return Cluster(dict(names), read_nodes(names))


def place(node: str) -> str:
    """Return a node as paths have it, between `calibrate/` and a file's name: `a/`, or nothing without nodes."""
    return f"{node}/" if node != NOWHERE else ""


def node_at(place: str) -> str:
    """Return the alias of a node from its form in paths."""
    return place.removesuffix("/")
