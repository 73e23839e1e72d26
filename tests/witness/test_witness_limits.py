"""The limit on what others may take: what they take at rest is added, and ticks and edges are no disturbance."""

from pathlib import Path

import numpy as np
import pytest
from disturbed import TICKS, kernel
from witness_scenes import S, neighbour, play, told

from framewatt.witness.instrument import witness_channels
from framewatt.witness.judgement import Seen, judge_window
from framewatt.witness.window import others_at_rest, witnessed

pytestmark = pytest.mark.usefixtures("two_processors")


def idle_in_whole_ticks(online: int, seconds: float, rng: np.random.Generator) -> dict:
    """A quiet window of a run on two of many processors, each of which counts its idle time by itself."""
    start_s = 1 + rng.random()
    edges = np.array([start_s, start_s + seconds])
    regular = np.arange(0, edges[1] + 2) + 0.01 * rng.random()
    times = np.sort(np.concatenate((regular, edges + rng.uniform(0, 0.005, 2))))
    idling = np.arange(online) >= 2
    idle_s = np.floor(times[:, None] * TICKS * idling + rng.random(online)).sum(1) / TICKS
    known = {"idle_s": idle_s, "cpu_s": 2 * times, "processors_online": online, "processors_usable": 2}
    time_ns = np.round(times * S).astype(np.int64)
    read = {
        (one.domain, one.quantity): (one, time_ns, np.broadcast_to(known.get(one.quantity, 0.0), times.shape))
        for one in witness_channels()
    }
    found = witnessed(read, [tuple(np.round(edges * S).astype(np.int64).tolist())])
    assert found is not None
    return found


@pytest.mark.parametrize("seconds", [0.5, 1.0, 2.0, 5.0])
def test_a_quiet_run_on_a_few_of_many_processors_is_not_disturbed(seconds: float) -> None:
    rng = np.random.default_rng(1)
    found = [idle_in_whole_ticks(300, seconds, rng) for _ in range(200)]
    assert sum(bool(one["disturbed"]) for one in found) <= 2
    if seconds == 5:
        assert sum(one["disturbed"] == [] for one in found) >= 198


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


def test_a_calibration_states_how_many_processors_others_took() -> None:
    assert others_at_rest({"duration_s": 60.0, "witness": {"others_cpu_s": 3.0}}) == 0.05
    for unknown in ({"duration_s": 60.0}, {"duration_s": 60.0, "witness": None}, {"domains": {}}):
        assert others_at_rest(unknown) is None
    assert others_at_rest({"duration_s": 60.0, "witness": {"others_cpu_s": None}}) is None


@pytest.mark.parametrize("told", ["many", float("nan"), float("inf"), -5.0, True, [3.0]])
def test_a_calibration_with_nonsense_about_others_allows_for_nothing(told: object) -> None:
    assert others_at_rest({"duration_s": 60.0, "witness": {"others_cpu_s": told}}) is None
    assert others_at_rest({"duration_s": told, "witness": {"others_cpu_s": 3.0}}) is None
    assert others_at_rest({"duration_s": 60.0, "witness": told}) is None


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
def test_the_limit_is_exact_from_both_sides_and_doubt_at_the_edges_is_reported(
    unsure_s: float, others_s: float, disturbed: bool, unknown: bool
) -> None:
    nothing = {"cpu": 0.0, "memory": 0.0, "io": 0.0}
    judged = judge_window(Seen(10.0, unsure_s, 2.0, others_s, 0.0, nothing, 0.0, 0.0, 0.0))
    assert bool(judged["disturbed"]) == disturbed
    assert (judged["unknown"] is not None) == unknown
    assert (judged["disturbed"] is None) == (unknown and not disturbed)
