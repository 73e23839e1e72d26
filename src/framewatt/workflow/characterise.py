"""Can this machine's meters be trusted? What `make preflight METERS=1` and `make characterise` do."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.cli import say
from framewatt.base.ending import scratch_folder
from framewatt.base.files import write_json
from framewatt.characterisation.loads import loads, planned, square_waves
from framewatt.characterisation.measure import Characterisation, characterise
from framewatt.characterisation.schedule import ALL_CORES, GPU, ONE_CORE
from framewatt.characterisation.summary import NONE, lines, verdict
from framewatt.host.lock import machine_lock
from framewatt.host.machine import describe_machine
from framewatt.meters import availability
from framewatt.preflight import check_machine

OF_A_MACHINE = ("rapl", "perf", "pyrapl", "nvml", "nvidia-smi")
"""Meters of a machine. Logs and recorded traces belong to a study instead, and the estimate measures nothing."""

OPTIONS: dict[str, Any] = {"period_s": 0.01, "perf_period_s": 0.1, "nvidia_smi_period_s": 0.1}
"""A study's defaults, except for nvidia-smi: its default period of a second would hide its lag."""

_DISTURBING = ("load", "GPU processes", "GPU throttling", "CPU temperature", "GPU temperature")
"""Preflight findings that would distort the steps of load."""


@dataclass(frozen=True)
class Extent:
    """Duration of a characterisation.

    Attributes:
        repeats: repetitions of each load.
        step_s: approximate seconds of each step.
        wave_s: seconds of each square wave on the GPU; 0: none, and the GPU's power at rest is not measured.
    """

    repeats: int
    step_s: float
    wave_s: float


SHORT = Extent(3, 3.5, 4.0)
"""About two minutes with a GPU's load, without the start of frameworks."""

LONG = Extent(4, 8.0, 10.0)
"""Under five minutes, and under seven with a GPU's load."""


def characterise_here(
    folder: Path, extent: Extent, gpu_pythons: Sequence[str] = (), begin_ns: int | None = None
) -> int:
    """Characterise the available meters, print the result, and write a record and a figure; returns the exit code.

    Args:
        folder: takes `characterisation.json`, `trace.parquet` and `steps.{svg,png}`.
        extent: duration.
        gpu_pythons: interpreters that may have PyTorch, best first; this one and `python3` are tried too.
        begin_ns: CLOCK_MONOTONIC of the first step, for tests with simulated hardware; None starts soon.

    Raises:
        FramewattError: an available meter cannot be read.
    """
    known = availability(OF_A_MACHINE, OPTIONS)
    for name, (ready, reason) in known.items():
        say(f"  {name}: {'ready' if ready else 'not here'}: {reason}")
    meters = [name for name, (ready, _) in known.items() if ready]
    if not meters:
        say("verdict: no meter to trust: this machine has none")
        return NONE
    findings = check_machine(observe_s=1.0)
    wanted = [ONE_CORE, ALL_CORES] + ([GPU] if {"nvml", "nvidia-smi"} & set(meters) else [])
    pythons = [*gpu_pythons, sys.executable, *filter(None, [shutil.which("python3")])]
    with machine_lock("characterisation"), loads(wanted, pythons) as load, scratch_folder() as scratch:
        plan = planned(load.names, extent.repeats, extent.step_s)
        plan += square_waves(extent.wave_s) if GPU in load.names and extent.wave_s else []
        say(f"  {sum(seconds for _, seconds in plan):.0f} s of {', '.join(load.names)}, idle between them")
        outcome = characterise(meters, OPTIONS, load, plan, scratch / "trace.bin", begin_ns)
    say("")
    for line in lines(outcome):
        say(line)
    for finding in findings:
        if finding["topic"] in _DISTURBING:
            say(f"  disturbed: {finding['topic']}: {finding['found']}; {finding['meaning']}; mend: {finding['remedy']}")
    code, why = verdict(outcome)
    record = {"machine": describe_machine(), "meters": meters, "preflight": findings, "verdict": why, "exit_code": code}
    write_json(folder / "characterisation.json", {**record, **outcome.to_dict()})
    say(f"\n{_draw(outcome, folder)}; {_write_trace(outcome, folder)}")
    say(f"verdict: {why}")
    return code


def _write_trace(outcome: Characterisation, folder: Path) -> str:
    """Write the raw readings if this interpreter has pyarrow; returns the outcome in words."""
    path = folder / "trace.parquet"
    try:
        from framewatt.meters.trace_file import write_trace
    except ImportError as error:
        return f"no readings: {error}"
    write_trace(path, outcome.trace)
    return f"readings in {path}"


def _draw(outcome: Characterisation, folder: Path) -> str:
    """Draw the steps if this interpreter has matplotlib; returns the outcome in words."""
    paths = [folder / f"steps.{suffix}" for suffix in ("svg", "png")]
    try:
        from framewatt.figures.meter_steps import draw
        from framewatt.figures.save import save
    except ImportError as error:
        return f"record in {folder}; no picture: {error}"
    save(draw(outcome), paths)
    return f"record in {folder}, picture in {paths[0]} and {paths[1].name}"
