"""The meters of a study, characterised before its runs."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framewatt.characterisation.loads import loads, planned
from framewatt.characterisation.measure import characterise
from framewatt.characterisation.schedule import ALL_CORES, GPU

_NOT_OF_HARDWARE = ("estimate", "replay")
"""An estimate follows its formula and a replay its recorded trace: loads reveal nothing about them."""

_OF_GPUS = ("nvml", "nvidia-smi")
REPEATS = 3


def characterise_for_study(
    meters: Sequence[str], options: Mapping[str, Any], step_s: float, environments: Path, trace_path: Path
) -> dict[str, Any] | None:
    """The record of a characterisation, see measure.Characterisation.to_dict; None where there is nothing to measure.

    Args:
        meters: names of the study's meters.
        options: the study's `instruments`.
        step_s: seconds of each load, about; 0 leaves all meters as they are documented.
        environments: where environments are built; those of PyTorch can load a GPU.
        trace_path: where raw readings go.

    Raises:
        FramewattError: a meter cannot be read.
    """
    metered = [name for name in meters if name not in _NOT_OF_HARDWARE]
    if not metered or not step_s:
        return None
    wanted = [ALL_CORES] + ([GPU] if set(_OF_GPUS) & set(metered) else [])
    built = sorted(map(str, environments.glob("*/torch*/**/bin/python")))
    pythons = [*built, sys.executable, *filter(None, [shutil.which("python3")])]
    with loads(wanted, pythons) as load:
        plan = planned(load.names, REPEATS, step_s)
        return characterise(metered, options, load, plan, trace_path).to_dict()
