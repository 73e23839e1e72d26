"""The cases that every meter must get right: a number that is right, or no number and a reason (issue 2).

Each draws power by a script for 10 or 20 seconds; the right energy follows from the script alone.
"""

import math
from dataclasses import dataclass, field

from hardware.script import RANGE_J, Script

BEGIN_S = 6.0
"""The window opens here; before, meters start."""

MIDDLE_S = BEGIN_S + 5
END_S = BEGIN_S + 10

CPU, DRAM, PSYS, GPU, WALL = "cpu:package-0", "cpu:dram-0", "cpu:psys", "gpu:0", "external:wall"
COUNTERS = frozenset({"rapl", "perf", "pyrapl", "nvml", "estimate"})
GAUGES = frozenset({"nvidia-smi", "nvidia-smi 1 Hz", "nvml power", "nvml average", "external"})
ALL = COUNTERS | GAUGES
OF_POWERCAP = frozenset({"rapl", "pyrapl"})
OF_GPU = frozenset({"nvml", "nvml power", "nvml average", "nvidia-smi", "nvidia-smi 1 Hz"})
POLLED = frozenset({"rapl", "pyrapl", "nvml", "estimate"})


@dataclass(frozen=True)
class Case:
    """What happens, and which meters cannot know the energy.

    Attributes:
        name: in words.
        script: the hardware.
        begin_s: second at which the window opens; before, meters start.
        end_s: second at which the window closes.
        invalid: by domain, the meters that must give no number for it.
        may_be_invalid: whether it depends on the machine if there are numbers; where there are, they must be right.
        actions: `(second, what)` done to the sampling process: `stop`, `continue`, `kill`, `starve`, `feed`.
        clock_step_s: second at which the wall clock is set an hour ahead; infinite where it is not.
        disk_b: size of the disk that takes the trace, or None for a large one.
        blind: by meter, the uncertainty that must do for a load of which the meter sees little, see right.py.
    """

    name: str
    script: Script
    begin_s: float = BEGIN_S
    end_s: float = END_S
    invalid: dict[str, frozenset[str]] = field(default_factory=dict)
    may_be_invalid: bool = False
    actions: tuple[tuple[float, str], ...] = ()
    clock_step_s: float = math.inf
    disk_b: int | None = None
    blind: dict[str, float] = field(default_factory=dict)

    @property
    def window_s(self) -> float:
        """Length of the window in seconds."""
        return self.end_s - self.begin_s

    @property
    def alone(self) -> bool:
        """Whether it would disturb other cases that are played at the same time."""
        return any(what == "starve" for _, what in self.actions)


def machine(steps: list[list[float]], **change: object) -> Script:
    """One socket with DRAM inside psys, a GPU and a wall meter, which all follow the same steps."""

    def scaled(share: float) -> list[list[float]]:
        return [[second, watts * share] for second, watts in steps]

    watts = {CPU: steps, DRAM: scaled(0.1), "cpu:core-0": scaled(0.6), PSYS: scaled(2), GPU: steps, WALL: scaled(3)}
    return Script(watts=watts, **change)


CONSTANT = [[0.0, 100.0]]
BURSTS = [[second, 250 if second % 2 else 50] for second in range(40)]
BLIND_TO_BURSTS = {"nvidia-smi 1 Hz": 0.4, "nvml power": 0.025}
"""nvidia-smi is read as rarely as the load changes; NVML may show each change 0.1 s late."""

ALL_ONES_W = 0xFFFFFFFF * 1e-3
FAIL_ONCE = {domain: [[MIDDLE_S, MIDDLE_S + 0.03]] for domain in (CPU, GPU)}
FAIL_ON = {domain: [[MIDDLE_S, math.inf]] for domain in (CPU, GPU)}
TWO_SOCKETS = {CPU: CONSTANT, "cpu:package-1": [[0.0, 60.0]], DRAM: [[0.0, 10.0]], "cpu:dram-1": [[0.0, 5.0]]}
TO_WRAP_J = 60.0 * MIDDLE_S
EVERYWHERE = dict.fromkeys((CPU, DRAM, PSYS, "cpu:core-0", GPU, WALL, "cpu:estimate"), ALL)

CASES = (
    Case("constant 100 W", machine(CONSTANT)),
    Case("step 100 to 300 W", machine([[0, 100], [BEGIN_S + 10, 300]], limit_w=400), end_s=BEGIN_S + 20),
    Case("bursts of 1 s", machine(BURSTS, limit_w=400), blind=BLIND_TO_BURSTS),
    Case(
        "wrap on one of two sockets",
        Script(watts=TWO_SOCKETS, start_j={"cpu:package-1": RANGE_J - TO_WRAP_J}),
        # pyRAPL gives a negative number after a wrap.
        invalid={"cpu:package-1": frozenset({"pyrapl"})},
    ),
    Case(
        "wrap at the edge",
        Script(watts=TWO_SOCKETS, start_j={"cpu:package-1": RANGE_J - 60.0 * BEGIN_S}),
        invalid={"cpu:package-1": frozenset({"pyrapl"})},
    ),
    Case(
        "second wrap possible in a gap",
        machine(CONSTANT, wrap_j={CPU: 900.0}, start_j={CPU: 0.0}, unreadable={CPU: [[MIDDLE_S - 2, MIDDLE_S + 2]]}),
        invalid={CPU: frozenset({"rapl", "pyrapl", "perf"})},
    ),
    Case("counter reset", machine(CONSTANT, resets={CPU: MIDDLE_S}), invalid={CPU: OF_POWERCAP}),
    Case("one failed read", machine(CONSTANT, unreadable=FAIL_ONCE), invalid={CPU: frozenset({"perf"})}),
    Case(
        "reads fail from then on",
        machine(CONSTANT, unreadable=FAIL_ON),
        # pyRAPL gives nothing at all once one of its counters fails.
        invalid={CPU: frozenset({"rapl", "pyrapl", "perf"}), DRAM: frozenset({"pyrapl"}), GPU: OF_GPU},
    ),
    Case(
        "GPU vanishes",
        machine(CONSTANT, unreadable={GPU: [[MIDDLE_S, math.inf]]}),
        invalid={GPU: OF_GPU},
    ),
    Case(
        "GPU counter stuck at one value",
        machine(CONSTANT, frozen={GPU: 0.0}),
        invalid={GPU: frozenset({"nvml"})},
    ),
    Case(
        "counters freeze",
        machine(CONSTANT, frozen={CPU: MIDDLE_S, GPU: MIDDLE_S}),
        invalid={CPU: frozenset({"rapl", "pyrapl", "perf"}), GPU: frozenset({"nvml"})},
    ),
    Case(
        "counters lose 0.6 s",
        machine(CONSTANT, lost={domain: [MIDDLE_S, MIDDLE_S + 0.6] for domain in (CPU, GPU)}),
        invalid={CPU: frozenset({"rapl", "pyrapl", "perf"}), GPU: frozenset({"nvml"})},
    ),
    Case("GPU refreshed each 0.6 s", machine(CONSTANT, refreshed_s={GPU: 0.6})),
    Case(
        "GPU power of all ones for 50 ms", machine(CONSTANT, glitches={GPU: [[MIDDLE_S, MIDDLE_S + 0.05, ALL_ONES_W]]})
    ),
    Case(
        "GPU power of 0 W",
        machine(CONSTANT, glitches={GPU: [[0.0, math.inf, 0.0]]}),
        invalid={GPU: OF_GPU - {"nvml"}},
    ),
    Case(
        "load = window, power averaged over 1 s",
        machine([[0, 30], [BEGIN_S, 300], [END_S, 30]], averaged_s={GPU: 1.0}, limit_w=400),
    ),
    Case("divided GPU (MIG)", machine(CONSTANT, gpu_mig=True)),
    Case("GPU without energy counter", machine(CONSTANT, gpu_counter=False)),
    Case("sampler killed", machine(CONSTANT), invalid=EVERYWHERE, actions=((MIDDLE_S, "kill"),)),
    Case(
        "sampler stopped for 2 s",
        machine(CONSTANT),
        # Counters go on meanwhile; so does perf, whose lines wait; power of these 2 s is known to nobody. For a meter
        # that is read once a second they are no gap.
        invalid={GPU: frozenset({"nvml power", "nvml average", "nvidia-smi"})},
        actions=((MIDDLE_S, "stop"), (MIDDLE_S + 2, "continue")),
    ),
    Case("sampler starved", machine(CONSTANT), may_be_invalid=True, actions=((BEGIN_S, "starve"), (END_S, "feed"))),
    Case("wall clock set an hour ahead", machine(CONSTANT), clock_step_s=MIDDLE_S),
    Case(
        "disk full",
        machine(CONSTANT),
        # Once a second may be too little to fill it.
        invalid={domain: meters - {"nvidia-smi 1 Hz"} for domain, meters in EVERYWHERE.items()},
        may_be_invalid=True,
        disk_b=40_960,
    ),
)

SHORT_BEGIN_S, SHORT_END_S = 4.0, 9.0

IN_REAL_TIME = (
    Case(
        "every meter, constant 100 W, a divided GPU, and the wall clock set ahead",
        machine(CONSTANT, gpu_mig=True),
        SHORT_BEGIN_S,
        SHORT_END_S,
        clock_step_s=SHORT_BEGIN_S + 2,
    ),
    Case(
        "every meter, bursts of 1 s",
        machine(BURSTS, limit_w=400),
        SHORT_BEGIN_S,
        # Whole periods: power is the same at both edges, so that averages over a second cost less.
        SHORT_END_S + 1,
        blind=BLIND_TO_BURSTS,
    ),
    Case(
        "the sampler is killed",
        machine(CONSTANT),
        SHORT_BEGIN_S,
        SHORT_BEGIN_S + 3,
        invalid=EVERYWHERE,
        actions=((SHORT_BEGIN_S + 1, "kill"),),
    ),
    Case(
        "the sampler is stopped for 1.5 s",
        machine(CONSTANT),
        SHORT_BEGIN_S,
        SHORT_END_S,
        invalid={GPU: frozenset({"nvml power", "nvml average", "nvidia-smi"})},
        actions=((SHORT_BEGIN_S + 1, "stop"), (SHORT_BEGIN_S + 2.5, "continue")),
    ),
    Case(
        "the sampler is starved",
        machine(CONSTANT),
        SHORT_BEGIN_S,
        SHORT_END_S,
        may_be_invalid=True,
        actions=((SHORT_BEGIN_S, "starve"), (SHORT_END_S, "feed")),
    ),
    Case(
        "the disk is full",
        machine(CONSTANT),
        SHORT_BEGIN_S,
        SHORT_BEGIN_S + 3,
        invalid={domain: meters - {"nvidia-smi 1 Hz"} for domain, meters in EVERYWHERE.items()},
        may_be_invalid=True,
        disk_b=40_960,
    ),
)
"""What needs the real process, the real programs and the real clock, in windows that are as short as may be."""
