"""Many windows at once give what each gives alone."""

from dataclasses import asdict

import numpy as np
import pytest

from framewatt.windows import gauge_energy
from framewatt.windows_at_once import gauge_energies

S = 1_000_000_000
HOW = {"update_period_s": 1.0, "period_s": 1.0}


def trace(seed: int = 0, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Readings about a second apart, of power that jumps."""
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.integers(S // 2, 2 * S, n)), rng.choice([40.0, 180.0, 250.0], n)


def same(time_ns: np.ndarray, power_w: np.ndarray, spans: list[tuple[int, int]]) -> None:
    together = gauge_energies(time_ns, power_w, spans, **HOW)
    for found, (start, end) in zip(together, spans, strict=True):
        alone = asdict(gauge_energy(time_ns, power_w, start, end, **HOW))
        for name, value in asdict(found).items():
            assert value == (pytest.approx(alone[name], rel=1e-9) if isinstance(value, float) else alone[name]), name


@pytest.mark.parametrize("seed", range(20))
def test_any_spans_of_a_clean_trace(seed: int) -> None:
    time_ns, power_w = trace(seed)
    rng = np.random.default_rng(seed + 100)
    cuts = rng.integers(time_ns[0], time_ns[-1], (30, 2))
    same(time_ns, power_w, [(int(min(pair)), int(max(pair))) for pair in cuts])


def test_spans_whose_edges_are_readings_or_lie_between_the_same_two() -> None:
    time_ns, power_w = trace()
    a, b, c = (int(t) for t in time_ns[[0, 7, -1]])
    same(time_ns, power_w, [(a, c), (a, b), (b, c), (b, b + 1000), (b + 1000, b + 2000), (a + 5, b)])


def test_a_constant_power_is_exact() -> None:
    time_ns = np.arange(11) * S
    (energy,) = gauge_energies(time_ns, np.full(11, 100.0), [(0, 10 * S)], **HOW)
    assert energy.energy_j == pytest.approx(1000)


@pytest.mark.parametrize("trouble", ["failed", "negative", "gap", "outside"])
def test_a_trace_with_trouble_is_judged_window_by_window(trouble: str) -> None:
    time_ns, power_w = trace()
    spans = [(int(time_ns[2]) + 3, int(time_ns[90])), (int(time_ns[100]), int(time_ns[150]) + 7)]
    if trouble == "failed":
        power_w[50] = np.nan
    elif trouble == "negative":
        power_w[50] = -1
    elif trouble == "gap":
        time_ns[120:] += 60 * S
        spans[1] = (int(time_ns[100]), int(time_ns[-1]))
    else:
        spans[1] = (int(time_ns[100]), int(time_ns[-1]) + 9)
    same(time_ns, power_w, spans)


def test_a_span_that_does_not_end_after_its_start_is_refused() -> None:
    time_ns, power_w = trace()
    with pytest.raises(ValueError, match="not after its start"):
        gauge_energies(time_ns, power_w, [(int(time_ns[5]), int(time_ns[5]))], **HOW)
