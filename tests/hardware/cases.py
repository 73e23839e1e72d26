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
        end_s: second at which the window closes.
        invalid: by domain, the meters that must give no number for it.
        may_be_invalid: whether it depends on the machine if there are numbers; where there are, they must be right.
        actions: `(second, what)` done to the sampling process: `stop`, `continue`, `kill`, `starve`, `feed`.
        clock_step: whether the wall clock is set an hour ahead in the middle.
        disk_b: size of the disk that takes the trace, or None for a large one.
    """

    name: str
    script: Script
    end_s: float = END_S
    invalid: dict[str, frozenset[str]] = field(default_factory=dict)
    may_be_invalid: bool = False
    actions: tuple[tuple[float, str], ...] = ()
    clock_step: bool = False
    disk_b: int | None = None

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
ALL_ONES_W = 0xFFFFFFFF * 1e-3
FAIL_ONCE = {domain: [[MIDDLE_S, MIDDLE_S + 0.03]] for domain in (CPU, GPU)}
FAIL_ON = {domain: [[MIDDLE_S, math.inf]] for domain in (CPU, GPU)}
TWO_SOCKETS = {CPU: CONSTANT, "cpu:package-1": [[0.0, 60.0]], DRAM: [[0.0, 10.0]], "cpu:dram-1": [[0.0, 5.0]]}
TO_WRAP_J = 60.0 * MIDDLE_S
EVERYWHERE = dict.fromkeys((CPU, DRAM, PSYS, "cpu:core-0", GPU, WALL, "cpu:estimate"), ALL)

CASES = (
    Case("constant 100 W", machine(CONSTANT)),
    Case("step 100 to 300 W", machine([[0, 100], [BEGIN_S + 10, 300]], limit_w=400), end_s=BEGIN_S + 20),
    Case("bursts of 1 s", machine([[second, 250 if second % 2 else 50] for second in range(40)], limit_w=400)),
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
    Case("wall clock set an hour ahead", machine(CONSTANT), clock_step=True),
    Case(
        "disk full",
        machine(CONSTANT),
        # Once a second may be too little to fill it.
        invalid={domain: meters - {"nvidia-smi 1 Hz"} for domain, meters in EVERYWHERE.items()},
        may_be_invalid=True,
        disk_b=40_960,
    ),
)
