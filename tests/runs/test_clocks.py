"""The wall clock beside the monotonic one, in runs and between them."""

from records_factory import energy, run_record

from framewatt.frames.frames import runs_frame
from framewatt.runs.clocks import Instant, step_within, steps_between


def run(repetition: int, monotonic_s: float, utc: str, moved_s: float = 0.0, boot: str = "a", **change) -> dict:
    clock = {"monotonic_ns": int(monotonic_s * 1e9), "utc": f"2026-01-01T{utc}+00:00", "moved_s": moved_s}
    return run_record(repetition=repetition, clock=clock, machine={"session": boot}, **change)


def flagged(*records: dict) -> set[int]:
    return {repetition for _, repetition in steps_between(records)}


def test_both_clocks_of_an_instant_go_on_alike() -> None:
    assert abs(Instant.now().moved_s(Instant.now())) < 0.1
    assert Instant(10**9, 3 * 10**9).moved_s(Instant(0, 0)) == 2


def test_runs_under_one_clock_are_not_flagged() -> None:
    assert flagged(run(1, 0, "00:00:00"), run(2, 60, "00:01:00.3"), run(3, 120, "00:02:00")) == set()


def test_the_first_run_after_the_clock_was_set_is_flagged_in_whatever_order_they_lie() -> None:
    runs = run(3, 120, "01:02:00"), run(1, 0, "00:00:00"), run(2, 60, "01:01:00")
    assert steps_between(runs) == {
        ("infer-resnet50-digits-torch-b1", 2): "the wall clock was set by +3600.0 s, or the machine slept, before the "
        "run: times in UTC of earlier runs are of another clock"
    }
    frame = runs_frame(runs)
    assert list(frame[frame["flags"].str.contains("before the run")]["repetition"].unique()) == [2]


def test_a_clock_that_was_set_during_a_run_is_that_runs_flag_alone() -> None:
    runs = run(1, 0, "00:00:00", moved_s=-30), run(2, 60, "00:00:30")
    assert flagged(*runs) == set()
    assert step_within(runs[0]["clock"]).startswith("the wall clock was set by -30.0 s, or the machine slept, during")
    assert step_within(runs[1]["clock"]) is None


def test_other_boots_and_imported_runs_have_no_clock_in_common() -> None:
    assert flagged(run(1, 500, "00:00:00"), run(2, 5, "02:00:00", boot="b")) == set()
    imported = [run(n, 0, f"0{n}:00:00", source="files") for n in (1, 2)]
    unknown = [run_record({"cpu:package-0": energy(1.0)}, repetition=n) for n in (1, 2)]
    assert flagged(*imported, *unknown) == set()
