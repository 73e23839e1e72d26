"""Own runs as georgiou2022 took them: joules of PKG, RAM and GPU, and seconds, of whole programs and of their windows.

The paper's numbers are of a whole program, from its start to its end (`perf stat` around it, and `real` of `time`),
with energy as metered, nothing subtracted. A program loads libraries and data and judges answers, too, so that the
same runs are also taken by their window alone, a unit of work.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from framewatt.frames.factor_words import phrase
from framewatt.published.georgiou2022_claims import FRAMEWORKS, PHASES, QUANTITIES
from framewatt.replication.contract import Measured
from framewatt.runs.verdict import counts
from framewatt.study.factors import shared
from framewatt.study.records import primary_window
from framewatt.workloads.registry import PARTS

PAPER = "georgiou2022"

MODELS = {
    "neumf": "NCF",
    "transformer_xl": "Transformer-xl",
    "gnmt": "GNMT",
    "resnet50": "ResNet-50",
    "mask_rcnn": "Mask R-CNN",
    "ssd": "SSD",
}
"""How names of workloads begin, and what the paper's tables call the model."""

RUNTIMES = {"torch": "pytorch", "tensorflow": "tensorflow"}
"""Runtime -> the paper's framework."""

ENERGY = "energy"
"""The sum of all metered joules, beside the paper's quantities."""

PROGRAM, WINDOW = "process", "window"
"""What a number is of: the whole program, or the run's window and one unit of its work."""

OWN_COLUMNS = [
    *("phase", "model", "framework", "repetition", "cell", "units", "estimated", "idle_share"),
    *(*QUANTITIES, ENERGY),
]
"""Columns of own runs: one row per run that counts; joules and seconds, NaN where not metered. `estimated` says whether
PKG is the estimate, `idle_share` which share of all joules the machine would have taken at rest."""

_OF_PAPER = {"pkg_energy": re.compile(r"cpu:package(-\d+)?"), "ram_energy": re.compile(r"cpu:dram(-\d+)?")}
_OF_PAPER |= {"gpu_energy": re.compile(r"gpu:.+")}


@dataclass(frozen=True)
class Place:
    """The cells of one place in the paper's tables.

    Attributes:
        phase: train or infer.
        model: the paper's name.
        cells: by framework, the name of its cell.
        levels: what the cells have in common, in words.
        others: how many further pairs of cells the study has for this place.
    """

    phase: str
    model: str
    cells: Mapping[str, str]
    levels: str
    others: int


def model_of(workload: str) -> str | None:
    """The paper's name of a workload's model; None where it has none like it, or the workload is a part of one."""
    if workload in PARTS:
        return None
    found = [name for begin, name in MODELS.items() if workload == begin or workload.startswith(f"{begin}_")]
    return found[0] if found else MODELS["ssd"] if workload.startswith(("ssd", "retinanet")) else None


def places_of(measured: Measured) -> list[Place]:
    """The places of the paper's tables that a study fills, in the paper's order.

    Where several cells would fill one, those that stand first in the study count, of both frameworks alike: a place
    holds one pair that differs in nothing but what the study compares.

    Args:
        measured: with cells.
    """
    pairs: dict[tuple[str, str], dict[tuple[Any, ...], dict[str, Mapping[str, Any]]]] = {}
    for cell in measured.cells:
        model, framework = model_of(cell["workload"]), RUNTIMES.get(cell["runtime"])
        if model and framework:
            alike = tuple(cell[name] for name in _common(cell, measured.compared))
            pairs.setdefault((cell["phase"], model), {}).setdefault(alike, {})[framework] = cell
    found = []
    for (phase, model), by_levels in pairs.items():
        whole = [pair for pair in by_levels.values() if len(pair) == len(FRAMEWORKS)]
        pair = (whole or list(by_levels.values()))[0]
        one = next(iter(pair.values()))
        levels = phrase(one, [name for name in _common(one, measured.compared) if name not in ("phase", "workload")])
        named = {framework: cell["id"] for framework, cell in pair.items()}
        found.append(Place(phase, model, named, f"{one['workload']}, {levels}", len(by_levels) - 1))
    order = list(MODELS.values())
    return sorted(found, key=lambda place: (list(PHASES).index(place.phase), order.index(place.model)))


def _common(cell: Mapping[str, Any], compared: Iterable[str]) -> list[str]:
    return shared([name for name in cell if name != "id"], compared)


def own_runs(measured: Measured, places: Iterable[Place], of: str) -> pd.DataFrame:
    """The runs that count of the cells in some places.

    Args:
        measured: with records.
        places: from `places_of`.
        of: PROGRAM, or WINDOW: then joules and seconds are those of a unit of work.

    Returns:
        OWN_COLUMNS.
    """
    where = {cell: (place, framework) for place in places for framework, cell in place.cells.items()}
    rows = []
    for record in measured.records:
        if record["cell_id"] in where and counts(record):
            place, framework = where[record["cell_id"]]
            window = record["windows"][PROGRAM] if of == PROGRAM else primary_window(record)
            assert window is not None
            assert record["units"] is not None
            count = record["units"]["count"]
            units, per = (count, 1.0) if of == PROGRAM else (1, float(count or np.nan))
            head: dict[str, Any] = {"phase": place.phase, "model": place.model, "framework": framework}
            head |= {"repetition": record["repetition"], "cell": record["cell_id"], "units": units}
            spent = {name: value / per for name, value in _spent(window["domains"]).items()}
            told = {"estimated": _is_estimated(window["domains"]), "idle_share": _idle_share(window["domains"])}
            rows.append({**head, **told, **spent, "run_time": window["duration_s"] / per})
    own = pd.DataFrame(rows, columns=OWN_COLUMNS)
    return own.astype(dict.fromkeys([*QUANTITIES, ENERGY, "idle_share"], "float64"))


def _metered(domains: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Energies of a window by the paper's quantity; where no processor is metered, the estimate stands for PKG."""
    found = {
        quantity: [energy for name, energy in domains.items() if pattern.fullmatch(name) and not energy["estimated"]]
        for quantity, pattern in _OF_PAPER.items()
    }
    if not found["pkg_energy"]:
        found["pkg_energy"] = [energy for energy in domains.values() if energy["estimated"]]
    return {quantity: energies for quantity, energies in found.items() if energies}


def _spent(domains: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Joules by quantity, and their sum; NaN where a meter's are not valid."""
    joules = {name: _sum(energies, "energy_gross_j") for name, energies in _metered(domains).items()}
    return {**joules, ENERGY: float(sum(joules.values())) if joules else np.nan}


def _sum(energies: Iterable[Mapping[str, Any]], name: str) -> float:
    values = [energy[name] if energy["valid"] and energy[name] is not None else np.nan for energy in energies]
    return float(sum(values))


def _is_estimated(domains: Mapping[str, Mapping[str, Any]]) -> bool:
    return any(energy["estimated"] for energies in _metered(domains).values() for energy in energies)


def _idle_share(domains: Mapping[str, Mapping[str, Any]]) -> float:
    energies = [energy for each in _metered(domains).values() for energy in each]
    whole = _sum(energies, "energy_gross_j")
    return _sum(energies, "energy_idle_j") / whole if whole > 0 else np.nan
