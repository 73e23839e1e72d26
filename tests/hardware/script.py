"""What scripted hardware draws and how it misbehaves, by time. The fakes read it; so does whoever knows what is right.

A script is a JSON file, and a clock that starts when it is played: second 0 is `start_ns` on CLOCK_MONOTONIC.
"""

import json
import math
import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

VARIABLE = "FRAMEWATT_HARDWARE_SCRIPT"
"""Names the script's file to fake programs and modules."""

RANGE_J = 262_143.328_85
"""Where a package's counter starts again from 0 on most Intel processors."""


@dataclass(frozen=True)
class Script:
    """Hardware by time; seconds count from `start_ns`.

    Attributes:
        watts: by domain, steps `[second, watts]` in order of time, the first at 0.
        start_j: by domain, what its counter shows at second 0; 1000 where it is not named.
        wrap_j: by domain, where its counter starts again from 0; RANGE_J where it is not named.
        resets: by domain, the second at which its counter starts anew from 0.
        frozen: by domain, the second from which its counter stands still, while power goes on.
        lost: by domain, the span `[second, second]` in which its counter stands still, to go on as if it had not been.
        glitches: by domain, spans `[second, second, watts]` in which its power reads as something else.
        refreshed_s: by domain, seconds from one update to the next of what the GPU's driver shows; 0.02 else.
        averaged_s: by domain, seconds over which `power.draw` of nvidia-smi and NVML's average are means; 0 else.
        unreadable: by domain, spans `[second, second]` in which it cannot be read.
        limit_w: power limit that the packages' zones tell.
        gpu_counter: whether the GPU has an energy counter.
        gpu_mig: whether the GPU is divided.
        start_ns: CLOCK_MONOTONIC of second 0.
    """

    watts: dict[str, list[list[float]]]
    start_j: dict[str, float] = field(default_factory=dict)
    wrap_j: dict[str, float] = field(default_factory=dict)
    resets: dict[str, float] = field(default_factory=dict)
    frozen: dict[str, float] = field(default_factory=dict)
    lost: dict[str, list[float]] = field(default_factory=dict)
    glitches: dict[str, list[list[float]]] = field(default_factory=dict)
    refreshed_s: dict[str, float] = field(default_factory=dict)
    averaged_s: dict[str, float] = field(default_factory=dict)
    unreadable: dict[str, list[list[float]]] = field(default_factory=dict)
    limit_w: float = 200.0
    gpu_counter: bool = True
    gpu_mig: bool = False
    start_ns: int = 0

    def now_s(self) -> float:
        """The script's second now."""
        return (time.monotonic_ns() - self.start_ns) * 1e-9

    def watts_at(self, domain: str, second: float) -> float:
        """Power of a domain."""
        return [watts for begin, watts in self.watts[domain] if begin <= second or begin == 0][-1]

    def shown_w(self, domain: str, second: float, averaged: bool = False) -> float:
        """Power as the domain's gauge shows it, of the instant or averaged."""
        span_s = self.averaged_s.get(domain, 0.0) if averaged else 0.0
        for begin, end, watts in self.glitches.get(domain, []):
            if begin <= second < end:
                return watts
        return self.joules(domain, second - span_s, second) / span_s if span_s else self.watts_at(domain, second)

    def updated_s(self, domain: str, second: float) -> float:
        """When a GPU's driver last looked."""
        period_s = self.refreshed_s.get(domain, 0.02)
        return second // period_s * period_s

    def counted_j(self, domain: str, begin_s: float, end_s: float) -> float:
        """What the domain's counter gains between two seconds."""
        stands_s = self.frozen.get(domain, math.inf)
        begin_s, end_s = min(begin_s, stands_s), min(end_s, stands_s)
        lost = [min(max(edge, begin_s), end_s) for edge in self.lost.get(domain, [0.0, 0.0])]
        return self.joules(domain, begin_s, end_s) - self.joules(domain, *lost)

    def joules(self, domain: str, begin_s: float, end_s: float) -> float:
        """Energy of a domain between two seconds: the right value."""
        steps = self.watts[domain]
        ends = [step[0] for step in steps[1:]] + [math.inf]
        spans = [(max(begin, begin_s), min(end, end_s), watts) for (begin, watts), end in zip(steps, ends, strict=True)]
        return sum((end - begin) * watts for begin, end, watts in spans if end > begin)

    def counter(self, domain: str, second: float) -> float:
        """What the domain's counter shows, in joules."""
        reset_s = self.resets.get(domain, math.inf)
        if second >= reset_s:
            raw = self.counted_j(domain, reset_s, second)
        else:
            raw = self.start_j.get(domain, 1000.0) + self.counted_j(domain, 0, second)
        return raw % self.wrap_j.get(domain, RANGE_J)

    def readable(self, domain: str, second: float) -> bool:
        """Whether the domain can be read."""
        return not any(begin <= second < end for begin, end in self.unreadable.get(domain, []))

    def save(self, path: Path) -> None:
        """Write the script."""
        path.write_text(json.dumps(asdict(self)))


def load(path: Path) -> Script:
    """Read a script."""
    return Script(**json.loads(path.read_text()))


def current() -> Script:
    """The script that the environment names."""
    return load(Path(os.environ[VARIABLE]))
