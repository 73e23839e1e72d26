"""What a witness says of windows in which others did something, and in which they did nothing."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from disturbed import RUNNER, SAMPLER, TICKS, WORKER, Kernel, Process, kernel

from framewatt.meters.trace import Trace
from framewatt.witness.instrument import Witness, witness_channels
from framewatt.witness.judgement import Seen, judge_window, told_of_disturbance, told_of_heat
from framewatt.witness.window import others_at_rest, witnessed

S = 1_000_000_000
SPAN = [(10 * S, 20 * S)]
"""A window of 10 s, which a reading each second falls on."""

Script = Callable[[Kernel, float], None]
"""What happens in the second that ends at some time."""


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})


def at_work(scene: Kernel, busy: float = 1.0, others: float = 0.0) -> None:
    """A second in which the run works on some processors, and others on some."""
    scene.processes[WORKER].cpu += round(busy * TICKS)
    scene.idle += round((scene.processors - busy - others) * TICKS)


def play(scene: Kernel, script: Script, step_s: float = 1.0, until_s: float = 30.0) -> Trace:
    """What a witness reads of a scene: before, and after each step."""
    witness = Witness(RUNNER, SAMPLER, scene.write().root)
    rows = [witness.read()[1]]
    times = np.arange(0, until_s + step_s / 2, step_s)
    for time_s in times[1:]:
        script(scene, time_s)
        scene.write()
        rows.append(witness.read()[1])
    channels = tuple(witness_channels(step_s))
    values = np.array(rows).T
    stamps = np.round(times * S).astype(np.int64)
    numbers = np.repeat(np.arange(len(channels), dtype=np.int32), len(times))
    return Trace(channels, np.tile(stamps, len(channels)), numbers, values.ravel())


def told(trace: Trace, spans: list[tuple[int, int]] = SPAN, at_rest: float | None = None) -> dict:
    """The witness of a window."""
    found = witnessed(trace.channels, [trace.of(index) for index in range(len(trace.channels))], spans, at_rest)
    assert found is not None
    return found


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


def neighbour(share: float, since_s: float = 0.0) -> Script:
    return lambda scene, time_s: at_work(scene, 1.0, share if time_s > since_s else 0.0)


def stolen(share: float) -> Script:
    def script(scene: Kernel, _: float) -> None:
        scene.steal += round(share * 2 * TICKS)
        at_work(scene, 1.0, share * 2)

    return script


def stalled(what: str, share: float) -> Script:
    def script(scene: Kernel, _: float) -> None:
        at_work(scene)
        assert scene.stall_us is not None
        scene.stall_us[what] += round(share * 1e6)

    return script


def reading(read_b: int, own_b: int = 0, stall: float = 0.0) -> Script:
    def script(scene: Kernel, time_s: float) -> None:
        stalled("io", stall)(scene, time_s)
        scene.sectors += (read_b + own_b) // 512
        scene.processes[WORKER].read_b = (scene.processes[WORKER].read_b or 0) + own_b

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
def test_a_disturbed_window_says_by_what(script: Script, cause: str, tmp_path: Path) -> None:
    found = told(play(kernel(tmp_path), script))
    assert found["disturbed"] == [cause]
    assert told_of_disturbance(found) == [f"disturbed: {cause}"]


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


@pytest.mark.parametrize(
    ("spoil", "unknown"),
    {
        "no counts of processors": ("proc/stat", ["machine_cpu_s", "others_cpu_s", "others_share", "steal_share"]),
        "no pressure": ("proc/pressure", ["cpu_stall_share", "memory_stall_share", "io_stall_share"]),
        "no disks": ("proc/diskstats", ["disk_read_b"]),
        "no pages": ("proc/vmstat", ["swapped_b", "machine_major_faults"]),
        "processes of which nothing is told": (f"proc/{WORKER}/io", ["run_read_b"]),
        "nothing at all": ("proc", ["others_cpu_s", "run_cpu_s", "disk_read_b", "memory_stall_share"]),
    }.values(),
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("how", ["missing", "garbage"])
def test_what_a_kernel_does_not_tell_is_unknown_and_never_nothing(
    how: str, spoil: str, unknown: list[str], tmp_path: Path
) -> None:
    scene = kernel(tmp_path)

    def spoiled(scene: Kernel, _: float) -> None:
        at_work(scene)

    write = Kernel.write

    def written(scene: Kernel) -> Kernel:
        write(scene)
        root = scene.root / spoil
        for path in [root] if root.is_file() else [p for p in root.rglob("*") if p.is_file()]:
            path.unlink() if how == "missing" else path.write_text(
                "cpu0 \x00 x\n\nsome total=²\n8 0 sda many ² ²\npswpin ²\n"
            )
        return scene

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "write", written)
        found = told(play(scene, spoiled))
    assert {name: found[name] for name in unknown} == dict.fromkeys(unknown)
    if "others_share" in unknown or spoil == "proc":
        assert found["disturbed"] is None
        assert found["unknown"] == "the kernel does not tell the work of others"


@pytest.mark.parametrize("counter", ["idle", "stall"])
def test_a_counter_that_goes_back_makes_what_it_counts_unknown(counter: str, tmp_path: Path) -> None:
    def reset(scene: Kernel, time_s: float) -> None:
        at_work(scene)
        if time_s == 15 and counter == "idle":
            scene.idle = 0
        if time_s == 15 and scene.stall_us:
            scene.stall_us["memory"] = 0
        elif scene.stall_us:
            scene.stall_us["memory"] += 10

    found = told(play(kernel(tmp_path), reset))
    if counter == "idle":
        assert (found["others_share"], found["disturbed"]) == (None, None)
    else:
        assert found["memory_stall_share"] is None
        assert found["others_share"] == pytest.approx(0, abs=1e-9)
    # What lies behind the reset is known.
    assert told(play(kernel(tmp_path / "again"), reset), [(16 * S, 26 * S)])["disturbed"] == []


def test_processors_that_come_and_go_make_the_work_of_others_unknown(tmp_path: Path) -> None:
    def plugged(scene: Kernel, time_s: float) -> None:
        at_work(scene)
        scene.processors = 2 if time_s < 15 else 4

    assert told(play(kernel(tmp_path), plugged))["others_share"] is None


def test_a_window_that_is_too_short_to_tell_is_unknown_and_not_quiet(tmp_path: Path) -> None:
    trace = play(kernel(tmp_path), neighbour(0.0))
    between = told(trace, [(round(10.3 * S), round(19.7 * S))])
    assert between["disturbed"] is None
    assert between["unknown"].startswith("too short")
    # 0.6 s of 9.4 s are not known; a neighbour on a whole processor is more than they could hold.
    burnt = told(play(kernel(tmp_path / "burnt"), neighbour(1.0)), [(round(10.3 * S), round(19.7 * S))])
    assert burnt["disturbed"] == ["other work took 50 % of the processors"]


def test_a_window_that_the_witness_did_not_span_is_unknown(tmp_path: Path) -> None:
    found = told(play(kernel(tmp_path), neighbour(1.0)), [(25 * S, 35 * S)])
    assert (found["others_share"], found["disturbed"]) == (None, None)


def idle_in_whole_ticks(online: int, seconds: float, rng: np.random.Generator) -> dict:
    """A quiet window of a run on two of many processors, each of which counts its idle time by itself."""
    start_s = 1 + rng.random()
    edges = np.array([start_s, start_s + seconds])
    regular = np.arange(0, edges[1] + 2) + 0.01 * rng.random()
    times = np.sort(np.concatenate((regular, edges + rng.uniform(0, 0.005, 2))))
    idling = np.arange(online) >= 2
    idle_s = np.floor(times[:, None] * TICKS * idling + rng.random(online)).sum(1) / TICKS
    known = {"idle_s": idle_s, "cpu_s": 2 * times, "processors_online": online, "processors_usable": 2}
    series = [
        (np.round(times * S).astype(np.int64), np.broadcast_to(known.get(one.quantity, 0.0), times.shape))
        for one in witness_channels()
    ]
    found = witnessed(witness_channels(), series, [tuple(np.round(edges * S).astype(np.int64).tolist())])
    assert found is not None
    return found


@pytest.mark.parametrize("seconds", [0.5, 1.0, 2.0, 5.0])
def test_a_quiet_run_on_a_few_of_many_processors_is_not_disturbed(seconds: float) -> None:
    rng = np.random.default_rng(1)
    found = [idle_in_whole_ticks(300, seconds, rng) for _ in range(200)]
    assert sum(bool(one["disturbed"]) for one in found) <= 2
    if seconds == 5:
        assert sum(one["disturbed"] == [] for one in found) >= 198


def test_what_was_read_around_a_window_that_lies_between_two_readings_is_not_its_disturbance(tmp_path: Path) -> None:
    trace = play(kernel(tmp_path), reading(20 << 20))
    found = told(trace, [(round(10.3 * S), round(10.3 * S) + 6000)])
    assert found["disturbed"] is None
    assert found["unknown"].startswith("too short")


def test_epochs_together_are_witnessed_without_what_lies_between(tmp_path: Path) -> None:
    trace = play(kernel(tmp_path), lambda scene, time_s: at_work(scene, 1.0, 1.0 if 10 < time_s <= 12 else 0.0))
    assert told(trace, [(5 * S, 10 * S), (12 * S, 17 * S)])["disturbed"] == []
    assert told(trace, [(5 * S, 11 * S), (12 * S, 17 * S)])["others_cpu_s"] == pytest.approx(1)


def test_heat_is_told_and_is_nobodys_disturbance(tmp_path: Path) -> None:
    def hot(scene: Kernel, time_s: float) -> None:
        at_work(scene)
        scene.put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", f"{round(3 * time_s)}\n")

    scene = kernel(tmp_path)
    scene.put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0\n")
    found = told(play(scene, hot))
    assert (found["throttled"], found["disturbed"]) == (30, [])
    assert told_of_heat(found) == ["heat lowered the clock of processors 30 times"]
    for cool in (None, {**found, "throttled": None}, {**found, "throttled": 0.0}):
        assert told_of_heat(cool) == []


@pytest.mark.parametrize(
    ("at_rest", "disturbed"),
    [
        (None, True),
        (0.0, True),
        (0.01, True),  # half a percent of two processors: the limit is 2.5 %, and 3 % were taken
        (0.03, False),  # 3.5 %
        (0.04, False),
        (1.0, False),  # a calibration beside a neighbour allows for 2 % and no more: 4 %
    ],
)
def test_what_others_take_at_rest_is_allowed_on_top(at_rest: float | None, disturbed: bool, tmp_path: Path) -> None:
    trace = play(kernel(tmp_path), neighbour(0.06))
    assert bool(told(trace, at_rest=at_rest)["disturbed"]) == disturbed
    assert told(play(kernel(tmp_path / "more"), neighbour(0.1)), at_rest=at_rest)["disturbed"]


def test_a_calibration_says_how_many_processors_others_took() -> None:
    assert others_at_rest({"duration_s": 60.0, "witness": {"others_cpu_s": 3.0}}) == 0.05
    for unknown in ({"duration_s": 60.0}, {"duration_s": 60.0, "witness": None}, {"domains": {}}):
        assert others_at_rest(unknown) is None
    assert others_at_rest({"duration_s": 60.0, "witness": {"others_cpu_s": None}}) is None


@pytest.mark.parametrize("told", ["many", float("nan"), float("inf"), -5.0, True, [3.0]])
def test_a_calibration_that_says_nonsense_of_others_allows_for_nothing(told: object) -> None:
    assert others_at_rest({"duration_s": 60.0, "witness": {"others_cpu_s": told}}) is None
    assert others_at_rest({"duration_s": told, "witness": {"others_cpu_s": 3.0}}) is None
    assert others_at_rest({"duration_s": 60.0, "witness": told}) is None


def test_nothing_is_said_of_a_run_without_a_witness() -> None:
    assert witnessed((), [], SPAN) is None
    assert told_of_disturbance(None) == []


@pytest.mark.parametrize(
    ("unsure_s", "others_s", "disturbed", "unknown"),
    [
        (0.0, 0.41, True, False),
        (0.0, 0.39, False, False),
        # 1 % of the window lies at its edges: still finer than the limit.
        (0.1, 0.41, True, False),
        (0.1, 0.39, False, False),
        # From here on it is coarser than the limit: only what others took for sure counts.
        (0.3, 0.8, False, True),
        (0.3, 1.2, True, True),
        # Short epochs beside a neighbour that makes the witness late, too: 70 % of the time, less 75 % of the other 30.
        (7.5, 14.0, True, True),
        (7.5, 8.0, False, True),
    ],
)
def test_the_limit_is_held_from_both_sides_and_doubt_at_the_edges_is_told(
    unsure_s: float, others_s: float, disturbed: bool, unknown: bool
) -> None:
    nothing = {"cpu": 0.0, "memory": 0.0, "io": 0.0}
    judged = judge_window(Seen(10.0, unsure_s, 2.0, others_s, 0.0, nothing, 0.0, 0.0, 0.0))
    assert bool(judged["disturbed"]) == disturbed
    assert (judged["unknown"] is not None) == unknown
    assert (judged["disturbed"] is None) == (unknown and not disturbed)
