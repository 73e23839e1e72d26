"""RAPL as pyRAPL reads it, the instrument of Alizadeh and Castor 2024.

pyRAPL gives the joules between `begin` and `end` of a measurement. Here one measurement begins when the meter opens,
and `end` is called at every reading, so that its result grows like a counter. Its known faults are handled: it ignores
wraps and gives a negative number after one, it gives None or -1 for what a machine lacks, and it prints a warning when
its optional outputs are not installed. None and negative values count as failed reads.
"""

import contextlib
import io
import math
import warnings
from collections.abc import Sequence
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.meters.contract import COUNTER, Channel, require
from framewatt.meters.rapl import MOST_W

_UPDATE_PERIOD_S = 0.001


class PyRapl:
    """Package and DRAM of every socket that pyRAPL finds.

    Args:
        period_s: seconds between two readings.
    """

    name = "pyrapl"

    def __init__(self, period_s: float = 0.01) -> None:
        self.period_s = max(period_s, _UPDATE_PERIOD_S)
        self._measurement: Any = None
        self._sources: list[tuple[str, int]] = []

    def available(self) -> tuple[bool, str]:
        """Return whether pyRAPL is installed and can set itself up."""
        try:
            self._begin()
        except ImportError:
            return False, "the module pyRAPL is not installed"
        except PermissionError as error:
            return False, (
                f"pyRAPL may not read {error.filename}; grant it with: "
                "sudo chmod -R a+r /sys/class/powercap/*/energy_uj /sys/class/powercap/*/*/energy_uj"
            )
        except Exception as error:
            return False, f"pyRAPL finds no RAPL here ({type(error).__name__})"
        return True, "pyRAPL is set up"

    def open(self) -> list[Channel]:
        """Start a measurement, and return the channels with a number in its first result."""
        require(self)
        self._begin()
        self._measurement.end()
        result = self._measurement.result
        parts = {"package": result.pkg, "dram": result.dram}
        self._sources = [
            (part, socket)
            for part, values in parts.items()
            for socket, value in enumerate(values or [])
            if value is not None and value >= 0
        ]
        if not self._sources:
            raise FramewattError("meter pyrapl: its result has no number for any socket. Use the meter rapl.")
        return [
            Channel(
                instrument=self.name,
                domain=f"cpu:{part}-{socket}",
                quantity="energy_j",
                kind=COUNTER,
                update_period_s=_UPDATE_PERIOD_S,
                resolution=1e-6,
                max_power_w=MOST_W,
            )
            for part, socket in self._sources
        ]

    def close(self) -> None:
        """Nothing to release."""
        self._measurement = None

    def values(self) -> list[float]:
        """Return the joules of every domain since `open`, NaN where pyRAPL gives None or a negative number."""
        try:
            self._measurement.end()
        except (OSError, ValueError):
            return [math.nan] * len(self._sources)
        result = self._measurement.result
        parts = {"package": result.pkg, "dram": result.dram}
        return [_joules(parts[part], socket) for part, socket in self._sources]

    def _begin(self) -> None:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            import pyRAPL

            pyRAPL.setup()
            self._measurement = pyRAPL.Measurement("framewatt")
            self._measurement.begin()


def _joules(values: Sequence[float | None] | None, socket: int) -> float:
    value = values[socket] if values is not None else None
    return math.nan if value is None or value < 0 else value * 1e-6
