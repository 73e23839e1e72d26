"""Which node of a cluster measures which block of a study (pure).

A node has an alias, since nothing in results may hold the name of a host. A study that is measured where Snakemake runs
has no nodes: its blocks are in no placement, and NOWHERE stands for the alias.

A block is measured by one node as a whole, so that its cells stay paired and the node's share cancels.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

NOWHERE = ""
"""The alias of the machine of a study without nodes."""

Placement = Mapping[int, str]
"""The alias of its node by block; empty where a study has no nodes."""


def dealt(nodes: Sequence[str], blocks: int, before: Placement) -> dict[int, str]:
    """Deal the blocks of a study out to nodes, in turn.

    A block stays with the node that it had before, so that finished runs stay when a node is added. If its node
    is gone, it goes to another.

    Args:
        nodes: aliases; none places no block.
        blocks: how many there may be.
        before: the placement of the study's last plan.
    """
    if not nodes:
        return {}
    placed = {block: node for block, node in before.items() if node in nodes and 1 <= block <= blocks}
    count = Counter(placed.values())
    dealt_to = {}
    for block in range(1, blocks + 1):
        node = placed.get(block)
        if node is None:
            node = min(nodes, key=lambda alias: (count[alias], nodes.index(alias)))
            count[node] += 1
        dealt_to[block] = node
    return dealt_to


def placement_of(plan: Mapping[str, Any] | None) -> dict[int, str]:
    """Return the placement of a plan, which may be untrusted.

    Args:
        plan: plan.json; None where there is none.
    """
    entries = (plan or {}).get("order")
    return {
        entry["repetition"]: entry["node"]
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping)
        and isinstance(entry.get("repetition"), int)
        and isinstance(entry.get("node"), str)
    }


def nodes_of(placement: Placement) -> list[str]:
    """The nodes that measure, in the order of their first blocks; NOWHERE alone for a study without nodes."""
    return list(dict.fromkeys(placement[block] for block in sorted(placement))) or [NOWHERE]


def calibration_of(results: Path, node: str) -> Path:
    """The folder of what is measured of a node before and after the runs.

    Args:
        results: results/<study>.
        node: alias; NOWHERE is the machine of a study without nodes.
    """
    return results / "calibrate" / node


def calibrations(results: Path, nodes: Iterable[str]) -> list[Path]:
    """The folders of some nodes."""
    return [calibration_of(results, node) for node in nodes]
