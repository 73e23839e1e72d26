"""On which node of a cluster this process runs, and whether that is the one that was planned for its job."""

import json
import os
import socket
import time
from collections.abc import Mapping

from framewatt.base.errors import FramewattError

VARIABLE = "FRAMEWATT_NODES"
"""The names of the nodes by alias, as JSON; jobs get it through the environment, since it is no part of results."""

_SLURMS = "SLURMD_NODENAME"
"""Slurm's own name of the node of a job step; several nodes may be one host."""


def share_nodes(nodes: Mapping[str, str]) -> None:
    """Let every job know the nodes.

    Args:
        nodes: names by alias.
    """
    os.environ[VARIABLE] = json.dumps(dict(nodes))


def check_node(planned: str | None) -> None:
    """Make sure that a job runs where it was planned to.

    Args:
        planned: alias of its node; None where the study has no nodes.

    Raises:
        FramewattError: it runs on another node, or nobody has said which node the alias stands for.
    """
    if planned is None:
        return
    nodes = json.loads(os.environ.get(VARIABLE) or "{}")
    if planned not in nodes:
        raise FramewattError(
            f"node {planned}: found no name for it; allowed: one that --config nodes='{{{planned}: <name>}}' gives"
        )
    here = _names_here()
    if nodes[planned] not in here:
        raise FramewattError(
            f"node {planned}: found that this job runs on {here[0]}; allowed: {nodes[planned]}, on which this block "
            "was planned, and whose idle power corrects it; nothing is measured"
        )


def booted_s() -> int:
    """When this node was booted, in seconds since 1970."""
    return round(time.time() - time.clock_gettime(time.CLOCK_BOOTTIME))


def _names_here() -> list[str]:
    """The names that this node goes by."""
    if name := os.environ.get(_SLURMS):
        return [name]
    host = socket.gethostname()
    return [host, host.split(".")[0]]
