"""The logs of a run on one clock."""

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.energy.accounting import spans_of, window_of
from framewatt.imports.assemble import assemble
from framewatt.imports.contract import NO_READINGS, Epoch, Log, single_channel
from framewatt.meters.contract import COUNTER, GAUGE, Channel
from framewatt.meters.trace import Trace

S = 1_000_000_000
NOON = 1_767_268_800 * S


def gauge(power_w: list[float], begin_s: float = 0, *, dated: bool = True, domain: str = "gpu:0") -> Log:
    """A reading a second."""
    time_ns = np.arange(len(power_w)) * S + round(begin_s * S) + (NOON if dated else 0)
    channel = Channel("nvidia-smi", domain, "power_w", GAUGE, 1.0, period_s=1.0)
    return Log(single_channel(channel, time_ns, power_w), dated=dated, paced=not dated)


def total(joules: float, seconds: float) -> Log:
    """What perf says of a run."""
    channel = Channel("perf", "cpu:package", "energy_j", COUNTER, 0.001, period_s=seconds)
    return Log(single_channel(channel, [0, round(seconds * S)], [0, joules]), duration_s=seconds)


def energies(*logs: Log) -> dict:
    made = assemble(logs)
    window = window_of(spans_of(made.events)["process"], made.trace, {"domains": {}})
    return {domain: energy["energy_gross_j"] for domain, energy in window["domains"].items()}


def test_one_log_is_the_run() -> None:
    made = assemble([gauge([100.0] * 11)])
    assert (made.end_ns, made.origin_ns, made.primary_window) == (10 * S, NOON, "process")
    assert energies(gauge([100.0] * 11)) == {"gpu:0": pytest.approx(1000)}


def test_a_total_counts_whole() -> None:
    assert energies(total(500, 20.5)) == {"cpu:package": pytest.approx(500)}


def test_a_total_is_as_certain_as_the_counter() -> None:
    made = assemble([total(500, 20.0)])
    energy = window_of(spans_of(made.events)["process"], made.trace, {"domains": {}})["domains"]["cpu:package"]
    # 25 W over a millisecond at either edge, uniformly.
    assert energy["energy_uncertainty_j"] == pytest.approx(25 * 0.001 * (2 / 12) ** 0.5, rel=0.01)
    assert energy["valid"]
    assert energy["reasons"] == []


def test_logs_that_overlap_share_the_time_that_both_have() -> None:
    assert energies(gauge([100.0] * 11), gauge([10.0] * 11, 4, domain="gpu:1")) == {
        "gpu:0": pytest.approx(600),
        "gpu:1": pytest.approx(60),
    }
    with pytest.raises(FramewattError, match="no time that all logs span"):
        assemble([gauge([1.0] * 3), gauge([1.0] * 3, 10, domain="gpu:1")])


def test_readings_without_a_clock_are_spread_over_the_run() -> None:
    # 100 readings, taken every 1.01 s and not every second, of a run of 100 s.
    assert energies(total(500, 100.0), gauge([50.0] * 100, dated=False))["gpu:0"] == pytest.approx(5000)


def test_readings_that_do_not_fill_the_run_are_not_stretched() -> None:
    made = assemble([total(500, 100.0), gauge([50.0] * 60, dated=False)])
    window = window_of(spans_of(made.events)["process"], made.trace, {"domains": {}})
    gpu = window["domains"]["gpu:0"]
    assert gpu["energy_gross_j"] is None
    assert gpu["reasons"] == ["trace ends 41 s before the window"]
    assert window["domains"]["cpu:package"]["valid"]


def test_a_log_that_ends_too_soon_does_not_shorten_a_run_whose_length_is_known() -> None:
    made = assemble([total(500, 100.0), gauge([50.0] * 51)])
    window = window_of(spans_of(made.events)["process"], made.trace, {"domains": {}})
    assert window["duration_s"] == 100
    assert window["domains"]["cpu:package"]["energy_gross_j"] == pytest.approx(500)
    assert window["domains"]["gpu:0"]["reasons"] == ["trace ends 50 s before the window"]


def test_a_log_with_a_clock_lies_over_a_total_without_one() -> None:
    # The last of 100 readings comes up to a second before the end.
    assert energies(total(500, 100.0), gauge([50.0] * 100)) == {
        "cpu:package": pytest.approx(500),
        "gpu:0": pytest.approx(5000),
    }


def test_a_pace_that_is_off_is_told() -> None:
    made = assemble([total(500, 200.0), gauge([50.0] * 194, dated=False)])
    assert made.flags == ("gpu:0: readings came +3.6 % off the stated interval, to fill the run",)


def test_readings_that_failed_at_an_edge_are_no_part_of_the_run() -> None:
    made = assemble([gauge([np.nan, *[100.0] * 10, np.nan])])
    assert made.end_ns == 9 * S
    assert made.flags == ("gpu:0: 2 readings failed before the first or after the last good one",)


def test_epochs_are_windows_and_the_first_begins_with_the_log() -> None:
    ends = [Epoch(NOON + 4 * S, {"accuracy": 0.5}), Epoch(NOON + 9 * S, {"accuracy": 0.7})]
    made = assemble([gauge([100.0] * 11), Log(NO_READINGS, dated=True, epochs=tuple(ends))])
    assert spans_of(made.events) == {
        "epoch-1": [(0, 4 * S)],
        "epoch-2": [(4 * S, 9 * S)],
        "process": [(0, 10 * S)],
        "steady": [(0, 4 * S), (4 * S, 9 * S)],
    }
    assert made.primary_window == "steady"
    assert made.flags == ("epoch 1 begins with the log, so that setting up is in it",)


def test_epochs_need_the_same_clock() -> None:
    epoch = Log(NO_READINGS, dated=True, epochs=(Epoch(NOON, {}),))
    with pytest.raises(FramewattError, match="no log of power has any"):
        assemble([gauge([1.0] * 3, dated=False), epoch])
    with pytest.raises(FramewattError, match="epoch 1 ends before the first reading"):
        assemble([gauge([1.0] * 3, 5), epoch])


def test_gpus_of_one_log_that_are_read_in_turn_share_a_window() -> None:
    first, second = gauge([100.0] * 11).trace, gauge([50.0] * 11, 0.001, domain="gpu:1").trace
    both = Trace(
        (*first.channels, *second.channels),
        np.concatenate([first.monotonic_ns, second.monotonic_ns]),
        np.concatenate([first.channel, second.channel + 1]),
        np.concatenate([first.value, second.value]),
    )
    assert energies(Log(both, dated=True)) == {"gpu:0": pytest.approx(999.9), "gpu:1": pytest.approx(499.95)}
