"""What an interpreter has for a GPU, and who else uses the GPU."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from framewatt.meters.gpus import gpus_of, visible_gpus
from framewatt.planning.needed import Absent
from framewatt.workloads.registry import engine_facts

_WITHOUT_ENGINE = {"jax": ("jax",)}
"""Libraries that framewatt cannot measure yet, and that readers expect in the table."""

LIBRARIES: dict[str, tuple[str, ...]] = {
    **{module: names for engine in engine_facts("LIBRARIES").values() for module, names in engine.items()},
    **_WITHOUT_ENGINE,
}
"""Modules that studies use, or that readers expect to, and the distributions that may bring them."""


@dataclass(frozen=True)
class Library:
    """A row of the table of what an interpreter has.

    Attributes:
        name: of the module.
        version: of the distribution that brings it; None where there is none.
        remark: why it is not measured, or where it is not; empty where nothing is in the way.
    """

    name: str
    version: str | None
    remark: str

    @property
    def line(self) -> str:
        """The row as text."""
        return f"{self.name:14} {self.version or '-':14} {self.remark}".rstrip()


def libraries(packages: Mapping[str, str], absent: Absent) -> list[Library]:
    """Return a row for each of LIBRARIES.

    Args:
        packages: versions of the interpreter's distributions by name.
        absent: what the studies' cells need and cannot use.
    """
    known = {_plain(name): version for name, version in packages.items()}
    rows = []
    for module, distributions in LIBRARIES.items():
        version = next((known[name] for name in distributions if name in known), None)
        reasons = [absent.why[module]] if module in absent.why and version else []
        reasons += [
            f"{name.partition(':')[2]} {why}"
            for name, why in absent.why.items()
            if version and name.startswith(f"{module}:")
        ]
        if version and module in _WITHOUT_ENGINE:
            reasons.append("not measured: framewatt has no engine for it yet")
        rows.append(Library(module, version, "; ".join(reasons) if version else "not installed"))
    return rows


def others_on_gpu(library: Any = None) -> list[str]:
    """Return a line for each process that computes on a GPU which this one may use.

    Args:
        library: a replacement for the pynvml module, for tests.
    """
    if library is None:
        import pynvml

        library = pynvml
    library.nvmlInit()
    lines = []
    try:
        for gpu in visible_gpus(gpus_of(library)):
            try:
                processes = library.nvmlDeviceGetComputeRunningProcesses(library.nvmlDeviceGetHandleByIndex(gpu.index))
            except library.NVMLError:
                continue
            for process in processes:
                used_b = getattr(process, "usedGpuMemory", None)
                memory = f", {used_b / 2**20:.0f} MiB" if used_b else ""
                lines.append(f"GPU {gpu.index}: process {process.pid}{memory}")
    finally:
        library.nvmlShutdown()
    return lines


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")
