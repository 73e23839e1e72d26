"""Idle power that wanders, and how often the uncertainty of net energy covers what a run's own idle power was."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from framewatt.energy.idle_power import drift_w, idle_uncertainty_w, spreads_of

Values = NDArray[np.float64]
STEP_S = 0.1
_STUDY_S = 1800.0


def _correlated(seconds: float) -> Callable[[np.random.Generator, int], Values]:
    keep = np.exp(-STEP_S / seconds)

    def drawn(rng: np.random.Generator, n: int) -> Values:
        changes = rng.normal(0, 3 * np.sqrt(1 - keep**2), n)
        power, now = np.empty(n), rng.normal(0, 3)
        for i in range(n):
            now = keep * now + changes[i]
            power[i] = now
        return power

    return drawn


NOISES: dict[str, Callable[[np.random.Generator, int], Values]] = {
    "white": lambda rng, n: rng.normal(0, 3, n),
    "correlated over 1 s": _correlated(1),
    "correlated over 5 s": _correlated(5),
    "correlated over 30 s": _correlated(30),
    "drift of 5 W": lambda rng, n: rng.normal(0, 1, n) + np.linspace(0, 5 * rng.choice([-1, 1]), n),
}
"""What idle power of 50 W does beside that, in watts."""


def cover_idle(noise: str, idle_s: float, run_s: float, studies: int, seed: int = 1) -> tuple[float, float]:
    """Studies of half an hour with idle power measured before and after, and a run somewhere between.

    Args:
        noise: one of NOISES.
        idle_s: seconds of each idle measurement.
        run_s: seconds of the run.
        studies: how many.
        seed: of all that is by chance.

    Returns:
        share of studies in which twice the uncertainty covers the error of the run's idle power, and uncertainty over
        error (root mean squares).
    """
    rng = np.random.default_rng(seed)
    errors, uncertainties = np.empty(studies), np.empty(studies)
    for i in range(studies):
        power = 50 + NOISES[noise](rng, round((2 * idle_s + _STUDY_S) / STEP_S))
        before, after = (_idle(part) for part in (power[: round(idle_s / STEP_S)], power[-round(idle_s / STEP_S) :]))
        start = round((idle_s + rng.random() * (_STUDY_S - run_s)) / STEP_S)
        own_w = power[start : start + round(run_s / STEP_S)].mean()
        errors[i] = before["domains"]["gpu:0"]["mean_power_w"] - own_w
        known_w = idle_uncertainty_w(before["domains"]["gpu:0"], run_s)
        uncertainties[i] = np.hypot(known_w, drift_w(before, after)["gpu:0"])
    share = float(np.mean(np.abs(errors) <= 2 * uncertainties))
    return share, float(np.sqrt(np.mean(uncertainties**2) / np.mean(errors**2)))


def _idle(power: Values) -> dict:
    cumulative = np.concatenate(([0.0], np.cumsum(power)))

    def mean_powers(spans: list[tuple[int, int]]) -> list[float | None]:
        edges = np.array(spans) * 1e-9 / STEP_S
        joules = np.interp(edges, np.arange(len(cumulative)), cumulative)
        return list(np.diff(joules)[:, 0] / np.diff(edges)[:, 0])

    spreads = spreads_of(mean_powers, 0, round(len(power) * STEP_S * 1e9), shortest_s=0.4)
    domain = {"mean_power_w": float(power.mean()), "sd_power_w": None, "spreads": spreads}
    return {"machine": {"session": "one"}, "domains": {"gpu:0": domain}}
