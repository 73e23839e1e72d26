"""What people get of a characterisation: lines, an exit code, a picture; and the loads themselves."""

import io
import itertools
import os
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulated.meters import AVERAGE, INSTANT, NVML_COUNTER, RAPL, SimulatedMeter
from simulated.schedules import drawn, schedule
from simulated_time import S, SimulatedTime

from framewatt.base.errors import FramewattError
from framewatt.characterisation import burn
from framewatt.characterisation import loads as module_of_loads
from framewatt.characterisation.loads import PERIODS_S, Loads, loads, planned, square_waves
from framewatt.characterisation.measure import Characterisation, look
from framewatt.characterisation.measured import Measured, unknown
from framewatt.characterisation.schedule import (
    ALL_CORES,
    GPU,
    GPU_CLOSED,
    IDLE,
    ONE_CORE,
    is_steady,
    period_of,
    square_wave,
)
from framewatt.characterisation.summary import DOUBTED, NONE, TRUSTED, lines, verdict
from framewatt.figures.meter_steps import draw, power_of
from framewatt.figures.save import save
from framewatt.meters.trace import Trace


def found_of(
    meters: dict[SimulatedMeter, float], load: str, then: Sequence[tuple[str, float]] = ()
) -> Characterisation:
    """What is found of meters that show so many times the right value."""
    rng = np.random.default_rng(1)
    stretches = schedule((ONE_CORE, load), then=then)
    drawn_load = drawn(stretches, 300.0, rng)
    read = [(meter, factor, *meter.read(drawn_load, rng)) for meter, factor in meters.items()]
    numbers = [np.full(len(t), number) for number, (_, _, t, _) in enumerate(read)]
    return look(
        Trace(
            tuple(meter.channel for meter in meters),
            np.concatenate([t for _, _, t, _ in read]),
            np.concatenate(numbers),
            np.concatenate([factor * v for _, factor, _, v in read]),
        ),
        stretches,
        {"GPU": "it is elsewhere"},
    )


def test_right_meters_are_trusted_and_their_numbers_reported() -> None:
    found = found_of({INSTANT: 1.0, AVERAGE: 1.0}, GPU)
    assert verdict(found)[0] == TRUSTED
    said = list(lines(found))
    assert said[0].split("  ")[1] == "channel"
    assert "gpu:0 power_instant_w of nvml: to be trusted" in "\n".join(said)
    (agreed,) = [line for line in said if "power_average_w of nvml over power_instant_w of nvml: " in line]
    assert float(agreed.split("nvml: ")[1].split(" ± ")[0]) == pytest.approx(1.0, abs=0.02)
    assert "  no load of GPU: it is elsewhere" in said
    row = next(line for line in said if line.startswith("  gpu:0 power_average_w"))
    assert "0.001 W" in row
    assert " W  " in row


def test_square_waves_and_a_closed_gpu_are_reported_and_change_nothing_else(tmp_path: Path) -> None:
    found = found_of({NVML_COUNTER: 1.0, AVERAGE: 1.0}, GPU, square_waves(10.0))
    plain = found_of({NVML_COUNTER: 1.0, AVERAGE: 1.0}, GPU)
    for one, without in zip(found.characters, plain.characters, strict=True):
        assert [response.load for response in one.responses] == [ONE_CORE, GPU]
        assert one.load_w == pytest.approx(without.load_w, rel=0.02)
        assert one.lateness.delay.value == pytest.approx(without.lateness.delay.value, abs=0.02)
        assert one.gpu_closed_w == pytest.approx(30, abs=6)
        assert [wave.period_s for wave in one.waves] == list(PERIODS_S)
        for wave in one.waves:
            # Simulated power has steps of a millisecond: of a period of 5 ms, two of them are busy.
            assert wave.busy == pytest.approx(0.4 if wave.period_s == 0.005 else 0.5, abs=0.02)
            assert wave.power_w == pytest.approx(60 + wave.busy * 210, rel=0.03)
    assert not plain.characters[0].waves
    assert plain.characters[0].gpu_closed_w is None
    said = "\n".join(lines(found))
    assert re.search(r"busy 50% of every 150 ms: 1\d\d(\.\d)? W shown, 16\d(\.\d)? W expected", said)
    assert re.search(r"idle (59|60)(\.\d+)? W with a process that has the GPU open, [23]\d(\.\d+)? W without", said)
    save(draw(found), [tmp_path / "steps.svg"])
    assert "GPU, square waves" in (tmp_path / "steps.svg").read_text()


def test_a_channel_that_does_not_show_the_load_of_the_gpu_has_no_expected_power() -> None:
    said = "\n".join(lines(found_of({INSTANT: 0.0}, GPU, square_waves(4.0))))
    assert said.count("unknown expected of its steady levels") == len(PERIODS_S)


def test_a_sensor_that_observes_part_of_the_time_shows_it_under_square_waves_of_its_period() -> None:
    part_time = replace(INSTANT, updates_s=(0.1, 0.1), lag_s=(0.0, 0.0), average_s=0.025)
    (one,) = found_of({part_time: 1.0}, GPU, square_waves(10.0)).characters
    shown = {wave.period_s: wave.power_w for wave in one.waves}
    assert shown[0.02] == pytest.approx(165, rel=0.15)
    # It observes the same quarter of each period: 60 to 270 W, and hardly ever the mean.
    assert abs(shown[0.1] / 165 - 1) > 0.2


def test_an_exit_code_states_whether_meters_can_be_trusted() -> None:
    code, why = verdict(found_of({INSTANT: 1.0, NVML_COUNTER: 0.0}, GPU))
    assert code == DOUBTED
    assert "energy_j of nvml" in why
    code, why = verdict(found_of({RAPL: 0.0}, ALL_CORES))
    assert (code, why) == (NONE, "no meter to trust: every meter has a problem")
    # A counter that stands still beside a right one is one too many.
    assert len({TRUSTED, DOUBTED, NONE, 1, 2}) == 5


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (Measured(0.0994, 0.0006), "0.0994 ± 0.0006 s"),
        (Measured(1.02, 0.04), "1.02 ± 0.04 s"),
        (Measured(0.001), "0.001 s"),
        (unknown("why", 0.02), "at most 0.02 s"),
        (unknown("why"), "unknown"),
    ],
)
def test_a_number_has_as_many_digits_as_it_is_known_to(measured: Measured, said: str) -> None:
    assert measured.words("s") == said


def test_nothing_is_unknown_without_a_reason() -> None:
    with pytest.raises(AssertionError):
        Measured(None)
    with pytest.raises(AssertionError):
        Measured(1.0, reason="why")


def test_the_picture_shows_the_power_that_was_drawn(tmp_path: Path) -> None:
    found = found_of({RAPL: 1.0, INSTANT: 1.0}, ALL_CORES)
    stretch = found.stretches[-2]
    for series in found.series:
        time_s, power_w = power_of(series)
        edges_s = [(edge - found.origin_ns) * 1e-9 for edge in (stretch.start_ns, stretch.end_ns)]
        inside = (time_s > edges_s[0] + 0.5) & (time_s < edges_s[1] - 0.5)
        assert power_w[inside].mean() == pytest.approx(0.9 * 300, rel=0.02)
    paths = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for path in paths:
        save(draw(found), [path])
    assert paths[0].read_bytes() == paths[1].read_bytes()


class Burner:
    """A load on simulated time, which begins and ends late by so much."""

    pid = 0

    def __init__(self, late_s: float) -> None:
        self.requests: list[tuple[int, int, int]] = []
        self.ended = False
        self._late_ns = round(late_s * S)

    def send(self, begin_ns: int, end_ns: int, period_ns: int) -> None:
        assert not self.ended
        self.requests.append((begin_ns, end_ns, period_ns))

    def answer(self) -> tuple[int, int, int]:
        begin_ns, end_ns, period_ns = self.requests[-1]
        return begin_ns + self._late_ns, end_ns + self._late_ns, (end_ns - begin_ns) // (2 if period_ns else 1)

    def end(self) -> None:
        self.ended = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimulatedTime:
    """Simulated time for the loads, on a machine on which nothing else is at work."""
    clock = SimulatedTime()
    monkeypatch.setattr(module_of_loads, "time", clock)
    monkeypatch.setattr(module_of_loads, "busy_s", lambda _: 0.0)
    return clock


@pytest.mark.parametrize("late_s", [0.0, 0.1])
def test_loads_run_when_they_are_planned_and_no_longer(clock: SimulatedTime, late_s: float) -> None:
    one, others = Burner(late_s), [Burner(late_s), Burner(late_s)]
    load = Loads({ONE_CORE: [one], ALL_CORES: [one, *others]}, {GPU: "it is elsewhere"})
    plan = planned(load.names, 2, 0.5)
    started_ns = clock.now_ns
    stretches = load.run(plan)
    assert [stretch.load for stretch in stretches] == [name for name, _ in plan]
    # The plan's ends stay where they are, a second after the call and then one stretch after the other.
    ends_ns = (started_ns + S + np.cumsum([round(seconds * S) for _, seconds in plan])).tolist()
    assert clock.now_ns == ends_ns[-1]
    for stretch, end_ns in zip(stretches, ends_ns, strict=True):
        assert stretch.end_ns == end_ns + (0 if stretch.load == IDLE else round(late_s * S))
    for before, after in itertools.pairwise(stretches):
        # What begins late leaves the time before it to nobody; what ends late is not idle yet.
        late_ns = 0 if after.load == IDLE else round(late_s * S)
        assert after.start_ns - before.end_ns == late_ns
    # Only what a stretch names is at work in it, and nothing is while the machine is idle.
    wanted = [name for name, _ in plan if name != IDLE]
    assert (len(one.requests), len(others[0].requests)) == (len(wanted), wanted.count(ALL_CORES))
    assert all(end - begin <= round(1.13 * 0.5 * S) for begin, end, _ in one.requests)
    assert {period_ns for _, _, period_ns in one.requests} == {0}
    assert {stretch.busy for stretch in stretches} == {None, 1.0}


def test_square_waves_name_their_period_and_at_the_end_no_process_has_the_gpu_open(clock: SimulatedTime) -> None:
    burner = Burner(0.0)
    load = Loads({GPU: [burner]}, {})
    stretches = load.run([*planned([GPU], 1, 2.0), *square_waves(4.0)])
    periods_s = [period_of(stretch.load) for stretch in stretches if period_of(stretch.load)]
    assert periods_s == list(PERIODS_S)
    assert [period_ns for *_, period_ns in burner.requests] == [0, *(round(period * S) for period in PERIODS_S)]
    assert {stretch.busy for stretch in stretches if period_of(stretch.load)} == {0.5}
    assert [stretch.load for stretch in stretches if stretch.busy is None] == [IDLE] * (2 + len(PERIODS_S)) + [
        GPU_CLOSED
    ]
    assert stretches[-1].load == GPU_CLOSED
    assert burner.ended
    assert not [name for name in (IDLE, GPU_CLOSED, *map(square_wave, PERIODS_S)) if is_steady(name)]


def test_a_load_that_was_held_up_for_most_of_its_time_is_an_error(clock: SimulatedTime) -> None:
    class HeldUp(Burner):
        def answer(self) -> tuple[int, int, int]:
            begin_ns, end_ns, _ = super().answer()
            return begin_ns, begin_ns + (end_ns - begin_ns) // 3, 0

    with pytest.raises(FramewattError, match=r"load one core ran for 0\.\d+ s instead of 0\.\d+ s: other work delayed"):
        Loads({ONE_CORE: [HeldUp(0.0)]}, {}).run(planned((ONE_CORE,), 1, 0.5))


def test_a_process_that_computes_does_so_from_its_begin_to_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    clock, worked_ns = SimulatedTime(), []

    def work() -> None:
        worked_ns.append(clock.now_ns)
        clock.advance(1e-4)

    monkeypatch.setattr(burn, "time", clock)
    monkeypatch.setattr(burn, "_make_core_work", lambda: work)
    begin_ns, end_ns = clock.now_ns + S, clock.now_ns + 2 * S
    wave = f"{end_ns + S} {end_ns + 2 * S} {S // 5}"
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{begin_ns} {end_ns} 0\n{wave}\n"))
    burn.main("cpu")
    answers = (f"{begin_ns} {end_ns} {S}", f"{end_ns + S} {end_ns + 2 * S} {S // 2}")
    assert capsys.readouterr().out.splitlines() == ["ready", *answers]
    # The first time is before it says that it is ready.
    steady, waves = worked_ns[1:10_001], worked_ns[10_001:]
    assert steady == list(range(begin_ns, end_ns, S // 10_000))
    # A square wave of five periods computes in the first half of each.
    starts_ns = range(end_ns + S, end_ns + 2 * S, S // 5)
    assert waves == [now_ns for start in starts_ns for now_ns in range(start, start + S // 10, S // 10_000)]


def test_a_plan_that_should_have_started_is_an_error(clock: SimulatedTime) -> None:
    with pytest.raises(FramewattError, match=r"begin_ns is 1 s in the past\. Use a time that is still to come"):
        Loads({}, {}).run(planned((), 1, 0.5), clock.now_ns - S)


def test_real_processes_answer_when_they_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """However late that is; a load that cannot start says why."""
    monkeypatch.setattr(module_of_loads, "_READY_S", 600.0)
    monkeypatch.setattr(module_of_loads, "_LATE_S", 600.0)
    monkeypatch.setattr(module_of_loads, "_LEAST_LENGTH", 0.0)
    with loads([ONE_CORE, ALL_CORES, GPU], ["/nowhere/python"]) as load:
        assert "/nowhere/python" in load.missing[GPU]
        # All cores are one where this process may use no other.
        assert load.names == ([ONE_CORE, ALL_CORES] if len(os.sched_getaffinity(0)) > 1 else [ALL_CORES])
        before_ns = time.monotonic_ns()
        stretches = load.run([(ALL_CORES, 0.2), (IDLE, 0.2), (ALL_CORES, 0.2)])
        after_ns = time.monotonic_ns()
    assert [stretch.load for stretch in stretches] == [ALL_CORES, IDLE, ALL_CORES]
    edges_ns = [edge for stretch in stretches for edge in (stretch.start_ns, stretch.end_ns)]
    assert [before_ns + S, *edges_ns, after_ns] == sorted([before_ns + S, *edges_ns, after_ns])


def test_a_gpu_that_cannot_be_loaded_states_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_of_loads, "_READY_S", 600.0)
    with loads([GPU], [sys.executable]) as load:
        assert load.names == []
        assert load.missing[GPU] == "ModuleNotFoundError: No module named 'torch'"


def test_every_load_is_repeated_between_idle_times_of_unlike_lengths() -> None:
    plan = planned((ONE_CORE, ALL_CORES), 3, 4.0)
    assert [name for name, _ in plan] == [IDLE, *[ONE_CORE, IDLE] * 3, *[ALL_CORES, IDLE] * 3]
    assert len({seconds for _, seconds in plan}) > 2
    assert sum(seconds for _, seconds in plan) == pytest.approx(13 * 4.0, rel=0.05)
