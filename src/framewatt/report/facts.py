"""What was measured: cells, blocks, windows, trainings, when the study stopped, and hashes of all that it used."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framewatt.frames.factor_words import label, phrase
from framewatt.report.material import Material
from framewatt.report.numbers import Facts, plural, significant
from framewatt.report.tables import Table
from framewatt.runs.batches import PASSES
from framewatt.stopping.history import sentences
from framewatt.study.factors import shared
from framewatt.study.statistical_tests import NAMES
from framewatt.study.training import FINE_TUNED, TRAINED, training_of, weights_of

_OPTIMIZERS = {"sgd": "SGD", "adam": "Adam", "lamb": "LAMB"}

_OF_PAIRS = (
    "Answers allow for the looks; the p and intervals of single pairs and cells, in tables and files, are those of a "
    "number of blocks fixed before."
)


@dataclass(frozen=True)
class MeasuredSection:
    """What was measured, and after how many blocks the study stopped, if it has a stopping rule."""

    description: str
    facts: Facts
    stopping: Sequence[str]
    looks: Table | None


def measured_section(material: Material) -> MeasuredSection:
    """Describe what was measured."""
    return MeasuredSection(
        material.plan["description"], measured_facts(material), stopping_sentences(material), looks_table(material)
    )


def measured_facts(material: Material) -> Facts:
    """The study: cells, what was run or read, tests."""
    settings = material.plan["settings"]
    statistics = settings["statistics"]
    return [
        ("Study", material.plan["study"]),
        ("Cells", "; ".join(_crosses(material))),
        *(_files_read(material) if material.imported else _blocks_and_windows(material)),
        ("Compared", ", ".join(material.compared).replace("_", " ")),
        (
            "Test of pairs",
            f"{NAMES[statistics['test']]}, correction {statistics['correction']}, alpha {statistics['alpha']:g}",
        ),
    ]


def _blocks_and_windows(material: Material) -> Facts:
    """How often cells were measured, in which order, and what was timed."""
    plan, settings = material.plan, material.plan["settings"]
    window = settings["window"]
    facts = [
        (
            "Blocks",
            f"{_blocks(plan)} of every one of {plural(len(plan['cells']), 'cell')}, "
            f"shuffled anew from seed {plan['seed']}; {plural(material.planned, 'run')} in all",
        ),
    ]
    if any(cell["phase"] == "infer" for cell in plan["cells"]):
        facts.append(
            (
                "Timed in inference",
                f"{_passes(window)} over the test set, then on until {window['minimum_s']:g} s are over, "
                f"after {plural(window['warm_up_batches'], 'warm-up batch').replace('batchs', 'batches')}",
            )
        )
        inferred = {cell["workload"]: None for cell in plan["cells"] if cell["phase"] == "infer"}
        taught = [name for name in inferred if weights_of(settings, name) in (TRAINED, FINE_TUNED)]
        if taught:
            facts.append(("Weights are trained in", _by_model(settings, taught, _training_words)))
    trained = list({cell["workload"]: None for cell in plan["cells"] if cell["phase"] == "train"})
    if trained:
        facts.append(("Timed in training", _by_model(settings, trained, _timed_training)))
    return [*facts, ("Rest before a run", _rest(settings["cool_down"]))]


def _blocks(plan: Mapping[str, Any]) -> str:
    """How many blocks there are; of a merged study, on which machine."""
    if "blocks" in plan:
        return ", ".join(f"{plural(count, 'block')} on {machine}" for machine, count in plan["blocks"].items())
    return plural(plan["repetitions"], "block")


def _passes(window: Mapping[str, Any]) -> str:
    count = window.get("passes", PASSES)
    return "one whole pass" if count == PASSES else f"{count} whole passes"


def _by_model(settings: Mapping[str, Any], models: Sequence[str], words: Callable[[Mapping[str, Any]], str]) -> str:
    """State how models are trained: once where that is the same for all of them, else model by model."""
    by_name = {name: words(training_of(settings, name)) for name in models}
    each = [f"{name}: {text}" for name, text in by_name.items()]
    return ". ".join(each) if len(set(by_name.values())) > 1 else by_name[models[0]]


def _training_words(training: Mapping[str, Any]) -> str:
    """How weights are made."""
    return (
        f"{plural(training['epochs'], 'epoch')} of {_OPTIMIZERS[training['optimizer']]} at learning rate "
        f"{training['learning_rate']:g}, in batches of {training['batch_size']}{_tuned(training)}"
    )


def _timed_training(training: Mapping[str, Any]) -> str:
    """What a measured training is."""
    return f"{plural(training['epochs'], 'epoch')} from random weights, without evaluation{_tuned(training)}"


def _tuned(training: Mapping[str, Any]) -> str:
    """Schedule, clipping and weight decay in words; empty where the study has none of them."""
    parts = []
    if schedule := training.get("schedule"):
        parts.append(f"{schedule['kind']} schedule after {plural(schedule['warm_up_steps'], 'warm-up step')}")
    if training.get("clip_norm"):
        parts.append(f"gradients clipped to a norm of {training['clip_norm']:g}")
    if training.get("weight_decay"):
        parts.append(f"weight decay {training['weight_decay']:g}")
    return "".join(f"; {part}" for part in parts)


def _rest(cool_down: Mapping[str, Any]) -> str:
    rest = f"{cool_down['rest_s']:g} s"
    if cool_down["idle_band"] is None:
        return rest
    return (
        f"{rest}, then until power is within {100 * cool_down['idle_band']:g} % of idle, "
        f"{cool_down['timeout_s']:g} s at most"
    )


def _crosses(material: Material) -> list[str]:
    """The crosses of compared factors, one phrase each."""
    groups: dict[str, list[str]] = {}
    for cell in material.plan["cells"]:
        levels = {name: level for name, level in cell.items() if name != "id"}
        group = phrase(levels, shared(levels, material.compared))
        groups.setdefault(group, []).append(label(levels, material.compared))
    return [f"{group}: {', '.join(labels)}" if group else ", ".join(labels) for group, labels in groups.items()]


def _files_read(material: Material) -> Facts:
    """Runs and the logs that they were read from."""
    files = material.plan["settings"]["files"]
    read: Counter[tuple[str, str]] = Counter()
    for record in material.records:
        read.update({(file["reader"], _folder(file["path"])) for file in record["files"]})
    logs = [f"{reader} in {folder} of {plural(count, 'run')}" for (reader, folder), count in sorted(read.items())]
    left_out = material.plan.get("left_out", [])
    without = f"; {plural(len(left_out), 'run')} left out by the study" if left_out else ""
    return [
        (
            "Runs",
            f"{plural(material.planned, 'run')} of {plural(len(material.plan['cells']), 'cell')}, not measured "
            f"here{without}",
        ),
        ("Logs", "; ".join(logs) or "none"),
        ("Patterns", "; ".join(log["pattern"] for log in files["logs"])),
    ]


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "the root"


def stopping_sentences(material: Material) -> list[str]:
    """Sentences: what the study expected, when it stopped and why, what was changed after results existed."""
    stated = [material.plan["stopping"]["sentence"], material.stopping["why"], _OF_PAIRS] if material.stopping else []
    return stated + sentences(material.repetitions_changed)


def looks_table(material: Material) -> Table | None:
    """One row per look and group; None where the study has a fixed number of blocks."""
    if not material.stopping:
        return None
    levels = {cell["id"]: cell for cell in material.plan["cells"]}
    by_width = "interval" in material.stopping["repetitions"]["until"]
    rows = [
        [str(step["blocks"]), name, *_look_row(group, levels, material.compared, by_width=by_width)]
        for step in material.stopping["steps"]
        if step["looked"]
        for name, group in step["groups"].items()
    ]
    header = ["blocks", "group", "least so far", "least sure of", "its ratio", "e-value", "enough at", "settled"]
    return Table("stopping", "What each look saw", header, rows, frozenset({"blocks"}))


def _look_row(group: Mapping[str, Any], levels: Mapping[str, Any], compared: Any, *, by_width: bool) -> list[str]:
    settled = "yes" if group["settled"] else "no"
    others = [other for other in group["others"] if other["ratio"] is not None]
    if group["leader"] is None or not others:
        return [_name(group["leader"], levels, compared), "none", *[""] * 3, settled]
    near = min(others, key=_width if by_width else _how_sure)
    ends = [near["ratio_low"], near["ratio_high"]]
    interval = "" if None in ends else f" ({significant(ends[0])} to {significant(ends[1])})"
    evidence = [significant(value) if value is not None else "" for value in (near["e_value"], group["threshold"])]
    names = [_name(name, levels, compared) for name in (group["leader"], near["cell"])]
    return [*names, f"{significant(near['ratio'])}{interval}", *evidence, settled]


def _how_sure(other: Mapping[str, Any]) -> tuple[float, float, float]:
    """Sort key of how certain a cell's difference to the best is: its e-value, or the lower end of its ratio."""
    return (other["e_value"] or 0.0, other["ratio_low"] or 0.0, other["ratio"])


def _width(other: Mapping[str, Any]) -> float:
    """Sort key of how well a cell's ratio to the best is known, the worst first."""
    return -(math.inf if other["ratio_high"] is None else other["ratio_high"] / other["ratio"])


def _name(cell: str | None, levels: Mapping[str, Any], compared: Any) -> str:
    return "none" if cell is None else label(levels[cell], compared)
