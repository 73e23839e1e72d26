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
    """Pass the names of the nodes to every job.

    Args:
        nodes: names by alias.
    """
    os.environ[VARIABLE] = json.dumps(dict(nodes))


def check_node(planned: str | None) -> None:
    """Check that a job runs on its planned node.

    Args:
        planned: alias of its node; None where the study has no nodes.

    Raises:
        FramewattError: it runs on another node, or no name is given for the alias.
    """
    if planned is None:
        return
    nodes = json.loads(os.environ.get(VARIABLE) or "{}")
    if planned not in nodes:
        raise FramewattError(f"node {planned} has no name. Give one: --config nodes='{{{planned}: <name>}}'.")
    here = _names_here()
    if nodes[planned] not in here:
        raise FramewattError(
            f"node {planned}: this job runs on {here[0]}, but its block is planned on {nodes[planned]}, and the idle "
            f"power of that node corrects it. Nothing is measured; send the job to {nodes[planned]}."
        )


def booted_s() -> int:
    """Return the time at which this node was booted, in seconds since 1970."""
    return round(time.time() - time.clock_gettime(time.CLOCK_BOOTTIME))


def _names_here() -> list[str]:
    """Return the names of this node."""
    if name := os.environ.get(_SLURMS):
        return [name]
    host = socket.gethostname()
    return [host, host.split(".")[0]]
