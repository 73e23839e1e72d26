"""What a witness cannot tell is unknown, and neither quiet nor disturbed."""

from pathlib import Path

import pytest
from disturbed import WORKER, Kernel, kernel
from witness_scenes import S, at_work, neighbour, play, reading, told

pytestmark = pytest.mark.usefixtures("two_processors")


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


def test_what_was_read_around_a_window_that_lies_between_two_readings_is_not_its_disturbance(tmp_path: Path) -> None:
    trace = play(kernel(tmp_path), reading(20 << 20))
    found = told(trace, [(round(10.3 * S), round(10.3 * S) + 6000)])
    assert found["disturbed"] is None
    assert found["unknown"].startswith("too short")
