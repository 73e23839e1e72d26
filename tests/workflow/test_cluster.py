"""Nodes of a cluster: who may be one, what they have, where blocks go, and who may measure."""

import dataclasses
import json
from datetime import datetime
from pathlib import Path

import pytest
from records_factory import run_record, window
from study_factory import hashes_of, loaded
from test_keys import BASE

from framewatt.base.errors import FramewattError
from framewatt.base.files import write_json
from framewatt.frames.frames import runs_frame
from framewatt.frames.occupancy import at_once_s, occupied, overlaps
from framewatt.host import node
from framewatt.planning.due import Due, due_of
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.placement import dealt, nodes_of, placement_of
from framewatt.planning.plan import plan_of
from framewatt.planning.stages_due import Boot
from framewatt.workflow import cluster, nodes
from framewatt.workflow.cluster import Cluster, Node, cluster_of, node_of_line
from framewatt.workflow.setup import without_roots

NAMES = {"a": "alpha", "b": "beta"}
ALIKE = {"a": Node(8, 1), "b": Node(8, 2)}
S = 1_000_000_000


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cluster is here, whatever the machine that tests has."""
    monkeypatch.setattr(cluster.shutil, "which", lambda name: None)
    for name in (cluster.VARIABLE, node.VARIABLE, node._SLURMS):
        monkeypatch.setenv(name, "")


def test_blocks_are_dealt_in_turn_and_stay_where_they_were() -> None:
    two = dealt(["a", "b"], 4, {})
    assert two == {1: "a", 2: "b", 3: "a", 4: "b"}
    assert dealt(["a", "b"], 4, two) == two
    # A node more takes new blocks; finished ones stay, so that nothing is measured again.
    assert dealt(["a", "b", "c"], 6, two) == {**two, 5: "c", 6: "c"}
    # The blocks of a node that is gone go to the others, and no others move.
    assert dealt(["a", "c"], 4, two) == {1: "a", 2: "c", 3: "a", 4: "c"}
    assert dealt(["a", "b"], 1, two) == {1: "a"}
    assert dealt([], 4, two) == {}


@pytest.mark.parametrize(
    "plan", [None, {}, {"order": 3}, {"order": [None, {"repetition": "1", "node": "a"}, {"node": 1}]}]
)
def test_a_plan_that_names_no_nodes_places_nothing(plan: dict | None) -> None:
    assert placement_of(plan) == {}
    assert nodes_of({}) == [""]


def placed(folder: Path, placement: dict[int, str]) -> JobHashes:
    return dataclasses.replace(hashes_of(loaded(folder, BASE)), placement=placement)


def test_a_run_is_its_nodes_and_without_nodes_nothing_changes(tmp_path: Path) -> None:
    alone, both = placed(tmp_path, {}), placed(tmp_path, {1: "a", 2: "b"})
    cell = alone.study.cells[0]
    assert not any("node" in entry for entry in plan_of(alone)["order"])
    assert {entry["repetition"]: entry["node"] for entry in plan_of(both)["order"]} == {1: "a", 2: "b"}
    assert placement_of(plan_of(both)) == both.placement
    # Idle power of one node is not that of the other, nor is a run of it.
    assert len({*both.idle.values(), *alone.idle.values()}) == 3
    assert both.run(cell, 1) != alone.run(cell, 1)
    assert both.run(cell, 1) == placed(tmp_path, {1: "a", 2: "a"}).run(cell, 1)
    assert both.run(cell, 2) != placed(tmp_path, {1: "a", 2: "a"}).run(cell, 2)


def due(hashes: JobHashes, results: Path, boot: Boot = lambda node, idle: None) -> Due:
    return due_of(hashes, plan_of(hashes), results, results / "none", lambda rule, path: False, boot)


def test_idle_power_is_due_node_by_node(tmp_path: Path) -> None:
    hashes, results = placed(tmp_path, {1: "a", 2: "b"}), tmp_path / "results"
    assert set(due(hashes, results).idle) == {"a", "b"}
    write_json(results / "calibrate/a/idle.json", {"job_sha256": hashes.idle["a"]})
    assert set(due(hashes, results).idle) == {"b"}
    # What lies in another node's place is not taken for its own.
    write_json(results / "calibrate/b/idle.json", {"job_sha256": hashes.idle["a"]})
    assert due(hashes, results).idle == {"b": "made under other settings"}
    write_json(results / "calibrate/idle.json", {"job_sha256": hashes.idle["b"]})
    assert set(due(hashes, results).idle) == {"b"}


def test_after_a_reboot_idle_power_of_the_new_boot_is_due_in_a_file_of_its_own(tmp_path: Path) -> None:
    hashes, results = placed(tmp_path, {1: "a", 2: "b"}), tmp_path / "results"
    both = Cluster(NAMES, {"a": Node(8, 0, 1_000_000), "b": Node(8, 0, 2_000_000)})
    for alias, booted_s in (("a", 1_000_003), ("b", 1_000_000)):
        record = {"job_sha256": hashes.idle[alias], "node": alias, "booted_s": booted_s}
        write_json(results / f"calibrate/{alias}/idle.json", record)
        write_json(results / f"calibrate/{alias}/idle_after.json", record)
    found = due(hashes, results, both.boot_of)
    assert dict(found.idle) == {}
    assert dict(found.in_force) == {"a": "idle", "b": "idle_1e8480"}
    assert dict(found.idle_session) == {"b": "not measured"}
    # What was measured before stays; what is measured now has its own idle power, once.
    write_json(results / "calibrate/b/idle_1e8480.json", {"job_sha256": hashes.idle["b"], "booted_s": 2_000_001})
    assert due(hashes, results, both.boot_of).in_force == found.in_force
    assert not due(hashes, results, both.boot_of).idle_session
    # Where nobody knows of a boot, the run finds out.
    assert Cluster(NAMES).boot_of("a", {"booted_s": 1}) is None
    assert both.boot_of("a", {}) is None


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ({"a": "alpha", "b": "alpha"}, "alpha has two aliases"),
        ({"alpha": "alpha"}, "the alias is the node's own name"),
        ({"Node 1": "alpha"}, "'Node 1' is not an alias. Use up to 16 small letters"),
        ({"../a": "alpha"}, "'../a' is not an alias"),
        ({"a": "alpha,beta"}, "'alpha,beta' is not the name of a node"),
        ({"a": "x --overcommit"}, "is not the name of a node"),
        ({"a": 3}, "3 is not the name of a node"),
    ],
)
def test_what_cannot_be_a_node_is_refused(names: dict, found: str) -> None:
    with pytest.raises(FramewattError, match=found):
        cluster_of(names)


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("(null)", 0),
        ("gpu:h200:1", 1),
        ("gpu:4", 4),
        ("tmp:9,gpu:a100:2(S:0,1)", 2),
        ("gpu:a:1,gpu:b:2", 3),
        ("mygpu:3", 0),
    ],
)
def test_what_slurm_says_of_a_node(gres: str, gpus: int) -> None:
    assert node_of_line(f"NodeName=alpha CPUAlloc=3 CPUEfctv=14 CPUTot=16 Gres={gres} GresDrain=N/A") == Node(16, gpus)
    told = node_of_line("NodeName=alpha CPUTot=16 Gres=(null) BootTime=2026-11-26T04:56:56 SlurmdStartTime=None")
    assert told is not None
    assert datetime.fromtimestamp(told.booted_s or 0).isoformat() == "2026-11-26T04:56:56"
    assert node_of_line("NodeName=alpha CPUTot=16 Gres=(null) BootTime=None") == Node(16, 0)
    assert node_of_line("Node gamma not found") is None


def test_auto_is_what_the_nodes_have_and_not_what_the_head_has() -> None:
    both = Cluster(NAMES, ALIKE)
    assert (both.device("auto"), both.processors("auto")) == ("cuda", 8)
    mixed = Cluster(NAMES, {"a": Node(64, 0), "b": Node(32, 1)})
    assert (mixed.device("cpu"), mixed.processors(4)) == ("cpu", 32)
    with pytest.raises(FramewattError, match=r"auto would be 64 on a, 32 on b, .* Set threads in the study"):
        mixed.processors("auto")
    with pytest.raises(FramewattError, match="device: auto would be"):
        mixed.device("auto")
    with pytest.raises(FramewattError, match="there is no scontrol"):
        cluster_of(NAMES).processors("auto")


def test_jobs_do_not_ask_again_and_names_are_private(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"names": NAMES, "known": {name: dataclasses.asdict(one) for name, one in ALIKE.items()}}
    monkeypatch.setenv(cluster.VARIABLE, json.dumps(told))
    assert cluster_of(NAMES) == Cluster(NAMES, ALIKE)
    assert cluster_of({"a": "alpha"}).known == {}
    assert without_roots({"study": "x", "nodes": NAMES}) == {"study": "x", "nodes": {"a": "<node>", "b": "<node>"}}
    assert without_roots({"study": "x", "nodes": {}}) == {"study": "x", "nodes": {}}


def test_results_of_nodes_are_looked_at_anywhere_and_measured_by_none_without_names(tmp_path: Path) -> None:
    plan = plan_of(placed(tmp_path, {1: "a", 2: "b"}))
    here = cluster_of({}, plan)
    assert here.aliases == ["a", "b"]
    assert here.processors("auto") == plan["threads"]
    with pytest.raises(FramewattError, match="a, b measured this study so far and have no name now"):
        here.check_named(["a", "b", "a"])
    Cluster(NAMES).check_named(["a", "b"])
    assert cluster_of({}, {"order": []}) == cluster_of({}) == Cluster()


def test_a_job_that_measures_is_alone_or_does_not_start() -> None:
    both = Cluster(NAMES, ALIKE)
    both.check_alone("measure", "a", both.slurm_options("a"))
    both.check_alone("measure", "a", "--reservation=mine --nodelist=alpha --exclusive")
    for told in ("--nodelist=alpha", "--exclusive --nodelist=beta", "--exclusive=user --nodelist=alpha", None):
        with pytest.raises(FramewattError, match=r"slurm_extra: .* of measure lacks --exclusive"):
            both.check_alone("measure", "a", told)
    with pytest.raises(FramewattError, match="nodes: measure would run on any node"):
        Cluster().check_alone("measure", "", "--exclusive")


def test_a_job_on_another_node_than_planned_measures_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    node.share_nodes(NAMES)
    monkeypatch.setenv(node._SLURMS, "beta")
    node.check_node(None)
    node.check_node("b")
    with pytest.raises(FramewattError, match="node a: this job runs on beta, but its block is planned on alpha"):
        node.check_node("a")
    with pytest.raises(FramewattError, match="node c has no name"):
        node.check_node("c")
    monkeypatch.delenv(node._SLURMS)
    monkeypatch.setattr(node.socket, "gethostname", lambda: "alpha.cluster.example")
    node.check_node("a")


def test_nodes_of_like_hardware_are_two_machines() -> None:
    machine = {"cpu_model": "X", "processors": 2, "session": "s"}
    records = [
        run_record(repetition=n, position=n, block=n, node=one, machine=machine) for n, one in ((1, "a"), (2, "b"))
    ]
    drifts = {"a": {"cpu:package-0": 0.0}, "b": {"cpu:package-0": 1.0}}
    frame = runs_frame(records, drifts)
    first, second = (frame[frame["repetition"].eq(n) & frame["domain"].eq("cpu:package-0")].iloc[0] for n in (1, 2))
    assert first["machine"] != second["machine"]
    assert (first["machine"][-2:], second["machine"][-2:]) == ("-a", "-b")
    # Each has the drift of its own node: 1 W over 10 s beside 4 J.
    assert first["energy_net_uncertainty_j"] == 4.0
    assert second["energy_net_uncertainty_j"] == pytest.approx((4.0**2 + 10.0**2) ** 0.5)


def at(start_s: int, end_s: int, where: str, repetition: int, session: str = "s") -> dict:
    """A record of a run that took from one second to another."""
    span = window({}, start_s * S) | {"end_monotonic_ns": end_s * S}
    span |= {name: f"2026-01-01T00:00:{value:02}+00:00" for name, value in (("start_utc", start_s), ("end_utc", end_s))}
    about = {"repetition": repetition, "block": repetition, "machine": {"session": session}}
    return run_record(windows={"steady": span}, **about, **({"node": where} if where else {}))


def test_measurements_that_overlap_on_a_node_are_found_and_those_on_two_are_not() -> None:
    beside = occupied([at(0, 10, "a", 1), at(5, 15, "b", 2), at(10, 20, "a", 3)])
    assert overlaps(beside) == []
    assert at_once_s(beside) == 10.0
    within = occupied([at(0, 20, "a", 1), at(2, 4, "a", 2), at(6, 8, "a", 3), at(20, 21, "a", 4)])
    assert [(one.block, other.block) for one, other in overlaps(within)] == [(1, 2), (1, 3)]
    assert at_once_s(within) == 0.0
    # Of two boots, clocks say nothing of each other.
    assert overlaps(occupied([at(0, 10, "a", 1), at(5, 15, "a", 2, "other")])) == []
    assert overlaps(occupied([at(0, 10, "", 1), at(5, 15, "", 2)]))
    assert occupied([run_record(windows={})]) == []


def test_time_limits_follow_the_study() -> None:
    settings = {
        "cool_down": {"rest_s": 30, "idle_band": None, "timeout_s": 600},
        "calibration": {"idle_s": 600, "step_s": 0},
        "timeout_s": 3600,
    }
    assert nodes.minutes_of_run(settings) == (2 * 3630 + 300) / 60
    waits = {**settings, "cool_down": {"rest_s": 30, "idle_band": 0.1, "timeout_s": 600}}
    assert nodes.minutes_of_run(waits) == nodes.minutes_of_run(settings) + 20
    assert nodes.minutes_of_idle(settings) == 15
