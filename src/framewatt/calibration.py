"""Idle power of the machine, per domain, with its spread."""

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from framewatt.accounting import energy_channels, energy_of
from framewatt.ending import scratch_folder
from framewatt.errors import FramewattError
from framewatt.files import read_json, write_json
from framewatt.machine import describe_machine
from framewatt.sampler import Sampler
from framewatt.trace import Trace

_SLICES = 10
_SETTLE_S = 0.2


def measure_idle(meters: Sequence[str], options: Mapping[str, Any], idle_s: float, trace_path: Path) -> dict[str, Any]:
    """Do nothing for `idle_s` seconds and say what that draws.

    Args:
        meters: names of the meters to read.
        options: the study's `instruments`.
        idle_s: seconds to measure.
        trace_path: where raw readings go.

    Returns:
        `meters`, `idle_s`, `duration_s`, `machine` and, by domain, `mean_power_w`, `sd_power_w` (standard deviation
        over tenths of the time; the uncertainty of idle power during a run of comparable length), `instrument`,
        `estimated`, `valid`, `reasons`.

    Raises:
        FramewattError: a meter cannot be read.
    """
    sampler = Sampler(meters, options, trace_path)
    sampler.start()
    time.sleep(_SETTLE_S)
    start_ns = time.monotonic_ns()
    time.sleep(idle_s)
    end_ns = time.monotonic_ns()
    time.sleep(_SETTLE_S)
    summary = sampler.stop()
    trace = sampler.trace()
    domains = {
        domain: _idle_of(trace, index, start_ns, end_ns) for domain, index in energy_channels(trace.channels).items()
    }
    if "error" in summary:
        raise FramewattError(f"idle power: {summary['error']}")
    return {
        "meters": list(meters),
        "idle_s": idle_s,
        "duration_s": (end_ns - start_ns) * 1e-9,
        "domains": domains,
        "sampler": summary,
        "machine": describe_machine(),
    }


def idle_here(idle: Mapping[str, Any], options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The calibration of this node as it is booted now.

    Idle power is a node's: where the study's calibration comes from another one, or from before a boot, this node is
    measured once, and the result kept under its fingerprint until the study asks for another calibration.

    Args:
        idle: the study's calibration, with the hash of its job.
        options: the study's `instruments`.
        folder: where calibrations of further nodes are kept.

    Raises:
        FramewattError: a meter cannot be read.
    """
    fingerprint = describe_machine()["fingerprint"]
    if idle["machine"]["fingerprint"] == fingerprint:
        return dict(idle)
    kept = folder / f"idle_{fingerprint}.json"
    if not kept.exists() or read_json(kept).get("job_sha256") != idle["job_sha256"]:
        with scratch_folder() as scratch:
            found = measure_idle(idle["meters"], options, idle["idle_s"], scratch / "trace.bin")
        write_json(kept, {**found, "job_sha256": idle["job_sha256"]})
    return dict(read_json(kept))


def _idle_of(trace: Trace, index: int, start_ns: int, end_ns: int) -> dict[str, Any]:
    channel = trace.channels[index]
    time_ns, value = trace.of(index)
    whole = energy_of(channel, time_ns, value, start_ns, end_ns)
    edges = np.linspace(start_ns, end_ns, _SLICES + 1).astype(np.int64)
    slices = [energy_of(channel, time_ns, value, int(a), int(b)).mean_power_w for a, b in itertools.pairwise(edges)]
    known = [power for power in slices if power is not None and math.isfinite(power)]
    return {
        "mean_power_w": whole.mean_power_w,
        "sd_power_w": float(np.std(known, ddof=1)) if len(known) > 1 else None,
        "instrument": channel.instrument,
        "source": channel.quantity,
        "estimated": channel.estimated,
        "valid": not whole.reasons,
        "reasons": list(whole.reasons),
    }
