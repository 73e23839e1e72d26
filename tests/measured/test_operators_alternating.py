"""Operators of a real program, in turn: each is given what it costs where it is repeated alone.

By the estimate, whose counter moves in steps of ten milliseconds, so that most operators are within a step or two. None
is of a library whose threads go on after it: those of OpenBLAS spin for a while after a product of matrices, and what
they draw then is rightly given to the operator that runs meanwhile.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT

from framewatt.energy.accounts import energy_of
from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace
from framewatt.profiling.joules import BETWEEN, WindowTime, intervals_of, join
from framewatt.profiling.timeline import Timeline
from framewatt.sampling.client import Sampler

INSTRUMENTS = {"estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0, "period_s": 0.001}
ALONE_S, ALTERNATING_S = 1.0, 7.0
LARGE = np.ones(1_000_000, np.float32)
BOTH = ThreadPoolExecutor(2)
OPERATORS: dict[str, Callable[[], object]] = {
    "two sines": lambda: list(BOTH.map(np.sin, [LARGE, LARGE])),
    "sine": lambda: np.sin(LARGE),
    "sleep": lambda: time.sleep(0.005),
}


class Sampled:
    """What was sampled while a `with` statement ran."""

    def __init__(self) -> None:
        self.start_ns = self.end_ns = 0
        self.trace: Trace | None = None

    @property
    def channel(self) -> tuple[Channel, np.ndarray, np.ndarray]:
        assert self.trace is not None
        return self.trace.channels[0], *self.trace.read_channel(0)


@contextmanager
def sampled(path: Path) -> Iterator[Sampled]:
    found, sampler = Sampled(), Sampler(["estimate"], INSTRUMENTS, path)
    sampler.start()
    time.sleep(0.1)
    found.start_ns = time.monotonic_ns()
    yield found
    found.end_ns = time.monotonic_ns()
    time.sleep(sampler.settle_s)
    assert "error" not in sampler.stop()
    found.trace = sampler.trace()


def alone_w(name: str, path: Path) -> tuple[float, float]:
    """Watts while one operator is repeated, and their standard uncertainty."""
    with sampled(path) as run:
        until = time.monotonic() + ALONE_S
        while time.monotonic() < until:
            OPERATORS[name]()
    energy = energy_of(*run.channel, run.start_ns, run.end_ns)
    assert energy.energy_j is not None
    assert energy.uncertainty_j is not None
    seconds = 1e-9 * (run.end_ns - run.start_ns)
    return energy.energy_j / seconds, energy.uncertainty_j / seconds


def off_in(folder: Path) -> list[str]:
    """Operators whose watts in turn are not those that they have alone."""
    folder.mkdir()
    names = tuple(OPERATORS)
    alone = {name: alone_w(name, folder / name) for name in names}
    # Else others work on this machine, so that all operators look alike.
    assert alone["sleep"][0] < 0.6 * alone["two sines"][0], alone
    rng, spans = np.random.default_rng(1), []
    with sampled(folder / "all") as run:
        until = time.monotonic() + ALTERNATING_S
        while time.monotonic() < until:
            kind = int(rng.integers(len(names)))
            lasts_s = rng.uniform(0.005, 0.04)
            began = time.monotonic()
            while time.monotonic() - began < lasts_s:
                OPERATORS[names[kind]]()
            spans.append((kind, began, time.monotonic()))
    window = WindowTime([(run.start_ns, run.end_ns)])
    kind, start, end = (np.array(column) for column in zip(*spans, strict=True))
    line = Timeline(names, kind, *(window.seconds_at(edge - 1e-9 * run.start_ns) for edge in (start, end)))
    found = join(line, intervals_of(*run.channel, window, 0.0))
    told = dict(zip(found.names, zip(found.energy_j, found.uncertainty_j, found.seconds, strict=True), strict=True))
    assert found.energy_j.sum() == pytest.approx(found.total_j)
    assert told[BETWEEN][2] < 0.05 * ALTERNATING_S
    off = []
    for name in names:
        joules, unsure_j, seconds = told[name]
        watts, unsure_w = alone[name]
        assert unsure_j < 0.35 * joules, name
        if abs(joules / seconds - watts) > 3 * np.hypot(unsure_j / seconds, unsure_w) + 0.03 * watts:
            off.append(f"{name}: {joules / seconds:.3g} W in turn, {watts:.3g} W alone")
    return off


@pytest.mark.measured(
    twin="tests/profiling/test_operators_alternating_simulated.py::test_each_has_its_own_cost", processors=2
)
def test_each_has_its_own_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    assert off_in(tmp_path / "sampled") == []
