"""Two ways of doing the same, one after the other, over and over: the ratio of neighbours, and how sure it is."""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / "resources/environments/locked"
PEERS = ENVIRONMENTS / "peers"


@dataclass(frozen=True)
class Ratio:
    """Rates of one way over rates of the other, pair by pair.

    Attributes:
        median: of the pairs' ratios.
        low: lower end of the 95 % bootstrap interval of the median.
        high: its upper end.
        pairs: how many there were.
    """

    median: float
    low: float
    high: float
    pairs: int


class Loops:
    """A process that runs segments of loops, a line each.

    Args:
        environment: name of the environment that it runs in.
        run: Python that reads the lines and answers them.
    """

    def __init__(self, environment: str = "torch", run: str = "from bench.loops import main; main()") -> None:
        # Behind the environment's own packages, so that a loop is the same with and without a tool beside it.
        tools = next((PEERS / "lib").glob("python3*")) / "site-packages"
        code = f"import sys; sys.path.append({str(tools)!r}); {run}"
        self._process = subprocess.Popen(
            [ENVIRONMENTS / environment / "bin/python", "-c", code],
            env={
                **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
                "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}",
                "OMP_NUM_THREADS": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def rate(self, loop: str, seconds: float = 0, tool: str = "") -> float:
        """Samples a second of one segment."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"loop": loop, "seconds": seconds, "tool": tool}) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("RATE "):
                return float(line.split()[1])
        raise RuntimeError(f"the loop {loop} with {tool or 'no tool'} ended early")

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compare(one: Callable[[], float], other: Callable[[], float], pairs: int) -> Ratio:
    """Rates of `one` over those of `other`, see `ratios_of`."""
    return summarise(ratios_of(one, other, pairs))


def ratios_of(one: Callable[[], float], other: Callable[[], float], pairs: int) -> list[float]:
    """Rates of `one` over those of `other`, pair by pair; `other` goes first in every second one.

    The first pair warms up and does not count.
    """
    ratios = []
    for number in range(pairs + 1):
        ways = (one, other) if number % 2 else (other, one)
        rates = {way: way() for way in ways}
        ratios.append(rates[one] / rates[other])
    return ratios[1:]


def summarise(ratios: Sequence[float]) -> Ratio:
    """Median of ratios with its percentile bootstrap interval."""
    values = np.asarray(ratios)
    resampled = np.median(np.random.default_rng(1).choice(values, (9999, len(values))), axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Ratio(float(np.median(values)), float(low), float(high), len(values))
