"""Scenes that a witness sees, second by second, and what it tells of their windows."""

from collections.abc import Callable

import numpy as np
from disturbed import RUNNER, SAMPLER, TICKS, WORKER, Kernel

from framewatt.meters.trace import Trace
from framewatt.witness.instrument import Witness, witness_channels
from framewatt.witness.window import witness_of, witnessed

S = 1_000_000_000
SPAN = [(10 * S, 20 * S)]
"""A window of 10 s, which a reading each second falls on."""
Script = Callable[[Kernel, float], None]
"""What happens in the second that ends at some time."""


def at_work(scene: Kernel, busy: float = 1.0, others: float = 0.0) -> None:
    """A second in which the run works on some processors, and others on some."""
    scene.processes[WORKER].cpu += round(busy * TICKS)
    scene.idle += round((scene.processors - busy - others) * TICKS)


def play(scene: Kernel, script: Script, step_s: float = 1.0, until_s: float = 30.0) -> Trace:
    """What a witness reads of a scene: before, and after each step."""
    witness = Witness(RUNNER, SAMPLER, scene.write().root)
    rows = [witness.read()[1]]
    times = np.arange(0, until_s + step_s / 2, step_s)
    for time_s in times[1:]:
        script(scene, time_s)
        scene.write()
        rows.append(witness.read()[1])
    channels = tuple(witness_channels(step_s))
    values = np.array(rows).T
    stamps = np.round(times * S).astype(np.int64)
    numbers = np.repeat(np.arange(len(channels), dtype=np.int32), len(times))
    return Trace(channels, np.tile(stamps, len(channels)), numbers, values.ravel())


def told(trace: Trace, spans: list[tuple[int, int]] = SPAN, at_rest: float | None = None) -> dict:
    """The witness of a window."""
    found = witnessed(witness_of(trace), spans, at_rest)
    assert found is not None
    return found


def neighbour(share: float, since_s: float = 0.0) -> Script:
    return lambda scene, time_s: at_work(scene, 1.0, share if time_s > since_s else 0.0)


def stalled(what: str, share: float) -> Script:
    def script(scene: Kernel, _: float) -> None:
        at_work(scene)
        assert scene.stall_us is not None
        scene.stall_us[what] += round(share * 1e6)

    return script


def reading(read_b: int, own_b: int = 0, stall: float = 0.0) -> Script:
    def script(scene: Kernel, time_s: float) -> None:
        stalled("io", stall)(scene, time_s)
        scene.sectors += (read_b + own_b) // 512
        scene.processes[WORKER].read_b = (scene.processes[WORKER].read_b or 0) + own_b

    return script
