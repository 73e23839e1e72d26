"""Operators that run at once on a machine that draws less or more for it than for one after the other."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from simulated.joules import COSTLIER, LIMIT_W, METERS, Machine, Meter, program, read

from framewatt.profiling import design as designs
from framewatt.profiling.design import Gram, Overlaps
from framewatt.profiling.joules import Intervals, OperatorJoules, join
from framewatt.profiling.timeline import Timeline

METER = Meter(1e-2, 1e-3, 0.0)


def three_calls(shift_s: float = 0.0) -> Timeline:
    """Of `a` from 0 to 2, of `b` from 1 to 3, of `a` once more beside it from 2.5 to 3."""
    return Timeline(
        ("a", "b"), np.array([0, 1, 0]), np.array([0.0, 1.0 + shift_s, 2.5]), np.array([2.0, 3.0 + shift_s, 3.0])
    )


def test_sets_are_what_runs_at_once_and_have_their_seconds_in_each_interval() -> None:
    found = Overlaps.from_timeline(three_calls(), np.array([0.0, 1.5, 3.0, 4.0]))
    assert found is not None
    assert found.calls.toarray().tolist() == [[1, 1]]
    assert found.seconds.toarray().ravel().tolist() == pytest.approx([0.5, 1.0, 0.0])
    assert found.seconds_of_kinds.tolist() == pytest.approx([1.5, 1.5])


def test_what_is_drawn_at_once_is_shared_in_proportion_to_what_each_draws_alone() -> None:
    """40 W beside 10 W on a machine that gives both 25 W: 20 and 5."""
    found = Overlaps.from_timeline(three_calls(), np.array([0.0, 1.5, 3.0, 4.0]))
    assert found is not None
    less_w = np.where(found.column_level, -25.0, 0.0)
    shared = found.shared(np.array([40.0, 10.0]), less_w, spread_w=0.0)
    assert shared.energy_j.tolist() == pytest.approx([1.5 * 20, 1.5 * 5])
    # Who asked for how much is not in the readings, and what one does not get the other does.
    assert shared.covariance[0, 0] == pytest.approx(-shared.covariance[0, 1])
    assert shared.covariance[0, 0] > 0
    # By a watt more of `a`: as a difference.
    more = found.shared(np.array([40.001, 10.0]), less_w, spread_w=0.0)
    assert shared.by_kind[:, 0] == pytest.approx((more.energy_j - shared.energy_j) / 0.001, rel=1e-3)
    adding = found.shared(np.array([40.0, 10.0]), 0 * less_w, spread_w=0.0)
    assert adding.energy_j.tolist() == pytest.approx([60.0, 15.0])
    assert np.abs(adding.covariance).max() < 1e-12
    assert adding.by_kind == pytest.approx(1.5 * np.eye(2))


def test_operators_one_after_the_other_or_of_clocks_that_are_a_little_off_do_not_overlap() -> None:
    edges_s = np.linspace(0, 4, 41)
    in_turn = Timeline(("a",), np.zeros(3, int), np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0 + 1e-6, 3.0]))
    assert Overlaps.from_timeline(in_turn, edges_s) is None
    nothing = Timeline(("a",), np.zeros(0, int), np.zeros(0), np.zeros(0))
    assert Overlaps.from_timeline(nothing, edges_s) is None


def test_sums_of_products_are_those_of_a_dense_matrix() -> None:
    rng = np.random.default_rng(0)
    columns = csr_matrix(rng.standard_normal((50, 7)) * (rng.random((50, 7)) < 0.4))
    weight = rng.random(50)
    dense = columns.toarray()
    assert Gram(columns).weighted(weight) == pytest.approx((dense * weight[:, None]).T @ dense)


def covered(
    machine: Machine, programs: int, meter: Meter = METER, fluctuates: float = 0.0
) -> tuple[float, list[OperatorJoules]]:
    """Share of kinds within their 95 % interval, and what was found."""
    inside, found = [], []
    for seed in range(programs):
        rng = np.random.default_rng([11, seed])
        truth = program(rng, 6, machine, length_s=6.0)
        seen = read(rng, truth, meter)
        noisy_j = seen.energy_j * (1 + fluctuates * rng.standard_normal(len(seen.energy_j)))
        found.append(join(truth.timeline, replace(seen, energy_j=noisy_j)))
        inside += (np.abs(found[-1].energy_j - truth.joules()) <= 1.96 * found[-1].uncertainty_j).tolist()
    return float(np.mean(inside)), found


@pytest.mark.parametrize(
    "machine",
    [
        Machine("a limit that mostly binds", 2, LIMIT_W),
        Machine("one that binds at times", 2, 90.0),
        Machine("dearer at once", 2, beside=COSTLIER),
        Machine("three streams at a limit", 3, LIMIT_W),
    ],
    ids=lambda machine: machine.told,
)
def test_true_joules_are_within_the_intervals_where_powers_do_not_add(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if powers added, they are not; make simulate has more programs, and the share that is aimed at."""
    share, found = covered(machine, programs=2)
    assert share > 0.8
    for one in found:
        assert one.energy_j.sum() == pytest.approx(one.total_j, rel=1e-12)
        assert (one.energy_j >= 0).all()
    monkeypatch.setattr(designs.Overlaps, "from_timeline", lambda *_: None)
    assert covered(machine, programs=2)[0] < share


def test_where_powers_add_the_uncertainty_is_hardly_larger_than_if_that_were_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine("a limit that is never reached", 2, most_w=1000.0)
    share, found = covered(machine, 2, METERS["10 ms"])
    monkeypatch.setattr(designs.Overlaps, "from_timeline", lambda *_: None)
    _, adding = covered(machine, 2, METERS["10 ms"])
    ran = [one.seconds > 0 for one in found]
    pairs = zip(found, adding, ran, strict=True)
    wider = np.concatenate([one.uncertainty_j[of] / other.uncertainty_j[of] for one, other, of in pairs])
    assert share > 0.8
    assert np.median(wider) < 1.3


@pytest.mark.parametrize(("fluctuates", "least"), [(0.0, 0.8), (0.03, 0.7)])
def test_a_machine_that_draws_the_same_whatever_runs_does_not_tell_who_asked_for_it(
    monkeypatch: pytest.MonkeyPatch, fluctuates: float, least: float
) -> None:
    """At 40 W three streams of 5 to 60 W are always at the limit: all powers look alike, and none is known."""
    machine, meter = Machine("always at its limit", 3, most_w=40.0), METERS["100 ms, as NVML's counter"]
    share, _ = covered(machine, 3, meter, fluctuates)
    assert share > least
    monkeypatch.setattr(Overlaps, "still_w", lambda *_: 0.0)
    assert covered(machine, 3, meter, fluctuates)[0] < 0.6


def test_a_meter_that_does_not_move_gives_nothing_to_anyone() -> None:
    rng = np.random.default_rng(3)
    truth = program(rng, 6, Machine("", 2), length_s=3.0)
    edges_s = np.linspace(0, 3, 301)
    found = join(truth.timeline, Intervals(edges_s, np.zeros(300), 1e-3))
    assert np.abs(found.energy_j).max() < 1e-6
    assert found.total_j == 0
