"""Meters and the witness, ready to read, each with its turns and a file of its own."""

import dataclasses
import os
import time
from collections.abc import Sequence
from pathlib import Path

from framewatt.meters.contract import Channel, Meter, Polled, Streamed
from framewatt.sampling.raw import RawReadings, RawRows
from framewatt.sampling.turns import OnTime, Turns, WhenReady, Witnessing
from framewatt.witness.gpu_processes import GpuProcesses
from framewatt.witness.instrument import Witness, witness_channels


def open_meters(meters: Sequence[Meter], path: Path) -> tuple[list[Channel], list[Turns]]:
    """All meters ready to read, each with a file of its own.

    Args:
        meters: not opened yet.
        path: how the files' names begin.

    Returns:
        the channels of all, in order, and a turn a meter.

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
    """Seconds that a meter takes to answer, at its best."""
    tries = []
    for _ in range(3):
        began = time.perf_counter()
        meter.values()
        tries.append(time.perf_counter() - began)
    return min(tries)


def open_witness(events: str, path: Path, first: int, *, gpus: bool) -> tuple[list[Channel], Witnessing]:
    """The witness of the process that started this one, with its channels.

    Args:
        events: the file of the measured process's events, which need not be there yet.
        path: how the names of files begin.
        first: number of its first channel.
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
