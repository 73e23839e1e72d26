"""What nodes of a cluster have, as Slurm says: asked once by the call that plans, and told to its jobs."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from framewatt.base.errors import FramewattError

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
    known = _asked(names) if shutil.which("scontrol") else {}
    os.environ[VARIABLE] = json.dumps(
        {"names": dict(names), "known": {alias: asdict(one) for alias, one in known.items()}}
    )
    return known


def _asked(names: Mapping[str, str]) -> dict[str, Node]:
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
        node = node_told(done.stdout) if done.returncode == 0 else None
        if node is None:
            said = (done.stdout + done.stderr).strip().splitlines()
            raise FramewattError(
                f"nodes.{alias}: found {name!r}, of which scontrol says {said[0] if said else 'nothing'!r}; allowed: "
                "a node that sinfo -N shows"
            )
        known[alias] = node
    return known


def node_told(line: str) -> Node | None:
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
