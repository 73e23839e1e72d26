"""A machine with one scripted GPU, whose interpreter has frameworks of a few lines."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import stand_ins
import yaml
from checkout import ROOT, Answer, Checkout, environment
from hardware.script import VARIABLE, Script

HARDWARE = ROOT / "tests" / "hardware"
H100 = Script(
    watts={"gpu:0": [[0.0, 70.0], [20.0, 142.0], [30.0, 350.0], [60.0, 640.0], [90.0, 300.0]]},
    refreshed_s={"gpu:0": 0.1},
    averaged_s={"gpu:0": 1.0},
)
"""Power at rest, with a context open, and at work, and how its meters show it, as docs/measurements.md has an H100."""

VERSIONS = {"torch": "2.11.0", "torchvision": "0.26.0", "transformers": "5.17.0", "onnx": "1.23.1", "jax": "0.11.2"}
MODULES = ("torch", "torchvision", "transformers", "onnx", "onnxscript", "onnxruntime")
"""What the interpreter can import: no TensorFlow, no MXNet."""

STUDIES = ("gpu-alizadeh2024", "gpu-itu2023")


class Machine(Checkout):
    """A checkout on such a machine, with two small studies.

    Args:
        root: an empty folder.
        gpu: name of its GPU.
        studies: which ones.
    """

    def __init__(
        self, root: Path, gpu: str = "NVIDIA Scripted", studies: tuple[str, ...] = ("gpu-alizadeh2024", "gpu-itu2023")
    ) -> None:
        super().__init__(root)
        stand_ins.install(self)
        library = self.root / "src"
        shutil.copytree(HARDWARE, library / "hardware", ignore=shutil.ignore_patterns("__pycache__", "modules", "bin"))
        shutil.copy2(HARDWARE / "modules" / "pynvml.py", library)
        if gpu != "NVIDIA Scripted":
            self.edit("src/pynvml.py", {'"NVIDIA Scripted"': repr(gpu)})
        H100.save(self.root / "hardware.json")
        for engine in ("torch", "onnxruntime"):
            (library / "framewatt/workloads" / engine / "on_device.py").write_text("")
        self.python = self._interpreter()
        whole = ("gpu-alizadeh2024", "gpu-georgiou2022", "gpu-itu2023", "operators-gpu", "gpu-precision")
        self.edit("src/framewatt/gpu/__init__.py", {str(whole).replace("'", '"'): str(studies)})
        for name in studies:
            content = yaml.safe_load((ROOT / f"config/studies/{name}.yaml").read_text())
            small = stand_ins.small(content, repetitions=2)
            meters = {"meters": ["nvml"], "period_s": 5}
            kept = {"device": "cuda", "instruments": meters, "accept_unavailable": True}
            self.write_study(name, **{**small, **kept, "study": name})
        self.script("-c", CHARACTERISED)

    def _interpreter(self) -> Path:
        """An interpreter with these modules, and with the distributions that bring them."""
        packages = self.root / "packages"
        packages.mkdir()
        for name in MODULES:
            (packages / f"{name}.py").write_text("")
        (packages / "onnxruntime.py").write_text("def get_available_providers(): return ['CUDAExecutionProvider']\n")
        for name, version in VERSIONS.items():
            folder = packages / f"{name}-{version}.dist-info"
            folder.mkdir()
            (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        python = self.root / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {sys.executable} "$@"\n')
        python.chmod(0o755)
        return python

    @property
    def variables(self) -> dict[str, str]:
        """Of a call of one of the project's scripts, as the Makefile makes it."""
        own = {"FRAMEWATT_LOCK_FOLDER": str(self.root), "PYTHONPATH": "src", VARIABLE: str(self.root / "hardware.json")}
        return {**environment(), **own, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def command(self, *words: object) -> list[str]:
        """A command line of `scripts/gpu.py`."""
        return [sys.executable, "-P", "scripts/gpu.py", "--python", str(self.python), *map(str, words)]

    def script(self, *words: object) -> Answer:
        """Run Python here and wait."""
        done = subprocess.run(
            [sys.executable, "-P", *map(str, words)],
            cwd=self.root,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Answer(done.returncode, done.stdout)

    def gpu(self, *words: object) -> Answer:
        """Run `make gpu`'s script and wait."""
        return self.script(*self.command(*words)[2:])


CHARACTERISED = """
from pathlib import Path
from framewatt.base.files import write_json
from framewatt.host.machine import describe_machine
folder = Path("results/characterisation")
folder.mkdir(parents=True)
write_json(folder / "characterisation.json", {"machine": describe_machine()})
"""
"""Writes the record of a characterisation, which would take two minutes."""
