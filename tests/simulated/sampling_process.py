"""The sampling process on simulated time: its loop and its meters are the real ones, its hardware follows a script.

Only the clock, the waiting and what lies outside Python are replaced: powercap and /proc/stat are files that are
written for each instant of the simulated clock, pynvml is the scripted module, perf and nvidia-smi are the lines that
the scripted programs print. Nothing waits, and nothing depends on how busy the machine is.
"""

import contextlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from hardware.case import METERS, meters_of, options_of
from hardware.script import Script

from framewatt.meters.contract import Channel
from framewatt.meters.trace import Trace
from framewatt.sampling import __main__ as process
from framewatt.sampling.raw import read_raw
from simulated.process_clock import ORIGIN_NS, UNDISTURBED, Disturbance, Killed, Time
from simulated.scripted_machine import Disk, Machine


@dataclass
class Sampled:
    """What came of a sampling process.

    Attributes:
        trace: its readings.
        answers: what it reported to its parent; only the channels, where it was killed.
        script: the hardware, with its start on the simulated clock.
    """

    trace: Trace
    answers: list[dict[str, Any]]
    script: Script = field(repr=False)


def sample_script(
    script: Script,
    scratch: Path,
    end_s: float,
    *,
    meters: Sequence[str] = METERS,
    smi_period_s: float = 0.01,
    disturbance: Disturbance = UNDISTURBED,
    stands_still: Sequence[tuple[float, float]] = (),
    start_s: float = 5.0,
    seed: int = 0,
) -> Sampled:
    """Run the sampling process on scripted hardware until a second of the script.

    Args:
        script: the hardware.
        scratch: an empty folder.
        end_s: second at which its parent closes its standard input.
        meters: names of the meters; those that the scripted machine lacks are left out.
        smi_period_s: seconds between two lines of nvidia-smi.
        disturbance: what happens to the process.
        stands_still: spans in which the files of powercap show what they showed before, as where a program that plays
            them is held up.
        start_s: second at which the process starts.
        seed: of everything that is by chance: how late the process wakes, and how late programs print.
    """
    script = replace(script, start_ns=ORIGIN_NS)
    rng = np.random.default_rng([2026, seed])
    machine = Machine(script, scratch, Time(script, start_s, disturbance, rng), rng, stands_still)
    path = scratch / "trace.bin"
    request = {"meters": meters_of(script, meters), "options": options_of(machine.wall, smi_period_s)}
    printed, trace = io.StringIO(), None
    with machine.installed(end_s, Disk(disturbance.disk_b)), contextlib.redirect_stdout(printed):
        try:
            process.main(json.dumps({**request, "path": str(path)}))
        except Killed:
            # Before its files are closed: what Python still holds of them is lost.
            trace = read_raw(path, _channels(printed))
    answers = [json.loads(line) for line in printed.getvalue().splitlines()]
    return Sampled(read_raw(path, _channels(printed)) if trace is None else trace, answers, script)


def _channels(printed: io.StringIO) -> tuple[Channel, ...]:
    first = json.loads(printed.getvalue().splitlines()[0])
    return tuple(Channel(**channel) for channel in first.get("channels", []))
