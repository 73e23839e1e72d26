"""How many minutes a job may take on a cluster, by what the study says of its steps (pure)."""

import math
from collections.abc import Mapping
from typing import Any

from framewatt.planning.jobs import EXPORT_TIMEOUT_S, STEP_S, TRAINING_TIMEOUT_S

_START_S = 300
"""Starting Snakemake and a framework anew, on a slow file system."""

_LOADS = 20
"""Most steps of known loads of a characterisation, of `step_s` each."""


def of_run(settings: Mapping[str, Any]) -> int:
    """Minutes of a measured run: it may be repeated once, and rests before each try.

    Args:
        settings: the study's.
    """
    rest = settings["cool_down"]
    waits_s = rest["rest_s"] + (rest["timeout_s"] if rest["idle_band"] is not None else 0)
    return _minutes(2 * (settings["timeout_s"] + waits_s))


def of_idle(settings: Mapping[str, Any]) -> int:
    """Minutes of a measurement of idle power, with the known loads before the runs.

    Args:
        settings: the study's.
    """
    calibration = settings["calibration"]
    return _minutes(calibration["idle_s"] + _LOADS * calibration.get("step_s", STEP_S))


def of_two_passes(settings: Mapping[str, Any]) -> int:
    """Minutes of a run that is not measured, with its profiler and without.

    Args:
        settings: the study's.
    """
    return _minutes(2 * settings["timeout_s"])


def _minutes(seconds: float) -> int:
    return math.ceil((seconds + _START_S) / 60)


TRAINING, EXPORT = _minutes(TRAINING_TIMEOUT_S), _minutes(EXPORT_TIMEOUT_S)
"""Minutes of making the weights of a model, and of an export of it."""
