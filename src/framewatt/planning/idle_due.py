"""What is due of what is measured of each node beside its runs: its meters, and its idle power before and after."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from framewatt.planning.job_hash import job_sha256
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.placement import NOWHERE, calibration_of
from framewatt.planning.staleness import ASKED, Forced, Runs, clock_in, content_of, of_idle
from framewatt.study.cell import run_name

IDLE = "idle"
"""Name of the file of a node's idle power before the runs, without its ending."""

Boot = Callable[[str, Mapping[str, Any]], str | None]
"""Of a node and a record of its idle power: None where that is of the node's present boot, else a name of this one."""


def of_nodes(made: Mapping[str, str], name: str, rule: str, results: Path, asked: Forced) -> dict[str, str]:
    """What is due of what is measured of every node before the runs, by node.

    Args:
        made: hash of its job, by node.
        name: of its file, without the ending.
        rule: that makes it.
        results: results/<study>.
        asked: see due.due_of.
    """
    found = {}
    for node, sha256 in made.items():
        path = calibration_of(results, node) / f"{name}.json"
        reason = of_idle(path, sha256)
        if not reason and asked(rule, path.relative_to(results).as_posix()):
            reason = ASKED
        if reason:
            found[node] = reason
    return found


def idle_after_due(
    hashes: JobHashes, plan: Mapping[str, Any], results: Path, measuring: Collection[str], known: Runs
) -> dict[str, str]:
    """Why the idle power after the runs is due, by node.

    Args:
        hashes: of all jobs.
        plan: the study's.
        results: results/<study>.
        measuring: nodes of which runs are due.
        known: the runs that were looked at.
    """
    found = dict.fromkeys(measuring, "after other runs")
    for node, sha256 in hashes.idle.items():
        path = calibration_of(results, node) / "idle_after.json"
        if node not in found and (
            reason := of_idle(path, idle_after_sha256(sha256, results, plan, node, known.clock_of))
        ):
            found[node] = reason
    return found


def in_force(results: Path, node: str, boot: Boot) -> str:
    """Name of the file of the idle power of a node's present boot: after another one, it has a file of its own.

    Args:
        results: results/<study>.
        node: whose.
        boot: see due.due_of.
    """
    name, folder = IDLE, calibration_of(results, node)
    for path in (folder / f"{IDLE}.json", *sorted(folder.glob(f"{IDLE}_[0-9a-f]*.json"))):
        there = content_of(path) if path.stem != "idle_after" else None
        if there is None:
            continue
        if (now := boot(node, there)) is None:
            return path.stem
        name = f"{IDLE}_{now}"
    return name


def idle_after_sha256(
    idle_sha256: str,
    results: Path,
    plan: Mapping[str, Any],
    node: str = NOWHERE,
    clock_of: Callable[[Path], tuple[Any, ...]] = clock_in,
) -> str:
    """Hash of the idle power after the runs: of how it is read, and of the runs before it.

    Args:
        idle_sha256: see JobHashes.idle.
        results: results/<study>.
        plan: the study's plan.
        node: whose idle power it is; the runs are those that this node measured.
        clock_of: the clock of a run's record by the run's folder, see staleness.clock_in.
    """
    there = (entry for entry in plan["order"] if entry.get("node", NOWHERE) == node)
    folders = (results / "measure" / run_name(entry) for entry in there)
    return job_sha256({"idle": idle_sha256, "runs": [clock for folder in folders for clock in clock_of(folder)]})
