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
from framewatt.papers.georgiou2022.claims import ENERGIES, FRAMEWORKS, MEANS_COLUMNS, PHASES, QUANTITIES
from framewatt.papers.georgiou2022.recount import either_a12
from framewatt.papers.replication import Measured
from framewatt.runs.verdict import counts
from framewatt.statistics.hypothesis_tests import correct
from framewatt.statistics.log_ratios import log_ratio, logs_of, number
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
"""The sum of all metered joules, in addition to the paper's quantities."""

PROGRAM, WINDOW = "process", "window"
"""What a number is of: the whole program, or the run's window and one unit of its work."""

OWN_COLUMNS = [
    *("phase", "model", "framework", "repetition", "cell", "units", "estimated", "idle_share"),
    *(*QUANTITIES, ENERGY),
]
"""Columns of own runs: one row per run that counts; joules and seconds, NaN where not metered. `estimated` is whether
PKG is an estimate, `idle_share` is the share of all joules that the machine would have taken at rest."""

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
    names = [name for begin, name in MODELS.items() if workload == begin or workload.startswith(f"{begin}_")]
    return names[0] if names else MODELS["ssd"] if workload.startswith(("ssd", "retinanet")) else None


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
    filled = []
    for (phase, model), by_levels in pairs.items():
        whole = [pair for pair in by_levels.values() if len(pair) == len(FRAMEWORKS)]
        pair = (whole or list(by_levels.values()))[0]
        one = next(iter(pair.values()))
        levels = phrase(one, [name for name in _common(one, measured.compared) if name not in ("phase", "workload")])
        named = {framework: cell["id"] for framework, cell in pair.items()}
        filled.append(Place(phase, model, named, f"{one['workload']}, {levels}", len(by_levels) - 1))
    order = list(MODELS.values())
    return sorted(filled, key=lambda place: (list(PHASES).index(place.phase), order.index(place.model)))


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
            about = {"estimated": _is_estimated(window["domains"]), "idle_share": _idle_share(window["domains"])}
            rows.append({**head, **about, **spent, "run_time": window["duration_s"] / per})
    own = pd.DataFrame(rows, columns=OWN_COLUMNS)
    return own.astype(dict.fromkeys([*QUANTITIES, ENERGY, "idle_share"], "float64"))


def _metered(domains: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Energies of a window by the paper's quantity; where no processor is metered, the estimate stands for PKG."""
    metered = {
        quantity: [energy for name, energy in domains.items() if pattern.fullmatch(name) and not energy["estimated"]]
        for quantity, pattern in _OF_PAPER.items()
    }
    if not metered["pkg_energy"]:
        metered["pkg_energy"] = [energy for energy in domains.values() if energy["estimated"]]
    return {quantity: energies for quantity, energies in metered.items() if energies}


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


TESTS_COLUMNS = [
    *MEANS_COLUMNS,
    *("pytorch_median", "tensorflow_median", "pytorch_runs", "tensorflow_runs", "blocks"),
    *("ratio", "ratio_low", "ratio_high", "p_single", "estimated", "why"),
]
"""Columns of `tested`, index phase, model, quantity. `ratio` is PyTorch over TensorFlow, the geometric mean over
blocks; `p_single` is its p by itself, `p` after Holm's correction over the models of a phase and quantity."""


def tested(own: pd.DataFrame) -> pd.DataFrame:
    """Compare both frameworks with Student's t on logarithms of their ratios within blocks.

    Args:
        own: OWN_COLUMNS.

    Returns:
        TESTS_COLUMNS, index phase, model, quantity: every model of the paper in both phases, of every energy that some
        run has, of run time and ENERGY. Where a framework has no run, or both did not do the same work (`why`),
        everything is NaN.
    """
    quantities = [*(name for name in ENERGIES if own[name].notna().any()), "run_time", ENERGY]
    cases = pd.MultiIndex.from_product(
        [list(PHASES), list(MODELS.values()), quantities], names=["phase", "model", "quantity"]
    )
    rows = {case: row for case in cases if (row := _tested(own, *case))}
    tests = pd.DataFrame.from_dict(rows, orient="index", columns=TESTS_COLUMNS)
    tests.index = pd.MultiIndex.from_tuples(list(rows), names=cases.names) if rows else cases[:0]
    tests = tests.reindex(cases)
    for _, part in tests.groupby(["phase", "quantity"]):
        known = part[part["p_single"].notna()]
        tests.loc[known.index, "p"] = correct(list(known["p_single"]), "holm")
    return tests


def tests_of(measured: Measured, of: str) -> pd.DataFrame:
    """Compare both frameworks by PROGRAM or WINDOW, see `tested`."""
    return tested(own_runs(measured, places_of(measured), of))


def _tested(own: pd.DataFrame, phase: str, model: str, quantity: str) -> dict[str, Any] | None:
    part = own[(own["phase"] == phase) & (own["model"] == model)]
    if part["units"].nunique() > 1:
        # Each took its own number of passes to fill a window: the time of a program is no property of its framework.
        work = ", ".join(
            f"{units} by {cell}" for units, cell in sorted(set(zip(part["units"], part["cell"], strict=True)))
        )
        return {"why": f"{model} ({PHASES[phase]}): programs did not do the same work: units {work}"}
    wide = part.pivot(index="repetition", columns="framework", values=quantity).reindex(columns=list(FRAMEWORKS))
    each = {name: wide[name].dropna() for name in FRAMEWORKS}
    if any(values.empty for values in each.values()):
        return None
    ratio = log_ratio(logs_of(wide["pytorch"]), logs_of(wide["tensorflow"]), paired=True)
    low, high = ratio.within(0.025)
    return {
        **{name: float(values.mean()) for name, values in each.items()},
        **{f"{name}_median": float(values.median()) for name, values in each.items()},
        **{f"{name}_runs": len(values) for name, values in each.items()},
        "blocks": int(ratio.runs),
        "a12": either_a12(*(values.to_numpy() for values in each.values())),
        **{"ratio": number(ratio.ratio), "ratio_low": number(low), "ratio_high": number(high)},
        "p_single": number(ratio.p_two_sided()),
        "estimated": bool(part["estimated"].any()) and quantity != "run_time",
    }
