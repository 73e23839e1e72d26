"""What people get of a characterisation: lines, an exit code, a picture; and the loads themselves."""

import itertools
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from simulated.meters import AVERAGE, INSTANT, NVML_COUNTER, RAPL, SimulatedMeter
from simulated.schedules import drawn, schedule

from framewatt.base.errors import FramewattError
from framewatt.characterisation.loads import loads, planned
from framewatt.characterisation.measure import Characterisation, look
from framewatt.characterisation.measured import Measured, unknown
from framewatt.characterisation.schedule import ALL_CORES, GPU, IDLE, ONE_CORE
from framewatt.characterisation.told import DOUBTED, NONE, TRUSTED, lines, verdict
from framewatt.figures.meter_steps import draw, power_of
from framewatt.figures.save import save
from framewatt.meters.trace import Trace


def found_of(meters: dict[SimulatedMeter, float], load: str) -> Characterisation:
    """What is found of meters that show so many times the right value."""
    rng = np.random.default_rng(1)
    stretches = schedule((ONE_CORE, load))
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


def test_right_meters_are_trusted_and_their_numbers_told() -> None:
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


def test_an_exit_code_says_whether_meters_can_be_trusted() -> None:
    code, why = verdict(found_of({INSTANT: 1.0, NVML_COUNTER: 0.0}, GPU))
    assert code == DOUBTED
    assert "energy_j of nvml" in why
    code, why = verdict(found_of({RAPL: 0.0}, ALL_CORES))
    assert (code, why) == (NONE, "no meter to trust: something speaks against every one that was found")
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


def test_loads_burn_when_they_are_to_and_no_longer() -> None:
    with loads([ONE_CORE, ALL_CORES, GPU], ["/nowhere/python"]) as load:
        assert "/nowhere/python" in load.missing[GPU]
        plan = planned(load.names, 2, 0.5)
        stretches = load.run(plan)
    assert [stretch.load for stretch in stretches] == [name for name, _ in plan]
    for before, after in itertools.pairwise(stretches):
        assert 0 <= after.start_ns - before.end_ns < 300_000_000
    assert all(stretch.duration_s == pytest.approx(0.5, abs=0.35) for stretch in stretches)
    with (
        loads([ALL_CORES]) as load,
        pytest.raises(FramewattError, match=r"begin_ns: found an instant .* s ago; allowed"),
    ):
        load.run(plan, time.monotonic_ns() - 10**9)


def test_a_gpu_that_cannot_be_loaded_says_why() -> None:
    with loads([GPU], [sys.executable]) as load:
        assert load.names == []
        assert load.missing[GPU] == "ModuleNotFoundError: No module named 'torch'"


def test_every_load_is_repeated_between_idle_times_of_unlike_lengths() -> None:
    plan = planned((ONE_CORE, ALL_CORES), 3, 4.0)
    assert [name for name, _ in plan] == [IDLE, *[ONE_CORE, IDLE] * 3, *[ALL_CORES, IDLE] * 3]
    assert len({seconds for _, seconds in plan}) > 2
    assert sum(seconds for _, seconds in plan) == pytest.approx(13 * 4.0, rel=0.05)
