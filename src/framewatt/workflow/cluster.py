"""The nodes of a cluster that measure a study: which there are, what they have, what a job asks the scheduler for.

Slurm is asked once, by the call that plans, which passes its answer to its jobs.
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
"""What is known of the nodes, as JSON: jobs are told what the call that plans them was, and do not ask again."""

_ASKING_S = 30


@dataclass(frozen=True)
class Node:
    """What the scheduler knows of a node.

    Attributes:
        processors: logical ones.
        gpus: how many.
        booted_s: when it was booted, in seconds since 1970; None where that is not known.
    """

    processors: int
    gpus: int
    booted_s: int | None = None


def known_of(names: Mapping[str, str]) -> dict[str, Node]:
    """What the nodes have: as the call that planned this job found it, or as Slurm says."""
    told = json.loads(os.environ.get(VARIABLE) or "{}")
    if told.get("names") == dict(names):
        return {alias: Node(**node) for alias, node in told["known"].items()}
    known = _nodes_of_slurm(names) if shutil.which("scontrol") else {}
    os.environ[VARIABLE] = json.dumps(
        {"names": dict(names), "known": {alias: asdict(one) for alias, one in known.items()}}
    )
    return known


def _nodes_of_slurm(names: Mapping[str, str]) -> dict[str, Node]:
    """What Slurm says of some nodes."""
    known = {}
    for alias, name in names.items():
        try:
            done = subprocess.run(
                ["scontrol", "--oneliner", "show", "node", name],
                capture_output=True,
                text=True,
                check=False,
                timeout=_ASKING_S,
            )
        except subprocess.TimeoutExpired as late:
            raise FramewattError(
                f"nodes.{alias}: found no answer of scontrol in {_ASKING_S} s; allowed: a Slurm that answers"
            ) from late
        node = node_of_line(done.stdout) if done.returncode == 0 else None
        if node is None:
            said = (done.stdout + done.stderr).strip().splitlines()
            raise FramewattError(
                f"nodes.{alias}: found {name!r}, of which scontrol says {said[0] if said else 'nothing'!r}; allowed: "
                "a node that sinfo -N shows"
            )
        known[alias] = node
    return known


def node_of_line(line: str) -> Node | None:
    """What a line of `scontrol --oneliner show node` says; None where it is none."""
    processors = re.search(r"\bCPUTot=(\d+)", line)
    if not processors:
        return None
    gres = re.search(r"\bGres=(\S+)", line)
    # As gpu:2, gpu:a100:2 or gpu:a100:2(S:0-1), perhaps among others.
    told = [entry.split(":") for entry in re.sub(r"\([^)]*\)", "", gres[1] if gres else "").split(",")]
    gpus = [int(words[-1]) if words[-1].isdecimal() else 1 for words in told if words[0] == "gpu"]
    booted = re.search(r"\bBootTime=(\d{4}-\d\d-\d\dT[\d:]+)", line)
    return Node(int(processors[1]), sum(gpus), int(datetime.fromisoformat(booted[1]).timestamp()) if booted else None)


ALONE = "--exclusive"
"""What Slurm is told so that nothing else runs on the node of a job."""

_SAME_BOOT_S = 120
"""Times of one boot, which is now less the time since, may differ by as much as clocks are set."""

_ALIAS = re.compile(r"[a-z][a-z0-9]{0,15}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Cluster:
    """The nodes that measure; none where everything is measured where Snakemake runs.

    Attributes:
        names: the cluster's, by alias.
        known: what they have, by alias; empty where no scheduler was there to ask.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Node] = field(default_factory=dict)

    @property
    def aliases(self) -> list[str]:
        """The aliases: of the nodes that are named, or of those that a plan has."""
        return list(self.names or self.known)

    def check_named(self, nodes: Iterable[str]) -> None:
        """Make sure that the nodes that are to measure have names.

        Args:
            nodes: aliases.

        Raises:
            FramewattError: one has none, as where a study that nodes have measured goes on without the configuration's.
        """
        unnamed = [node for node in dict.fromkeys(nodes) if node not in self.names]
        if unnamed:
            given = ", ".join(f"{node}: <name>" for node in unnamed)
            raise FramewattError(
                f"nodes: found no name for {', '.join(unnamed)}, which measured this study so far; allowed: --config "
                f"nodes='{{{given}}}', or another study name for a study that is measured here"
            )

    def device(self, wanted: str) -> str:
        """`cpu` or `cuda`, by what the nodes have.

        Args:
            wanted: cpu, cuda or auto.

        Raises:
            FramewattError: it is auto, and some nodes have a GPU and some have none, or nobody knows.
        """
        if wanted != "auto":
            return "cuda" if wanted == "cuda" else "cpu"
        return "cuda" if self._same("device", lambda node: node.gpus > 0) else "cpu"

    def processors(self, threads: object) -> int:
        """How many processors a process may use on every node.

        Args:
            threads: the study's: a number, or auto.

        Raises:
            FramewattError: it is auto, and the nodes differ in it, or nobody knows.
        """
        if threads == "auto":
            return int(self._same("threads", lambda node: node.processors))
        return min((node.processors for node in self.known.values()), default=1)

    def boot_of(self, node: str, idle: Mapping[str, Any]) -> str | None:
        """A name of the present boot of a node, where an idle power is of another one; None where it is of this one.

        It is None, too, where nobody knows when the node was booted; a run then finds it out, and refuses.

        Args:
            node: alias.
            idle: the record, which tells when the node had been booted.
        """
        now, then = self.known[node].booted_s if node in self.known else None, idle.get("booted_s")
        if now is None or not isinstance(then, int) or abs(now - then) <= _SAME_BOOT_S:
            return None
        return f"{now:x}"

    def _same(self, key: str, of: Callable[[Node], Any]) -> Any:
        """What all nodes have alike."""
        if not self.known:
            raise FramewattError(
                f"{key}: found auto, and no scontrol that says what the nodes have; allowed: a value in the study"
            )
        found = {alias: of(node) for alias, node in self.known.items()}
        if len({*found.values()}) > 1:
            told = ", ".join(f"{value} on {alias}" for alias, value in found.items())
            raise FramewattError(
                f"{key}: found auto, which would be {told}; allowed: a value in the study, or nodes that are alike, "
                "since every block has the same cells"
            )
        return next(iter(found.values()))

    def slurm_options(self, node: str) -> str:
        """Return options of Slurm besides a job's resources, by which it is alone on its node."""
        return f"{ALONE} --nodelist={self.names[node]}" if node in self.names else ALONE

    def check_alone(self, rule: str, node: str, told: object) -> None:
        """Make sure that a job which measures will be alone, on its own node.

        Args:
            rule: of the job.
            node: alias; NOWHERE where none was named.
            told: its resource `slurm_extra`.

        Raises:
            FramewattError: it will not.
        """
        if node == NOWHERE:
            raise FramewattError(
                f"nodes: found none for {rule}, whose job another machine would run; allowed: names of the cluster's "
                "nodes that measure, as --config nodes='{a: <name>, b: <name>}' (docs/clusters.md)"
            )
        wanted = self.slurm_options(node)
        if not {*wanted.split()} <= {*str(told).split()}:
            raise FramewattError(
                f"slurm_extra: found {told!r} for {rule}; allowed: one that has {wanted}, so that nothing runs "
                "beside a measurement; take it out of set-resources"
            )


def cluster_of(names: Mapping[str, Any], plan: Mapping[str, Any] | None = None) -> Cluster:
    """The cluster of a configuration.

    Args:
        names: the configuration's `nodes`.
        plan: the study's last one, which says what its nodes had where the configuration names none: results of a
            cluster can be looked at anywhere.

    Raises:
        FramewattError: an alias or a name cannot be one, two aliases are one node, or Slurm does not know a node.
    """
    if not names:
        placement = placement_of(plan)
        told = plan or {}
        node = Node(int(told.get("threads") or 1), int(told.get("device") == "cuda"))
        return Cluster({}, dict.fromkeys(nodes_of(placement), node) if placement else {})
    for alias, name in names.items():
        if not _ALIAS.fullmatch(str(alias)) or str(alias) in ("idle", "instruments"):
            raise FramewattError(
                f"nodes: found the alias {alias!r}; allowed: up to 16 small letters and digits, a letter first"
            )
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise FramewattError(f"nodes.{alias}: found {name!r}; allowed: the name of one node, as sinfo -N shows it")
        if alias == name:
            raise FramewattError(
                f"nodes.{alias}: found the node's own name as its alias; allowed: another one, such as a, since "
                "results hold aliases and no names of hosts"
            )
    if len({*names.values()}) < len(names):
        twice = next(name for name in names.values() if [*names.values()].count(name) > 1)
        raise FramewattError(
            f"nodes: found {twice} under two aliases; allowed: one each, as they count as two machines"
        )
    return Cluster(dict(names), known_of(names))


def place(node: str) -> str:
    """A node as paths have it, between `calibrate/` and a file's name: `a/`, or nothing where there are no nodes."""
    return f"{node}/" if node != NOWHERE else ""


def node_at(found: str) -> str:
    """The alias of a node as paths have it."""
    return found.removesuffix("/")
