"""Opens the meters and the witness, each with its reader and a file of its own."""

import dataclasses
import os
import time
from collections.abc import Sequence
from pathlib import Path

from framewatt.meters.contract import Channel, Meter, Polled, Streamed
from framewatt.sampling.raw import RawReadings, RawRows
from framewatt.sampling.turns import OnTime, Turns, WhenReady, Witnessing
from framewatt.witness.instrument import GpuProcesses, Witness, witness_channels


def open_meters(meters: Sequence[Meter], path: Path) -> tuple[list[Channel], list[Turns]]:
    """Open all meters, each with a reader and a file of its own.

    Args:
        meters: not opened yet.
        path: common prefix of the files' names.

    Returns:
        the channels of all, in order, and one reader per meter.

    Raises:
        FramewattError: a meter cannot be opened.
    """
    channels: list[Channel] = []
    tasks: list[Turns] = []
    for meter in meters:
        first = len(channels)
        channels += [dataclasses.replace(channel, period_s=meter.period_s) for channel in meter.open()]
        if isinstance(meter, Polled):
            tasks.append(OnTime(meter, RawRows(path, first, len(channels) - first), _takes_s(meter)))
        elif isinstance(meter, Streamed):
            tasks.append(WhenReady(meter, RawReadings(path, first)))
    return channels, tasks


def _takes_s(meter: Polled) -> float:
    """Return the seconds that a meter takes to answer: the fastest of three tries."""
    tries = []
    for _ in range(3):
        started_s = time.perf_counter()
        meter.values()
        tries.append(time.perf_counter() - started_s)
    return min(tries)


def open_witness(events: str, path: Path, first: int, *, gpus: bool) -> tuple[list[Channel], Witnessing]:
    """Return the witness for the runner, which started this process, with its channels.

    Args:
        events: the file of the measured process's events, which need not exist yet.
        path: common prefix of the files' names.
        first: index of the witness's first channel.
        gpus: whether processes on GPUs are counted.
    """
    on_gpus = _gpu_processes() if gpus else None
    channels = witness_channels(gpus=on_gpus.domains if on_gpus else ())
    witness = Witness(os.getppid(), os.getpid(), gpus=on_gpus)
    return channels, Witnessing(witness, Path(events), RawRows(path, first, len(channels)))


def _gpu_processes() -> GpuProcesses | None:
    try:
        import pynvml
    except ImportError:
        return None
    return GpuProcesses(pynvml)
