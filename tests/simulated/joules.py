"""`make simulate`: joules of operators where they are known, by a meter that is slower than most of them."""

import sys
from dataclasses import dataclass

import numpy as np

from framewatt.profiling.joules import Intervals, join
from framewatt.profiling.timeline import Floats, Timeline
from simulated.procedures import AT_LEAST, Row

STUDIES = 10
SEED = 2026
COVERED = 0.90

FLOOR_W = 20.0
SHORTEST_S, LONGEST_S = 1e-4, 1.0
LIMIT_W = 70.0
"""Of a machine that cannot draw what two streams mostly ask for."""
HIGHER_LIMIT_W = 100.0
"""Of one that cannot at times."""
COSTLIER = 1.2
"""What runs at once draws so many times as much on a machine whose streams are in each other's way."""

CALL_SD = 0.05
"""How much the power of calls of one kind varies, relative."""


@dataclass(frozen=True)
class Meter:
    """A counter: how often it is updated, its last digit, and how well its lag is known."""

    period_s: float
    digit_j: float
    lag_sd_s: float


METERS = {
    "1 ms, as RAPL": Meter(1e-3, 61e-6, 2e-4),
    "10 ms": Meter(1e-2, 1e-3, 2e-3),
    "100 ms, as NVML's counter": Meter(1e-1, 1e-3, 1e-2),
}


@dataclass(frozen=True)
class Machine:
    """How many streams a program has, and what its machine draws for them.

    Attributes:
        told: in the table.
        streams: of operators.
        most_w: what the machine draws at most: what runs at once then gets it in proportion to what each asks for.
        beside: each operator draws so many times as much beside others.
    """

    told: str
    streams: int
    most_w: float = np.inf
    beside: float = 1.0


MACHINES = (
    Machine("1", 1),
    Machine("2", 2),
    Machine("2, limited", 2, LIMIT_W),
    Machine("2, limited at times", 2, HIGHER_LIMIT_W),
    Machine("2, costlier at once", 2, beside=COSTLIER),
    Machine("3", 3),
    Machine("3, limited", 3, LIMIT_W),
)


@dataclass(frozen=True)
class Truth:
    """A program whose power is known at any time.

    Attributes:
        timeline: its operators.
        power_w: (n,), of each operator while it runs, above the floor.
        length_s: of the window.
        most_w: see Machine.
        beside: see Machine.
    """

    timeline: Timeline
    power_w: Floats
    length_s: float
    most_w: float = np.inf
    beside: float = 1.0

    @property
    def _drawn(self) -> tuple[Floats, Floats, Floats]:
        """Times at which anything changes, from 0 on; what is drawn from then on above the floor.

        As a share of what operators draw alone, and in watts.
        """
        line = self.timeline
        knots = np.concatenate((line.start_s, line.end_s))
        change = np.concatenate((self.power_w, -self.power_w))
        order = np.argsort(knots)
        alone = np.concatenate(([0.0], np.cumsum(change[order])))
        running = np.concatenate(([0], np.cumsum(np.repeat((1, -1), len(line.kind))[order])))
        drawn = np.minimum(alone * np.where(running > 1, self.beside, 1.0), self.most_w - FLOOR_W)
        share = np.where(running > 0, drawn / np.maximum(alone, 1e-9), 1.0)
        return np.concatenate(([0.0], knots[order])), share, drawn

    def energy_until(self, at_s: Floats) -> Floats:
        """Joules drawn before some times."""
        knots, _, drawn_w = self._drawn
        power = FLOOR_W + drawn_w
        gained = np.concatenate(([0.0], np.cumsum(power[:-1] * np.diff(knots))))
        place = np.clip(np.searchsorted(knots, at_s, side="right") - 1, 0, len(knots) - 1)
        found: Floats = gained[place] + power[place] * (at_s - knots[place])
        return found

    def joules(self) -> Floats:
        """(kinds + 1,), of each kind with its share of the floor, and between operators."""
        line = self.timeline
        knots, share, _ = self._drawn
        # Seconds at full power, up to each change.
        full_s = np.concatenate(([0.0], np.cumsum(share[:-1] * np.diff(knots))))
        lasts_s = np.interp(line.end_s, knots, full_s) - np.interp(line.start_s, knots, full_s)
        own = np.bincount(line.kind, self.power_w * lasts_s, len(line.kinds))
        shared = line.shares_s
        return np.append(own + FLOOR_W * shared, FLOOR_W * (self.length_s - shared.sum()))


def program(rng: np.random.Generator, kinds: int, machine: Machine, length_s: float) -> Truth:
    """Operators of 0.1 ms to 1 s on some streams, in an order of its own, with pauses."""
    median_s = np.exp(rng.uniform(np.log(SHORTEST_S), np.log(LONGEST_S), kinds))
    power_w = rng.uniform(5, 60, kinds)
    # Rare where long, as in a program: each kind gets some share of the time.
    often = rng.dirichlet(np.ones(kinds)) / median_s
    kind, start, end = [], [], []
    for _ in range(machine.streams):
        at_s = 0.0
        while at_s < length_s:
            which = int(rng.choice(kinds, p=often / often.sum()))
            lasts = float(np.clip(median_s[which] * np.exp(0.2 * rng.standard_normal()), SHORTEST_S, LONGEST_S))
            pause = float(rng.exponential(0.1 * lasts))
            kind.append(which)
            start.append(at_s)
            end.append(min(at_s + lasts, length_s))
            at_s += lasts + pause
    line = Timeline(tuple(f"op{n}" for n in range(kinds)), np.array(kind), np.array(start), np.array(end))
    drawn = power_w[line.kind] * (1 + CALL_SD * rng.standard_normal(len(line.kind)))
    return Truth(line, drawn, length_s, machine.most_w, machine.beside)


def read(rng: np.random.Generator, truth: Truth, meter: Meter) -> Intervals:
    """What a counter gives of the program: it is updated with a jitter, and rounds down; its lag is a little off."""
    count = int(truth.length_s / meter.period_s)
    at_s = np.linspace(0, truth.length_s, count + 1)
    at_s[1:-1] += rng.uniform(-0.1, 0.1, count - 1) * meter.period_s
    lag_s = rng.normal(0, meter.lag_sd_s)
    seen = np.clip(at_s + lag_s, 0, truth.length_s)
    counter = np.floor(truth.energy_until(seen) / meter.digit_j) * meter.digit_j
    return Intervals(at_s, np.diff(counter), meter.digit_j, meter.lag_sd_s, meter.digit_j)


def row(name: str, machine: Machine, studies: int) -> tuple[Row, str]:
    """A row of the table: whether it meets its target, and as Markdown.

    Args:
        name: of the meter.
        machine: what the programs run on.
        studies: programs.
    """
    inside, unsure, off = [], [], 0.0
    for seed in range(studies):
        rng = np.random.default_rng([SEED, seed, machine.streams])
        truth = program(rng, 12, machine, length_s=20.0)
        found = join(truth.timeline, read(rng, truth, METERS[name]))
        error = np.abs(found.energy_j - truth.joules())
        inside += (error <= 1.96 * found.uncertainty_j).tolist()
        unsure += (found.uncertainty_j / np.maximum(np.abs(found.energy_j), 1e-9)).tolist()
        off = max(off, abs(found.energy_j.sum() - found.total_j) / found.total_j)
    told = Row(name, "", float(np.mean(inside)), AT_LEAST, COVERED, studies)
    share = f"{100 * told.found:.1f} %" if told.met else f"**{100 * told.found:.1f} %**"
    return told, f"| {name} | {machine.told} | {share} | {100 * np.median(unsure):.2g} % | {off:.1g} |"


def main(studies: int) -> None:
    """Print the table as Markdown.

    Args:
        studies: programs of each row.
    """
    missed = 0
    print("| meter | streams | kinds within their 95 % interval | median uncertainty | sum off by |")
    print("|---|---:|---:|---:|---:|")
    for name in METERS:
        for machine in MACHINES:
            told, line = row(name, machine, studies)
            missed += not told.met
            print(line, flush=True)
    print(f"\n{missed} of the numbers above miss their target." if missed else "\nEvery number meets its target.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
