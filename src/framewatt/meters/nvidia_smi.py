"""nvidia-smi as a program next to the run, the instrument of all three papers (every second or every 10 ms).

Power is `power.draw`: an average over up to a second on some GPUs. Readings are timestamped when their line arrives,
since the program's own timestamps are of the wall clock, which may be set during a run. Every value is parsed with its
unit. Source: nvidia-smi(1), `--query-gpu`, `--format=csv`, `--loop-ms`.
"""

import math
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import GAUGE, Channel, Reading, require
from framewatt.meters.gpus import Gpu, visible_gpus
from framewatt.meters.nvml import LONGEST_AVERAGE_S, MOST_W
from framewatt.meters.subprocess_lines import Lines

FIELDS = {
    "power.draw": ("power_w", 0.01),
    "utilization.gpu": ("utilization_percent", 1.0),
    "utilization.memory": ("memory_utilization_percent", 1.0),
    "memory.used": ("memory_used_b", 2.0**20),
    "temperature.gpu": ("temperature_c", 1.0),
    "clocks.sm": ("sm_clock_mhz", 1.0),
    "clocks.mem": ("memory_clock_mhz", 1.0),
}
"""Field of nvidia-smi -> quantity and its resolution."""

UNITS = {"W": 1.0, "mW": 1e-3, "%": 1.0, "MiB": 2.0**20, "KiB": 2.0**10, "GiB": 2.0**30, "MHz": 1.0, "": 1.0}
"""Unit that nvidia-smi writes -> factor to the quantity's unit. Temperatures have no unit there: degrees Celsius."""

_VALUE = re.compile(r"(-?\d+(?:\.\d+)?)(?: (\w+|%))?")
_UPDATE_PERIOD_S = 0.1
_FASTEST_S = 0.01
_ANSWER_S = 10.0


class NvidiaSmi:
    """Every visible GPU.

    Args:
        period_s: seconds between two lines of each GPU, at least 0.01.
    """

    name = "nvidia-smi"

    def __init__(self, period_s: float = 0.01) -> None:
        self.period_s = max(period_s, _FASTEST_S)
        self._lines: Lines | None = None
        self._first_channel: dict[int, int] = {}

    def available(self) -> tuple[bool, str]:
        """Return whether the program is installed, the driver answers and at least one GPU is visible."""
        if shutil.which("nvidia-smi") is None:
            return False, "the program nvidia-smi is not installed (it comes with NVIDIA's driver)"
        try:
            gpus = visible_gpus(_gpus())
        except FramewattError as error:
            return False, str(error)
        return (
            (True, f"{len(gpus)} visible GPUs") if gpus else (False, "no GPU is visible; look at CUDA_VISIBLE_DEVICES")
        )

    def open(self) -> list[Channel]:
        """Start the program; every visible GPU has all channels, with NaN for values that it does not report."""
        require(self)
        gpus = visible_gpus(_gpus())
        self._lines = Lines(
            [
                "nvidia-smi",
                f"--id={','.join(str(gpu.index) for gpu in gpus)}",
                f"--query-gpu=index,{','.join(FIELDS)}",
                "--format=csv,noheader",
                f"--loop-ms={round(self.period_s * 1000)}",
            ],
            signal.SIGTERM,
        )
        self._first_channel = {gpu.index: number * len(FIELDS) for number, gpu in enumerate(gpus)}
        return [
            Channel(
                instrument=self.name,
                domain=f"gpu:{gpu.index}",
                quantity=quantity,
                kind=GAUGE,
                update_period_s=_UPDATE_PERIOD_S,
                resolution=resolution,
                max_power_w=MOST_W,
                average_most_s=LONGEST_AVERAGE_S if quantity == "power_w" else 0.0,
                note=gpu.note,
            )
            for gpu in gpus
            for quantity, resolution in FIELDS.values()
        ]

    def stream(self) -> int | None:
        """Return the descriptor of the program's output."""
        assert self._lines is not None
        return self._lines.stream

    def read(self) -> Sequence[Reading]:
        """Return the values of the lines that have arrived."""
        assert self._lines is not None
        return self._readings(self._lines.take())

    def end(self) -> Sequence[Reading]:
        """End the program, and return the values of its last lines."""
        assert self._lines is not None
        return self._readings(self._lines.stop())

    def _readings(self, lines: Sequence[str]) -> list[Reading]:
        now_ns = time.monotonic_ns()
        readings: list[Reading] = []
        for line in lines:
            index, *values = [field.strip() for field in line.split(",")]
            first = self._first_channel.get(int(index)) if index.isdigit() else None
            # A line that names no GPU is a message ("Unable to determine the device handle…"): all values are unknown.
            if first is None or len(values) != len(FIELDS):
                readings += [(now_ns, channel, math.nan) for channel in range(len(self._first_channel) * len(FIELDS))]
                continue
            readings += [(now_ns, first + number, parse_value(value)) for number, value in enumerate(values)]
        return readings


def parse_value(text: str) -> float:
    """Return the value of a field in its quantity's unit, NaN where there is none.

    Args:
        text: the field as nvidia-smi writes it: `56.10 W`, `1024 MiB`, `80 %`, `[N/A]`, `[GPU is lost]`.
    """
    unit = unit_of(text)
    return math.nan if unit is None else float(text.removesuffix(unit)) * UNITS[unit]


def unit_of(text: str) -> str | None:
    """Return the unit after a number, empty for no unit; None where the text is not a number in a known unit.

    Args:
        text: the field as nvidia-smi writes it.
    """
    match = _VALUE.fullmatch(text)
    unit = match[2] or "" if match else None
    return unit if unit in UNITS else None


def _gpus() -> list[Gpu]:
    """Return all GPUs of the machine, from `nvidia-smi -L`.

    Raises:
        FramewattError: the program prints no list of GPUs.
    """
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=_ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FramewattError(f"nvidia-smi does not answer ({error}). Check NVIDIA's driver.") from error
    if done.returncode:
        message = (done.stdout + done.stderr).strip()[:200]
        raise FramewattError(f"nvidia-smi failed ({message}). Check NVIDIA's driver.")
    gpus: list[Gpu] = []
    for line in done.stdout.splitlines():
        if whole := re.match(r"GPU (\d+): .*\(UUID: (GPU-[^)]+)\)", line):
            gpus.append(Gpu(int(whole[1]), whole[2]))
        elif (part := re.search(r"\(UUID: (MIG-[^)]+)\)", line)) and gpus:
            gpu = gpus[-1]
            gpus[-1] = Gpu(gpu.index, gpu.uuid, (*gpu.mig_uuids, part[1]))
    return gpus
