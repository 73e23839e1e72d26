"""What was found of a meter is in force in the windows of runs, and told in the report."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from simulated.covered import cover
from simulated.loads import SHAPES
from simulated.meters import AVERAGE, INSTANT, NVML_COUNTER, RAPL, SimulatedMeter, late
from simulated.schedules import drawn, schedule

from framewatt.characterisation.measure import characterise_for_study, look
from framewatt.characterisation.measured import in_force
from framewatt.characterisation.schedule import ALL_CORES, GPU
from framewatt.energy.accounts import energy_of
from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace
from framewatt.report.machines import meters_table

DOCUMENTED = replace(AVERAGE.channel, average_s=0.0, average_most_s=1.0)


def calibration(meter: SimulatedMeter, channel: Channel, load: str, step_s: float = 2.0) -> dict:
    """A calibration at a study's default length, as it is read back from its file."""
    rng = np.random.default_rng(1)
    stretches = schedule((load,), step_s=step_s)
    time_ns, value = meter.read(drawn(stretches, meter.most_w, rng), rng)
    found = look(Trace((channel,), time_ns, np.zeros(len(time_ns), int), value), stretches)
    return json.loads(json.dumps({"characterisation": found.to_dict()}))


def test_windows_use_the_measured_properties_of_a_meter() -> None:
    (channel,) = in_force([DOCUMENTED], calibration(AVERAGE, DOCUMENTED, GPU))
    assert channel.average_s == pytest.approx(1.0, abs=0.1)
    assert channel.average_most_s == 0.0
    assert 2 < channel.fit_window_s < 10
    assert Channel.from_dict(json.loads(json.dumps(channel.to_dict()))) == channel
    # Ten seconds of load that begin and end with the window: what is known of the average makes it nearly right.
    rng = np.random.default_rng(2)
    load = drawn(schedule((GPU,), step_s=10.0), 300.0, rng)
    time_ns, value = AVERAGE.read(load, rng)
    stretch = schedule((GPU,), step_s=10.0)[1]
    right_j = float(np.diff(load.energy_to(np.array([stretch.start_ns, stretch.end_ns]) * 1e-9))[0])
    before, after = (energy_of(c, time_ns, value, stretch.start_ns, stretch.end_ns) for c in (DOCUMENTED, channel))
    assert abs(after.energy_j - right_j) < abs(before.energy_j - right_j) / 2
    assert abs(after.energy_j - right_j) <= 2 * after.uncertainty_j


def test_a_window_that_is_too_short_for_its_meter_is_flagged() -> None:
    (channel,) = in_force([DOCUMENTED], calibration(AVERAGE, DOCUMENTED, GPU))
    time_ns = np.arange(0, 60_000_000_000, 20_000_000)
    value = 100 + np.arange(len(time_ns)) // 5 % 7 * 0.1
    short, long = (energy_of(channel, time_ns, value, 10**10, 10**10 + round(s * 1e9)) for s in (2.5, 20))
    assert short.flags == (f"window of 2.5 s is shorter than the {channel.fit_window_s:.3g} s that 5 % take here",)
    assert long.flags == ()


def test_what_was_not_characterised_stays_as_it_is_documented() -> None:
    assert in_force([RAPL.channel], {}) == (RAPL.channel,)
    assert in_force([RAPL.channel], {"characterisation": None}) == (RAPL.channel,)
    assert in_force([RAPL.channel], calibration(AVERAGE, DOCUMENTED, GPU)) == (RAPL.channel,)
    (found,) = in_force([RAPL.channel], calibration(RAPL, RAPL.channel, ALL_CORES))
    assert replace(found, fit_window_s=0.0) == RAPL.channel
    assert 0 < found.fit_window_s < 0.2


@pytest.mark.parametrize("shape", SHAPES)
def test_a_counter_that_was_measured_as_late_has_a_wider_uncertainty(shape: str) -> None:
    meter = late(NVML_COUNTER, 0.4)
    (channel,) = in_force([meter.channel], calibration(meter, meter.channel, GPU, step_s=5.0))
    assert channel.late_s == pytest.approx(0.4, abs=0.1)
    before, after = (cover(one, shape, windows=100) for one in (meter, replace(meter, channel=channel)))
    assert after.share >= 0.93
    assert after.uncertainty_j <= 3 * after.error_j
    assert after.invalid == before.invalid
    if shape == "load = window":
        assert before.share < 0.2


def test_a_lag_of_less_than_an_update_is_detected_too_and_none_where_there_is_none() -> None:
    meter = late(NVML_COUNTER, 0.09)
    (channel,) = in_force([meter.channel], calibration(meter, meter.channel, GPU))
    assert channel.late_s == pytest.approx(0.1, abs=0.02)
    before, after = (cover(one, "load = window", windows=100) for one in (meter, replace(meter, channel=channel)))
    assert before.share < 0.2
    assert after.share >= 0.93
    (on_time,) = in_force([NVML_COUNTER.channel], calibration(NVML_COUNTER, NVML_COUNTER.channel, GPU))
    assert on_time.late_s == 0
    gauge = late(INSTANT, 0.09)
    (widened,) = in_force([gauge.channel], calibration(gauge, gauge.channel, GPU))
    assert widened.average_most_s == pytest.approx(0.2, abs=0.05)
    (as_documented,) = in_force([INSTANT.channel], calibration(INSTANT, INSTANT.channel, GPU))
    assert as_documented.average_most_s == 0


def test_an_estimate_is_not_characterised(tmp_path: Path) -> None:
    assert characterise_for_study(["estimate", "replay"], {}, 2.0, tmp_path, tmp_path / "trace.bin") is None
    assert characterise_for_study(["rapl"], {}, 0, tmp_path, tmp_path / "trace.bin") is None
    assert not list(tmp_path.iterdir())


def test_the_report_shows_the_measured_properties() -> None:
    table = meters_table(SimpleNamespace(calibrations={"": (calibration(AVERAGE, DOCUMENTED, GPU), {})}))
    assert table is not None
    (row,) = table.rows
    cells = dict(zip(table.header, row, strict=True))
    assert cells["quantity read"] == "power_average_w"
    assert cells["mean over"].startswith(("0.9", "1.0"))
    assert cells["last digit"] == "0.001 W"
    assert cells["to be trusted"] == "yes"
    assert cells["for 5 %"].endswith("\N{NO-BREAK SPACE}s")
    assert meters_table(SimpleNamespace(calibrations={"": ({}, {})})) is None
