"""How well idle power is known: by chance, by correlation, by drift."""

import numpy as np
import pytest
from simulated.idle import cover_idle

from framewatt.energy.idle_power import drift_w, idle_uncertainty_w, spreads_of

S = 1_000_000_000


def idle(mean_power_w: float | None, session: str = "one") -> dict:
    return {"machine": {"session": session}, "domains": {"gpu:0": {"mean_power_w": mean_power_w}}}


@pytest.mark.parametrize(
    ("noise", "idle_s", "run_s"),
    [
        ("white", 600, 10),
        ("white", 600, 1),  # the shortest span of the idle time is 4.7 s
        ("white", 120, 0.5),
        ("correlated over 1 s", 600, 1),
        ("white", 60, 300),
        ("correlated over 5 s", 600, 10),
        ("correlated over 5 s", 60, 60),
        ("correlated over 30 s", 600, 100),
        ("drift of 5 W", 60, 10),
    ],
)
def test_twice_the_uncertainty_of_idle_power_covers_that_of_a_run(noise: str, idle_s: float, run_s: float) -> None:
    share, ratio = cover_idle(noise, idle_s, run_s, studies=150)
    assert share >= 0.93
    assert ratio <= 3.5


def test_a_long_run_is_known_as_well_as_the_mean_and_a_short_one_as_its_own_length() -> None:
    powers = np.where(np.arange(128) % 2, 52.0, 48.0)

    def mean_powers(spans: list[tuple[int, int]]) -> list[float]:
        return [float(powers[round(a / S) : round(b / S)].mean()) for a, b in spans]

    spreads = spreads_of(mean_powers, 0, 128 * S, shortest_s=1)
    assert [(spread["span_s"], spread["spans"]) for spread in spreads] == [
        (32, 4),
        (16, 8),
        (8, 16),
        (4, 32),
        (2, 64),
        (1, 128),
    ]
    assert [round(spread["sd_power_w"], 2) for spread in spreads] == [0, 0, 0, 0, 0, 2.01]
    of_mean_w = 0.99 * 2.008 / 128**0.5
    domain = {"sd_power_w": 0.5, "spreads": spreads}
    assert idle_uncertainty_w(domain, 10) == pytest.approx(of_mean_w, rel=0.01)
    assert idle_uncertainty_w(domain, 1) == pytest.approx(np.hypot(of_mean_w, 0.99 * 2.008), rel=0.01)


def test_a_short_idle_time_is_cut_into_four_all_the_same() -> None:
    spreads = spreads_of(lambda spans: [50.0 + i for i in range(len(spans))], 0, 2 * S, shortest_s=20)
    assert [spread["spans"] for spread in spreads] == [4]


def test_spans_whose_power_is_unknown_tell_nothing() -> None:
    assert spreads_of(lambda spans: [None, *[50.0] * (len(spans) - 1)], 0, 10 * S, shortest_s=5) == []


@pytest.mark.parametrize(("spread", "known"), [(2.0, 2.0), (None, None)])
def test_a_stated_idle_power_is_as_uncertain_as_is_stated(spread: float | None, known: float | None) -> None:
    assert idle_uncertainty_w({"sd_power_w": spread}, 10) == known


def test_idle_power_that_moved_was_anywhere_between() -> None:
    assert drift_w(idle(50.0), idle(53.0)) == {"gpu:0": pytest.approx(3 / 3**0.5)}
    assert drift_w(idle(50.0), idle(None)) == {}


def test_idle_power_of_another_machine_or_boot_is_no_drift() -> None:
    assert drift_w(idle(50.0), idle(53.0, "another")) == {}
