"""A cell of a study: one level of every factor, its name, and what it needs to run (no side effects)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from framewatt.study.factors import NATIVE, rate_of
from framewatt.study.options import OPTIONS, QUANTISED, Level
from framewatt.study.own_models import OWN, SYNTHETIC
from framewatt.study.runtimes import ONNX, ONNX_RUNTIME, RUNTIMES

ON_CUDA = {"cuda": "CUDA", "tensorrt": "TensorRT"}
"""Execution providers that run on an NVIDIA GPU, and their names."""

FIXED = ("phase", "workload", "runtime", "provider", "dataset", "batch_size", "precision")
"""Factors that every study has."""


@dataclass(frozen=True)
class Chosen:
    """Level of an option in a cell.

    Attributes:
        option: name of the option.
        level: its level.
        default: whether cells that do not name the option have this level.
    """

    option: str
    level: Level
    default: bool


@dataclass(frozen=True)
class Cell:
    """One configuration of a study: a level of every factor.

    Attributes:
        options: the options that the study names, in the order of options.OPTIONS.
    """

    phase: str
    workload: str
    runtime: str
    provider: str
    dataset: str
    batch_size: int
    precision: str
    options: tuple[Chosen, ...] = ()

    @property
    def id(self) -> str:
        """Name of the cell, unique in its study and fit for a file name."""
        parts = [self.phase, self.workload, self.dataset, self.runtime]
        if self.provider != NATIVE:
            parts.append(self.provider)
        parts.append(f"b{self.batch_size}")
        parts += [OPTIONS[name].suffix(level) for name, level in self.changed.items()]
        return "-".join(parts)

    @property
    def changed(self) -> dict[str, Level]:
        """Options that are not at their default level (number format included), by name."""
        precision = {} if self.precision == OPTIONS["precision"].default else {"precision": self.precision}
        return precision | {chosen.option: chosen.level for chosen in self.options if not chosen.default}

    @property
    def framework(self) -> str:
        """Framework of the weights that the cell uses."""
        return RUNTIMES[self.runtime].framework

    @property
    def engine(self) -> str:
        """Library that executes the model: a framework, or `onnxruntime`."""
        return RUNTIMES[self.runtime].engine

    @property
    def model(self) -> str:
        """Name of the trained model that the cell builds on, `<workload>-<dataset>-<framework>`."""
        return f"{self.workload}-{self.dataset}-{self.framework}"

    @property
    def export(self) -> str:
        """Folder of the cell's ONNX file below results/<study>/export: of the model, or of its quantised form."""
        return f"{self.model}/{self.precision}" if self.precision in QUANTISED else self.model

    def environment(self, device: str) -> str:
        """Name of the environment (a folder under envs/) that holds the cell's engine on `device`."""
        if self.changed.get("client") == "node":
            return "onnxruntime/node"
        return environment_of(self.engine, device, self.provider)

    def unsupported(self, device: str) -> str | None:
        """Return why the combination of levels cannot run at all, or None where it can."""
        runtime = RUNTIMES[self.runtime]
        if self.phase == "train" and not runtime.trains:
            return "ONNX Runtime runs exported models and does not train"
        if runtime.has_providers and self.provider in ON_CUDA and device != "cuda":
            return f"the {ON_CUDA[self.provider]} execution provider needs device: cuda"
        if not runtime.has_providers and self.provider != NATIVE:
            return f"{self.runtime} has no execution providers"
        if self.phase == "train" and self.dataset in (OWN, SYNTHETIC):
            return f"the data set {self.dataset} holds nothing to train on"
        for name, level in self.changed.items():
            option = OPTIONS[name]
            if reason := option.refusal(self, level, device) or runtime.refusal(option, level):
                return reason
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the factor levels, by name."""
        levels = {name: getattr(self, name) for name in FIXED}
        return levels | {chosen.option: chosen.level for chosen in self.options}


def environment_of(engine: str, device: str, provider: str = NATIVE) -> str:
    """Name of the environment for an engine: `torch` or `<engine>/<variant>`; ONNX files are imported on the CPU."""
    if engine == ONNX:
        return "onnxruntime/cpu"
    if engine == ONNX_RUNTIME:
        # One build of ONNX Runtime holds both of NVIDIA's providers.
        return f"onnxruntime/{'cuda' if provider in ON_CUDA else provider}"
    return f"{engine}/{device}" if RUNTIMES[engine].per_device else engine


def run_name(entry: Mapping[str, Any]) -> str:
    """Return the folder of a planned run below results/<study>/measure."""
    return f"{entry['cell']}/{entry['repetition']}"


MEASURE, PROFILE, TIMELINE, REPEAT = "measure", "profile", "timeline", "repeat"

WINDOWS, PROGRAM = "windows", "program"
"""What a profile is of: the primary windows alone, or everything from the first import on, as georgiou2022 has it."""


def is_measured(job: Mapping[str, Any]) -> bool:
    """Return whether a job or a run's record is of a measurement. Those older than schema 4, without `purpose`, are."""
    return bool(job.get("purpose", MEASURE) == MEASURE)


def profiled_cells(settings: Mapping[str, Any], cells: Iterable[Cell]) -> dict[str, Cell]:
    """Return the cells that are profiled, by name; none unless the study asks for it.

    A program in Node.js is none that cProfile sees into.

    Args:
        settings: of the study.
        cells: its cells.
    """
    return _programs(cells) if settings.get("profile") else {}


def timeline_cells(settings: Mapping[str, Any], cells: Iterable[Cell]) -> dict[str, Cell]:
    """Return the cells that have a timeline, by name; none unless the study asks for it.

    Requests at a rate are served by threads, in no step of the program's.

    Args:
        settings: of the study.
        cells: its cells.
    """
    if not settings.get("operators"):
        return {}
    return {name: cell for name, cell in _programs(cells).items() if rate_of(cell.to_dict().get("load")) is None}


def repeated_cells(settings: Mapping[str, Any], cells: Iterable[Cell]) -> dict[str, Cell]:
    """Return the cells with operators that are repeated alone, by name: all with a timeline, if the study requests it.

    Args:
        settings: of the study.
        cells: its cells.
    """
    return timeline_cells(settings, cells) if settings.get("repeated_operators") else {}


def _programs(cells: Iterable[Cell]) -> dict[str, Cell]:
    """Return the cells that are programs in Python, by name; the first of those that differ only in their caches."""
    programs: dict[tuple[Any, ...], Cell] = {}
    for cell in cells:
        levels = {name: level for name, level in cell.to_dict().items() if name != "caches"}
        if cell.changed.get("client") != "node":
            programs.setdefault(tuple(levels.items()), cell)
    return {cell.id: cell for cell in programs.values()}
