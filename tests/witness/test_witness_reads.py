"""What a witness reads of a machine and of a run's processes."""

from pathlib import Path

import pytest
from disturbed import RUNNER, SAMPLER, WORKER, Kernel, Process, kernel

from framewatt.witness.instrument import processors_allowed, quotas_of
from framewatt.witness.machine_wide import Machine, worked_s
from framewatt.witness.process_tree import ProcessTree


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})


@pytest.mark.parametrize(
    ("ticked_s", "steal_s", "worked"),
    [
        (7.0, 0.0, 10.0),  # without steal, what is not idle is work, whatever ticks found
        (13.0, 0.0, 10.0),
        (None, 0.0, 10.0),
        (7.0, 5.0, 7.0),
        (1.0, 5.0, 5.0),
        (13.0, 5.0, 10.0),
        (None, 5.0, 5.0),
        (3.0, 50.0, 3.0),
    ],
)
def test_work_lies_between_what_was_not_idle_and_what_of_that_was_not_stolen(
    ticked_s: float | None, steal_s: float, worked: float
) -> None:
    assert worked_s(20.0, 10.0, steal_s, ticked_s) == worked


def test_a_process_id_that_is_used_again_is_another_process(tmp_path: Path) -> None:
    scene = kernel(tmp_path)
    scene.processes[201] = Process(WORKER, cpu=500, started=2000)
    tree = ProcessTree(RUNNER, SAMPLER, scene.write().root)
    assert tree.read().cpu_s == pytest.approx(5)
    scene.processes[201] = Process(1, cpu=90_000, started=3000)
    scene.write()
    assert tree.read().cpu_s == pytest.approx(5)
    scene.processes[WORKER].cpu += 100
    scene.write()
    assert tree.read().cpu_s == pytest.approx(6)


def test_what_the_run_left_to_its_runner_is_still_the_runs(tmp_path: Path) -> None:
    scene = kernel(tmp_path)
    scene.processes[201] = Process(RUNNER, cpu=100, started=2000)
    scene.processes[RUNNER].waited = 300
    work = ProcessTree(RUNNER, SAMPLER, scene.write().root).read()
    assert work.cpu_s == pytest.approx(4)
    assert work.own_cpu_s == pytest.approx(0)


def test_a_process_that_hidepid_hides_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hidden, forbidden, none = 2**22 + 1, 2**22 + 2, 2**22 + 3  # above any id that a kernel gives

    def asked(pid: int) -> int:
        if pid == forbidden:
            raise PermissionError
        if pid == none:
            raise ProcessLookupError
        return 1

    monkeypatch.setattr("os.getpgid", asked)
    tree = ProcessTree(RUNNER, SAMPLER)
    assert [tree.lives(pid) for pid in (hidden, forbidden, none)] == [True, True, False]
    assert not ProcessTree(RUNNER, SAMPLER, tmp_path).lives(hidden)


def test_a_kernel_without_heat_or_clocks_shows_none(tmp_path: Path) -> None:
    scene = kernel(tmp_path).write()
    assert Machine(scene.root).read().throttled is None
    assert Machine(scene.root).read().frequency_hz is None
    for n, (clock, count) in enumerate([(1_000_000, 3), (3_000_000, 4)]):
        scene.put(f"sys/devices/system/cpu/cpu{n}/cpufreq/scaling_cur_freq", f"{clock}\n")
        scene.put(f"sys/devices/system/cpu/cpu{n}/thermal_throttle/core_throttle_count", f"{count}\n")
    assert Machine(scene.root).read().throttled == 7
    assert Machine(scene.root).read().frequency_hz == 2e9


def test_partitions_and_loops_are_not_counted_next_to_their_disk(tmp_path: Path) -> None:
    assert Machine(kernel(tmp_path, sectors=1000).write().root).read().disk_read_b == 512_000


def test_a_path_to_a_disk_is_not_counted_next_to_it(tmp_path: Path) -> None:
    scene = kernel(tmp_path, sectors=1000, disks=("nvme0n2", "nvme0c0n2", "bcache0")).write()
    assert Machine(scene.root).read().disk_read_b == 2 * 512_000
    for name, hidden in (("nvme0n2", 0), ("nvme0c0n2", 1)):
        scene.put(f"sys/block/{name}/hidden", f"{hidden}\n")
    assert Machine(scene.root).read().disk_read_b == 512_000


@pytest.mark.parametrize(
    ("files", "allowed"),
    [
        ({}, 2.0),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "150000 100000\n"}, 1.5),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n"}, 2.0),
        (
            {
                "proc/self/cgroup": "3:cpu,cpuacct:/a\n0::/\nnonsense\n",
                "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
            },
            0.5,
        ),
        (
            {
                "proc/self/cgroup": "3:cpu,cpuacct:/a\n",
                "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n",
            },
            0.5,
        ),
        (
            {
                "proc/self/cgroup": "3:cpu:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            2.0,
        ),
    ],
)
def test_a_run_may_use_what_affinity_and_quotas_leave(files: dict[str, str], allowed: float, tmp_path: Path) -> None:
    scene = Kernel(tmp_path)
    for name, text in files.items():
        scene.put(name, text)
    assert processors_allowed(quotas_of(tmp_path)) == allowed
