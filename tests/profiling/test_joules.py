"""Joules of operators from a meter that is slower than they are: what is told, and what is said not to be known."""

import numpy as np
import pytest
from simulated.joules import FLOOR_W, METERS, Machine, Meter, Truth, program, read

from framewatt.profiling.joules import BETWEEN, Intervals, join
from framewatt.profiling.timeline import Timeline

EXACT = Meter(0.01, 1e-9, 0.0)


def timeline(*operators: tuple[str, float, float]) -> Timeline:
    kinds = tuple(dict.fromkeys(name for name, *_ in operators))
    places = np.array([kinds.index(name) for name, *_ in operators])
    return Timeline(kinds, places, *(np.array([one[edge] for one in operators], float) for edge in (1, 2)))


def test_seconds_of_an_interval_are_those_that_a_kind_ran_in_it_and_of_two_at_once_both_count() -> None:
    line = timeline(("a", 0.0, 1.5), ("b", 1.0, 2.0), ("a", 1.0, 2.5))
    assert line.active(np.array([0.0, 1.0, 2.0, 4.0])).tolist() == pytest.approx(
        np.array([[1.0, 0.0], [1.5, 1.0], [0.5, 0.0]])
    )
    assert line.calls.tolist() == [2, 1]
    assert line.seconds.tolist() == pytest.approx([3.0, 1.0])


def test_what_runs_at_once_shares_its_seconds_and_all_are_the_time_in_which_anything_ran() -> None:
    line = timeline(("a", 0.0, 2.0), ("b", 1.0, 2.0), ("b", 5.0, 6.0))
    assert line.shares_s.tolist() == pytest.approx([1.5, 1.5])
    assert line.within(1.0, 5.5).shares_s.tolist() == pytest.approx([0.5, 1.0])
    assert timeline(("a", 0.0, 1.0)).within(2.0, 3.0).shares_s.tolist() == [0.0]


def alternating(powers_w: tuple[float, float], lasts_s: float, count: int = 400) -> Truth:
    """Two operators in turn, with a pause after each that differs from turn to turn."""
    rng = np.random.default_rng(0)
    starts = np.cumsum(lasts_s * rng.uniform(1.1, 1.9, count))
    kind = rng.integers(0, 2, count)
    line = Timeline(("dear", "cheap"), kind, starts, starts + lasts_s)
    return Truth(line, np.array(powers_w)[kind], float(starts[-1] + 2 * lasts_s))


def test_operators_shorter_than_the_meters_period_have_their_own_power() -> None:
    truth = alternating((60.0, 5.0), lasts_s=0.004)
    found = join(truth.timeline, read(np.random.default_rng(1), truth, EXACT))
    assert found.names == ("dear", "cheap", BETWEEN)
    assert found.energy_j == pytest.approx(truth.joules(), rel=0.02)
    assert found.energy_j.sum() == pytest.approx(found.total_j, rel=1e-9)
    assert (found.uncertainty_j / found.energy_j).max() < 0.1
    assert found.seconds.sum() == pytest.approx(truth.length_s, rel=0.02)


def test_operators_that_always_run_together_are_not_told_apart_and_say_so() -> None:
    """One ten times as dear as the other: no reading shows which."""
    starts = np.arange(0.0, 4.0, 0.02)
    line = Timeline(
        ("dear", "cheap"),
        np.tile([0, 1], len(starts)),
        np.repeat(starts, 2) + np.tile([0, 0.005], len(starts)),
        np.repeat(starts, 2) + np.tile([0.005, 0.01], len(starts)),
    )
    truth = Truth(line, np.where(line.kind == 0, 50.0, 5.0), 4.0)
    meter = Meter(0.02, 1e-3, 0.0)
    at_s = np.linspace(0, 4.0, 201)
    found = join(line, Intervals(at_s, np.diff(np.floor(truth.energy_until(at_s) / meter.digit_j) * meter.digit_j)))
    off = np.abs(found.energy_j - truth.joules())
    assert off[0] > 0.1 * truth.joules()[0]
    assert (off <= 2.5 * found.uncertainty_j)[:2].all(), (off, found.uncertainty_j)
    # Nor do readings that are all alike tell them from the floor; of all together nothing is unsure.
    together = found.grouped([[0, 1, 2]], ["all"])
    assert together.energy_j.tolist() == pytest.approx([found.total_j])
    assert together.uncertainty_j[0] < 1e-6 * found.total_j


@pytest.mark.parametrize("meter", METERS)
@pytest.mark.parametrize("streams", [1, 2])
def test_true_joules_are_within_the_intervals(meter: str, streams: int) -> None:
    """Four programs a meter, two of the one whose 20,000 readings take long; make simulate has more, and the aim."""
    inside = []
    for seed in range(2 if METERS[meter].period_s < 0.01 else 4):
        rng = np.random.default_rng([7, seed])
        truth = program(rng, 8, Machine("", streams), length_s=4.0)
        found = join(truth.timeline, read(rng, truth, METERS[meter]))
        inside += (np.abs(found.energy_j - truth.joules()) <= 1.96 * found.uncertainty_j).tolist()
        assert found.energy_j.sum() == pytest.approx(found.total_j, rel=1e-9)
    assert np.mean(inside) > 0.8


def test_a_machine_at_rest_is_between_operators() -> None:
    at_s = np.linspace(0, 5, 501)
    found = join(timeline(("a", 1.0, 1.5)), Intervals(at_s, np.diff(FLOOR_W * at_s)))
    assert found.energy_j[-1] == pytest.approx(FLOOR_W * 4.5, rel=0.01)
    assert found.energy_j[0] == pytest.approx(FLOOR_W * 0.5, rel=0.05)


def test_too_few_readings_are_refused() -> None:
    with pytest.raises(ValueError, match="a meter gave 2 intervals"):
        join(timeline(("a", 0.0, 1.0)), Intervals(np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0])))
