"""A study on a Slurm of two nodes with accounting: what the plugin asks `sacct`, and whose death it outlives."""

import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from checkout import Answer
from hardware.slurm_accounting import ACCOUNT, KEEPER, jobs
from hardware.slurm_cluster import CONTROLLER, NODES, SlurmCluster, slurm_cluster, why_not
from soak.told import unlocked_by
from two_nodes import ACCOUNTED, LONG_S, OnNodes, ended, hangs, measures, processes_of

from framewatt.frames.occupancy import occupied, overlaps

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(why_not(accounting=True) is not None, reason=str(why_not(accounting=True))),
]

Jobs = list[tuple[str, ...]]

RUNS = 4
PROFILE_FILE = Path(__file__).parents[2] / "workflow/profiles/slurm/config.yaml"
SQUEUE = [*ACCOUNTED, "--slurm-status-command", "squeue"]
IMPATIENT = [*ACCOUNTED, "--slurm-status-attempts", "5"]
"""As the plugin has it where the profile does not say otherwise."""

AWAY_S = 40
"""Longer than between two looks of the plugin at jobs of some seconds, so that it looks while the daemon is away."""

IDLE_S = 90
"""Seconds without a job after which a call hangs, by the same."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    with slurm_cluster(accounting=True) as found:
        yield found


@pytest.fixture(scope="module")
def whole(cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[OnNodes, Answer, Jobs]:
    """The study, how its first call ended, and what the accounting says of its jobs."""
    study = OnNodes(tmp_path_factory.mktemp("study"), repetitions=2, window={"warm_up_batches": 1, "minimum_s": 1})
    (defaults,) = [line for line in PROFILE_FILE.read_text().splitlines() if line.startswith("default-resources: ")]
    # Those of the command line are in place of the profile's, and not beside them.
    resources = [*json.loads(defaults.partition(": ")[2]), f"slurm_account={ACCOUNT}"]
    answer = ended(study.on_slurm([*ACCOUNTED, "--default-resources", *resources]))
    return study, answer, jobs("State", "Account", "ReqMem", "TimelimitRaw")


@pytest.fixture
def study(whole: tuple[OnNodes, Answer, Jobs]) -> OnNodes:
    """The study with nothing measured."""
    shutil.rmtree(whole[0].root / "results/two/measure")
    return whole[0]


def test_a_study_runs_and_the_accounting_knows_its_jobs(whole: tuple[OnNodes, Answer, Jobs]) -> None:
    study, answer, found = whole
    assert answer.code == 0, answer.text
    _assert_whole(study)
    # Each run is a job, and so are, on both nodes, instruments and idle power before and after.
    assert len(found) >= RUNS + 2 * len(NODES)
    assert {(state, account, memory) for state, account, memory, _ in found} == {("COMPLETED", ACCOUNT, "8000M")}
    assert all(minutes.isdigit() for *_, minutes in found)


@pytest.mark.parametrize(
    ("daemon", "profile"),
    [
        pytest.param(CONTROLLER, ACCOUNTED, id="slurmctld-sacct"),
        pytest.param(CONTROLLER, SQUEUE, id="slurmctld-squeue"),
        pytest.param(KEEPER, SQUEUE, id="slurmdbd-squeue"),
        pytest.param(KEEPER, ACCOUNTED, id="slurmdbd-sacct"),
    ],
)
def test_a_daemon_that_is_away_costs_a_run_at_most(
    cluster: SlurmCluster, study: OnNodes, daemon: str, profile: list[str]
) -> None:
    call = study.on_slurm(profile)
    _strike(cluster, call, daemon)
    assert not hangs(call, IDLE_S)
    first = ended(call)
    if first.code:
        whole = ended(study.on_slurm(profile))
        assert whole.code == 0, first.text + whole.text
    _assert_whole(study)


def test_without_the_profile_s_attempts_the_plugin_forgets_jobs_and_nothing_is_lost(
    cluster: SlurmCluster, study: OnNodes
) -> None:
    call = study.on_slurm(IMPATIENT)
    _strike(cluster, call, KEEPER)
    assert hangs(call, IDLE_S), ended(call).text
    call.kill()
    ended(call)
    locked = ended(study.on_slurm(ACCOUNTED))
    command = unlocked_by(locked.text)
    assert command, locked.text
    subprocess.run(command, shell=True, cwd=study.root, check=True, capture_output=True)  # noqa: S602 # as a user does
    whole = ended(study.on_slurm(ACCOUNTED))
    assert whole.code == 0, whole.text
    _assert_whole(study)


def test_a_lost_node_costs_its_run(cluster: SlurmCluster, study: OnNodes) -> None:
    call = study.on_slurm(ACCOUNTED)
    node = _wait_until_one_measures(call)
    there = processes_of(node)
    cluster.kill(node)
    for process in there:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    time.sleep(AWAY_S)
    cluster.start_node(node)
    assert not hangs(call, IDLE_S)
    lost = ended(call)
    assert lost.code == 1, lost.text
    assert ("NODE_FAIL",) in jobs("State")
    cluster.wait_for(node, "idle")
    whole = ended(study.on_slurm(ACCOUNTED))
    assert whole.code == 0, whole.text
    _assert_whole(study)


def _strike(cluster: SlurmCluster, call: subprocess.Popen, daemon: str) -> None:
    """Kill a daemon while a run is measured, and start it again."""
    starts: dict[str, Callable[[], None]] = {CONTROLLER: cluster.start_controller, KEEPER: cluster.start_accounting}
    _wait_until_one_measures(call)
    cluster.kill(daemon)
    time.sleep(AWAY_S)
    starts[daemon]()


def _wait_until_one_measures(call: subprocess.Popen) -> str:
    """The node that does."""
    deadline = time.monotonic() + LONG_S
    while call.poll() is None and time.monotonic() < deadline:
        for node in NODES.values():
            if measures(processes_of(node)):
                return node
        time.sleep(0.2)
    raise AssertionError(ended(call).text)


def _assert_whole(study: OnNodes) -> None:
    records = study.records.values()
    assert len(records) == RUNS
    assert {record["status"] for record in records} == {"ok"}
    assert {record["node"] for record in records} == set(NODES)
    assert overlaps(occupied(records)) == []
