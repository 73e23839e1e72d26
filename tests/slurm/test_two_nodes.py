"""A study on a Slurm of two nodes: both measure at once, each one run at a time; one is lost, and nothing with it.

`make test-slurm` runs it.
"""

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import psutil
import pytest
from checkout import Answer
from hardware.slurm_cluster import NODES, SlurmCluster, slurm_cluster, why_not
from two_nodes import BLOCKS, FRAME, LONG_S, PROFILE, OnNodes, ended, measures, processes_of

from framewatt.base.files import read_json
from framewatt.frames.occupancy import at_once_s, occupied, overlaps
from framewatt.planning.job_hash import idle_domains_sha256

pytestmark = [pytest.mark.slurm, pytest.mark.skipif(why_not() is not None, reason=str(why_not()))]


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    with slurm_cluster() as found:
        yield found


@pytest.fixture(scope="module")
def study(cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[OnNodes, Answer, Answer]:
    """The study after two calls; in the first, node b was lost while it measured, and came back."""
    checkout = OnNodes(tmp_path_factory.mktemp("two"))
    first = checkout.on_slurm()
    try:
        deadline = time.monotonic() + LONG_S
        while first.poll() is None and time.monotonic() < deadline:
            # A whole block of node b lies behind.
            if len(list(checkout.root.glob("results/two/measure/*/2/run.json"))) < 2:
                time.sleep(0.5)
            elif measures(there := processes_of(NODES["b"])):
                break
        assert first.poll() is None, ended(first).text
        kept = {path: path.read_bytes() for path in checkout.records}
        cluster.kill(NODES["b"])
        for process in there:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        cluster.start_node(NODES["b"])
        lost = ended(first)
        assert {path: path.read_bytes() for path in kept} == kept
        whole = ended(checkout.on_slurm())
        assert {path: path.read_bytes() for path in kept} == kept
    finally:
        if first.poll() is None:
            first.terminate()
            first.wait(60)
    return checkout, lost, whole


def test_a_lost_node_costs_its_run_and_no_other(study: tuple[OnNodes, Answer, Answer]) -> None:
    _, lost, whole = study
    assert lost.code == 1, lost.text
    (due,) = whole.lines("due: ")
    assert due == f"due: 1 of {2 * BLOCKS} runs are due: 1 not measured", lost.text
    assert whole.code == 0, whole.text


def test_both_nodes_measured_at_once_and_each_one_run_at_a_time(study: tuple[OnNodes, Answer, Answer]) -> None:
    checkout, _, _ = study
    runs = occupied(checkout.records.values())
    assert len(runs) == 2 * BLOCKS
    assert overlaps(runs) == []
    assert at_once_s(runs) > 0.5
    # Blocks are contiguous: nothing else of the study lies between the runs of one.
    assert [run.block for run in runs if run.node == "a"] == [1, 1, 3, 3]


def test_a_block_is_measured_by_one_node_and_corrected_by_its_idle_power(study: tuple[OnNodes, Answer, Answer]) -> None:
    checkout, _, _ = study
    nodes = {(record["block"], record["node"]) for record in checkout.records.values()}
    assert sorted(nodes) == [(1, "a"), (2, "b"), (3, "a"), (4, "b")]
    folder = checkout.root / "results/two/calibrate"
    idle = {node: read_json(folder / node / "idle.json") for node in NODES}
    assert {name: one["node"] for name, one in idle.items()} == {name: name for name in NODES}
    for record in checkout.records.values():
        assert record["identity"]["idle_sha256"] == idle_domains_sha256(idle[record["node"]])
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.json")}
    assert files == {f"{node}/{name}.json" for node in NODES for name in ("idle", "idle_after", "instruments")}


def test_frames_have_two_machines_and_results_no_name_of_a_node(study: tuple[OnNodes, Answer, Answer]) -> None:
    checkout, _, _ = study
    frame = pd.read_parquet(checkout.root / FRAME)
    assert sorted(name[-2:] for name in frame["machine"].unique()) == ["-a", "-b"]
    names = [*NODES.values(), socket.gethostname()]
    for path in (checkout.root / "results").rglob("*.json"):
        assert not [name for name in names if f'"{name}"' in path.read_text()], path


def test_without_the_nodes_nothing_is_measured_elsewhere(study: tuple[OnNodes, Answer, Answer]) -> None:
    checkout, _, _ = study
    assert ended(checkout.call("--cores", "1", "-n", FRAME, config=[])).code == 0
    run = next(iter(checkout.records))
    kept = run.read_bytes()
    run.unlink()
    try:
        refused = ended(checkout.call("--cores", "1", FRAME, config=[]))
        assert refused.code == 1
        assert refused.lines("framewatt: nodes: a, b measured this study so far and have no name now"), refused.text
    finally:
        run.write_bytes(kept)


def test_a_cluster_without_named_nodes_measures_nothing(cluster: SlurmCluster, tmp_path: Path) -> None:
    answer = ended(OnNodes(tmp_path / "other").call(*PROFILE, FRAME, config=[]))
    assert answer.code == 1
    assert "would run on any node of the cluster, since no node is named" in answer.text, answer.text
    assert not list((tmp_path / "other/results").glob("*/measure"))
