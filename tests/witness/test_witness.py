"""What a witness says of windows that others disturbed, and of those in which only the run did something."""

from pathlib import Path

import pytest
from disturbed import RUNNER, SAMPLER, TICKS, WORKER, Kernel, Process, kernel
from witness_scenes import SPAN, S, Script, at_work, neighbour, play, reading, stalled, told

from framewatt.witness.judgement import disturbance_flags, heat_flags
from framewatt.witness.window import witnessed

pytestmark = pytest.mark.usefixtures("two_processors")


def test_a_quiet_run_is_not_disturbed(tmp_path: Path) -> None:
    found = told(play(kernel(tmp_path), lambda scene, _: at_work(scene, 1.5)))
    assert (found["disturbed"], found["unknown"]) == ([], None)
    assert found["run_cpu_s"] == pytest.approx(15)
    assert found["machine_cpu_s"] == pytest.approx(15)
    assert found["others_cpu_s"] == pytest.approx(0, abs=1e-6)
    assert found["processors_usable"] == 2


def test_more_threads_than_processors_disturb_nobody(tmp_path: Path) -> None:
    def crowded(scene: Kernel, _: float) -> None:
        at_work(scene, 2.0)
        assert scene.stall_us is not None
        scene.stall_us["cpu"] += 1_000_000
        scene.processes[WORKER].switches += 500

    found = told(play(kernel(tmp_path), crowded))
    assert found["disturbed"] == []
    assert found["cpu_stall_share"] == pytest.approx(1)
    assert found["involuntary_switches"] == pytest.approx(5000)


def test_what_the_kernel_books_as_stolen_and_idle_at_once_is_not_taken_off_the_work_twice(tmp_path: Path) -> None:
    def woken_late(scene: Kernel, _: float) -> None:
        # A run and its neighbour work half a processor each, and each waits for its processor in 0.3 s of 1 s.
        scene.processes[WORKER].cpu += 50
        scene.ticked += 100
        scene.idle += 100
        scene.steal += 60

    found = told(play(kernel(tmp_path), woken_late))
    assert found["machine_cpu_s"] == pytest.approx(10)
    assert found["others_cpu_s"] == pytest.approx(5)
    assert found["disturbed"] == [
        "other work took 25 % of the processors",
        "the hypervisor took 30 % of the processors",
    ]


def stolen(share: float) -> Script:
    def script(scene: Kernel, _: float) -> None:
        scene.steal += round(share * 2 * TICKS)
        at_work(scene, 1.0, share * 2)

    return script


def swapping(scene: Kernel, _: float) -> None:
    at_work(scene)
    scene.swapped_pages += 1000


DISTURBED = {
    "a neighbour on one of two processors from a third of the window on": (
        neighbour(1.0, 13.4),
        "other work took 35 % of the processors",
    ),
    "a neighbour just above the limit": (neighbour(0.05), "other work took 2.5 % of the processors"),
    "a hypervisor": (stolen(0.02), "the hypervisor took 2 % of the processors"),
    "a shortage of memory": (stalled("memory", 0.02), "tasks waited for memory for 2 % of the time"),
    "a slow disk": (stalled("io", 0.011), "tasks waited for disks for 1.1 % of the time"),
    "a neighbour that reads a disk": (reading(20 << 20), "others read 21 MB/s from disks"),
    "one whose reading somebody waits for": (
        reading(512 << 10, 512, 0.5),
        "tasks waited for disks for 50 % of the time",
    ),
    "swapping": (swapping, "4.1 MB/s were swapped"),
}


@pytest.mark.parametrize(("script", "cause"), DISTURBED.values(), ids=DISTURBED)
def test_a_disturbed_window_names_the_cause(script: Script, cause: str, tmp_path: Path) -> None:
    found = told(play(kernel(tmp_path), script))
    assert found["disturbed"] == [cause]
    assert disturbance_flags(found) == [f"disturbed: {cause}"]


ALLOWED = {
    "a neighbour just below the limit": neighbour(0.03),
    "a hypervisor that took 1 % in all": stolen(0.01),
    "memory": stalled("memory", 0.0095),
    "disks": stalled("io", 0.0095),
    "a few reads of others": reading(1 << 20),
    "a run that reads its own data, and waits for them": reading(0, 100 << 20, 0.9),
}


@pytest.mark.parametrize("script", ALLOWED.values(), ids=ALLOWED)
def test_what_is_allowed_is_not_flagged(script: Script, tmp_path: Path) -> None:
    assert told(play(kernel(tmp_path), script))["disturbed"] == []


def test_the_sampler_is_neither_the_run_nor_a_neighbour(tmp_path: Path) -> None:
    def sampled(scene: Kernel, _: float) -> None:
        at_work(scene, 1.0, 0.5)
        scene.processes[SAMPLER].cpu += 20
        scene.processes[SAMPLER].waited += 10
        scene.processes[RUNNER].cpu += 20

    found = told(play(kernel(tmp_path), sampled))
    assert found["disturbed"] == []
    assert found["own_cpu_s"] == pytest.approx(5)
    assert found["run_cpu_s"] == pytest.approx(10)


def test_children_that_end_stay_in_the_run(tmp_path: Path) -> None:
    def forking(scene: Kernel, time_s: float) -> None:
        second = round(time_s)
        if second % 3 == 0:
            scene.processes[200 + second] = Process(WORKER, started=2000 + second)
        for pid in [pid for pid in scene.processes if pid >= 200]:
            scene.processes[pid].cpu += TICKS
            if second % 3 == 2:
                scene.processes[WORKER].waited += scene.processes.pop(pid).cpu
        at_work(scene, 0.5, 1.0 if second >= 3 else 0.0)

    found = told(play(kernel(tmp_path), forking))
    assert found["run_cpu_s"] == pytest.approx(15)
    assert found["disturbed"] == []


def test_a_child_that_nobody_waits_for_is_not_lost(tmp_path: Path) -> None:
    scene = kernel(tmp_path)
    scene.processes[201] = Process(WORKER, started=2000)

    def vanishing(scene: Kernel, time_s: float) -> None:
        if time_s < 15:
            scene.processes[201].cpu += TICKS
        elif 201 in scene.processes:
            del scene.processes[201]
        at_work(scene, 0.0 if time_s == 15 else 0.5, 1.0 if time_s < 15 else 0.0)

    found = told(play(scene, vanishing))
    assert found["run_cpu_s"] == pytest.approx(8.5)
    assert found["disturbed"] == []


def test_epochs_together_are_witnessed_without_what_lies_between(tmp_path: Path) -> None:
    trace = play(kernel(tmp_path), lambda scene, time_s: at_work(scene, 1.0, 1.0 if 10 < time_s <= 12 else 0.0))
    assert told(trace, [(5 * S, 10 * S), (12 * S, 17 * S)])["disturbed"] == []
    assert told(trace, [(5 * S, 11 * S), (12 * S, 17 * S)])["others_cpu_s"] == pytest.approx(1)


def test_heat_is_reported_and_is_nobodys_disturbance(tmp_path: Path) -> None:
    def hot(scene: Kernel, time_s: float) -> None:
        at_work(scene)
        scene.put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", f"{round(3 * time_s)}\n")

    scene = kernel(tmp_path)
    scene.put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0\n")
    found = told(play(scene, hot))
    assert (found["throttled"], found["disturbed"]) == (30, [])
    assert heat_flags(found) == ["heat lowered the clock of processors 30 times"]
    for cool in (None, {**found, "throttled": None}, {**found, "throttled": 0.0}):
        assert heat_flags(cool) == []


def test_nothing_is_said_of_a_run_without_a_witness() -> None:
    assert witnessed({}, SPAN) is None
    assert disturbance_flags(None) == []
