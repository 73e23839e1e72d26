"""What `make characterise` does: known loads, CPU and GPU, and what each meter of this machine shows of them.

Where a GPU is, run it with the interpreter at hand (environment=host): PYTHONPATH=src python3 scripts/characterise.py
It needs numpy and scipy, nvidia-ml-py for NVML, PyTorch with CUDA for the GPU's load, matplotlib and pandas for the
picture; missing packages are reported.
"""

import argparse
from pathlib import Path

from framewatt.base.cli import run
from framewatt.workflow.characterise import LONG, Extent, characterise_here


def main() -> None:
    """End with 0 where every meter is to be trusted, 3 where one that a total needs is not, 4 where none is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder", type=Path, default=Path("results/characterisation"), help="takes record and picture"
    )
    parser.add_argument("--repeats", type=int, default=LONG.repeats, help="how often each load")
    parser.add_argument("--step-s", type=float, default=LONG.step_s, help="seconds of each load, about")
    parser.add_argument("--wave-s", type=float, default=LONG.wave_s, help="seconds of each square wave; 0: none")
    parser.add_argument("--gpu-python", action="append", default=[], help="an interpreter with PyTorch and CUDA")
    parser.add_argument(
        "--begin-ns", type=int, help="CLOCK_MONOTONIC of the first stretch; soon, where it is not given"
    )
    given = parser.parse_args()
    if given.repeats < 2 or not 0.5 <= given.step_s <= 60:
        parser.error(f"{given.repeats} repeats of {given.step_s:g} s are not possible. Use 2 or more, of 0.5 to 60 s.")
    if given.wave_s and not 2 <= given.wave_s <= 60:
        parser.error(f"--wave-s: {given.wave_s:g} s is not allowed. Use 2 to 60 s, or 0 for no square waves.")
    extent = Extent(given.repeats, given.step_s, given.wave_s)
    raise SystemExit(characterise_here(given.folder, extent, given.gpu_python, given.begin_ns))


if __name__ == "__main__":
    run(main)
