"""What should I deploy? In words, a task at a time: equal accuracy, the best in each objective, the Pareto front."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from framewatt.factors import factors_of, label, sorted_by
from framewatt.report.material import Material
from framewatt.report.numbers import known, p_value, plural, si, significant
from framewatt.statistics.objectives import BEST, NOT_APART, OBJECTIVES, WORSE
from framewatt.statistics.power import runs_to_tell
from framewatt.tables.columns import ESTIMATED
from framewatt.tables.deploy import INFERENCES, with_costs

_TASK = ("workload", "dataset")
_BEST = {
    "energy": ("Least energy a sample", "J", "energy_per_sample_j"),
    "latency": ("Lowest latency of a batch (95th percentile)", "s", "latency_p95_s"),
    "throughput": ("Highest throughput, by time a sample", "s", "time_per_sample_s"),
}
Row = Mapping[str, Any]


def recommendations(material: Material) -> list[tuple[str, list[str]]]:
    """A heading and its sentences for every workload and data set that inference runs of the study count for."""
    choices = with_costs(material.choices, material.plan["settings"].get("costs", {}))
    choices = choices[choices["n"] > 0]
    if choices.empty:
        return []
    settings = material.plan["settings"]["statistics"]
    found = []
    for levels, part in sorted_by(choices, _TASK).groupby(list(_TASK), sort=False):
        names = _names(part, material.compared)
        rows: list[Row] = [{str(k): v for k, v in row.items()} for row in part.to_dict("records")]
        sentences = [_accuracy(rows, names, settings)]
        sentences += [_best(objective, rows, names, settings) for objective in OBJECTIVES]
        sentences += [_takes(rows, names), _front(rows, names)]
        found.append((" on ".join(map(str, levels)), [sentence for sentence in sentences if sentence]))
    return found


def _names(choices: pd.DataFrame, compared: Sequence[str]) -> dict[str, str]:
    """Names of choices by cell, as long as it takes to tell them apart: `torch2onnx/cpu batch 32`."""
    others = [name for name in factors_of(choices) if name not in (*compared, *_TASK, "phase")]
    varied = [name for name in others if choices[name].nunique() > 1]
    return {
        row["cell"]: " ".join(
            [label(row, compared), *(f"{'batch ' if name == 'batch_size' else ''}{row[name]}" for name in varied)]
        ).strip()
        or row["cell"]
        for row in choices.to_dict("records")
    }


def _accuracy(rows: Sequence[Row], names: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    if not any(known(row["accuracy"]) for row in rows):
        return "Accuracy is unknown of every choice, so that choices are compared without it."
    most = next(row for row in rows if row["accuracy_note"] == "the most accurate")
    equal = [row for row in rows if _true(row["as_accurate"]) and row is not most]
    others = [row for row in rows if not _true(row["as_accurate"])]
    if not others and all(row["accuracy_note"] == "the same number in every run" for row in equal):
        return f"Accuracy is {significant(most['accuracy'])}, the same number in every run of every choice."
    margin = settings["accuracy_margin"]
    words = f"{names[most['cell']]} is the most accurate, {significant(most['accuracy'])}"
    if equal:
        words += f"; equal to it within {margin:g}: {_listed(equal, names, _how_equal)}"
    if others:
        words += f"; not shown to be equal, and left out below: {_listed(others, names, _how_equal)}"
    return f"{words}."


def _how_equal(row: Row) -> str:
    if not known(row["accuracy"]):
        return "accuracy unknown"
    how = f"TOST {p_value(row['accuracy_p'])}" if known(row["accuracy_p"]) else str(row["accuracy_note"])
    return f"{significant(row['accuracy'])}, {how}"


def _best(objective: str, rows: Sequence[Row], names: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    """The best of an objective, and what is not told apart from it; a win only where the test shows one."""
    words, unit, quantity = _BEST[objective]
    best = next((row for row in rows if row[f"{objective}_verdict"] == BEST), None)
    if best is None:
        return ""
    mark = ESTIMATED if objective == "energy" and best["estimated"] else ""
    amount = f"{si(best[quantity], unit)}{mark}"
    start = f"{words}: {names[best['cell']]}, {amount}"
    close = [row for row in rows if row[f"{objective}_verdict"] == NOT_APART]
    apart = [row for row in rows if row[f"{objective}_verdict"] == WORSE]
    if not close and not apart:
        return f"{start}; there is no other choice."
    if not close:
        largest = max(row[f"{objective}_p"] for row in apart)
        which = "the other choice" if len(apart) == 1 else f"each of {len(apart)} other choices"
        return f"{start}, less than {which} (corrected {p_value(largest)}{' at most' if len(apart) > 1 else ''})."
    close.sort(key=lambda row: row[quantity])
    others = _listed(close, names, lambda row: p_value(row[f"{objective}_p"]))
    smallest = f"{names[best['cell']]} has the smallest mean, {amount}"
    sentence = f"{words}: no one choice; {smallest}, not told apart from {others}"
    least_p = min((row[f"{objective}_smallest_p"] for row in close if known(row[f"{objective}_smallest_p"])), default=0)
    if least_p > settings["alpha"]:
        enough = runs_to_tell(len(close) + len(apart), settings)
        sentence += f"; so few runs could not have told any apart, {enough} a choice could"
    elif apart:
        sentence += f"; {plural(len(apart), 'other choice')} {'takes' if len(apart) == 1 else 'take'} more"
    return f"{sentence}."


def _takes(rows: Sequence[Row], names: Mapping[str, str]) -> str:
    """What many inferences of the choice of least energy take, and of the choice of most."""
    counted = sorted((row for row in rows if known(row["kwh"])), key=lambda row: row["kwh"])
    if not counted:
        return ""
    ends = counted if len(counted) == 1 else [counted[0], counted[-1]]
    taken = "; ".join(f"{_amounts(row)} by {names[row['cell']]}" for row in ends)
    return f"{INFERENCES:,} inferences take {taken}."


def _amounts(row: Row) -> str:
    amounts = [f"{significant(row['kwh'])} kWh"]
    amounts += [f"{significant(row['co2e_g'])} gCO2e"] if known(row["co2e_g"]) else []
    amounts += [f"{significant(row['price'])} {row['currency']}"] if known(row["price"]) else []
    return ", ".join(amounts) + (ESTIMATED if row["estimated"] else "")


def _front(rows: Sequence[Row], names: Mapping[str, str]) -> str:
    """The front; it is of means, which runs may not tell apart."""
    front = [names[row["cell"]] for row in rows if _true(row["on_front"])]
    accuracy = " and accuracy" if all(known(row["accuracy"]) for row in rows) else ""
    return f"On the Pareto front of mean energy, latency{accuracy}: {', '.join(front)}." if front else ""


def _listed(rows: Sequence[Row], names: Mapping[str, str], told: Any) -> str:
    return ", ".join(f"{names[row['cell']]} ({told(row)})" for row in rows)


def _true(value: Any) -> bool:
    return value is True or value == 1
