"""Runs a model and its oracle in the oracles' environment, and says where and how far they differ."""

import os
import subprocess
from pathlib import Path

import numpy as np
from checkout import ROOT, python_of

Arrays = dict[str, np.ndarray]


def compute(script: str, implementation: str, folder: Path, size: str, cases: list[str]) -> None:
    """Have a script of this folder compute what an implementation makes of the weights of some cases."""
    done = subprocess.run(
        [python_of("oracles"), Path(__file__).with_name(script), implementation, folder, size, *cases],
        # One thread, and no GPU: fp32 on a processor, whatever the machine has.
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def content_of(file: Path) -> Arrays:
    """All arrays of a file."""
    with np.load(file) as content:
        return dict(content)


def differences(ours: Arrays, theirs: Arrays) -> dict[str, float]:
    """Largest difference of each array, relative to its standard deviation; of a single number, to the number itself.

    An array that is the same everywhere, such as a gradient of zeros, compares nothing: that is an error.
    """
    assert ours.keys() == theirs.keys()
    found = {}
    for name, values in ours.items():
        assert values.shape == theirs[name].shape, name
        spread = values.std() if values.size > 1 else np.abs(values).max()
        assert spread > 0, f"{name} is the same everywhere"
        found[name] = float(np.abs(values.astype(float) - theirs[name]).max() / spread)
    return found


def too_large(found: dict[str, float], tolerances: dict[str, float]) -> dict[str, float]:
    """The differences that are not within the tolerance of their kind, which a name begins with, before the first /."""
    # Not "larger than", since NaN is not larger than anything.
    return {name: value for name, value in found.items() if not value <= tolerances[kind_of(name)]}


def largest(found: dict[str, float]) -> dict[str, float]:
    """The largest difference of each kind."""
    kinds = sorted({kind_of(name) for name in found})
    return {kind: max(value for name, value in found.items() if kind_of(name) == kind) for kind in kinds}


def kind_of(name: str) -> str:
    """`gradient` of `gradient/head.bias`."""
    return name.partition("/")[0]
