"""What should I deploy? In words, by workload and data set: equal quality, best by objective, the Pareto front."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from framewatt.frames.factor_words import factors_of, in_words, label, sorted_by
from framewatt.frames.headline import counts
from framewatt.frames.quality import is_share, title_of, unit_of, words_of
from framewatt.report.material import Material
from framewatt.report.numbers import known, listed, p_value, si, significant
from framewatt.statistics.accuracies import BEST, NOT_APART, OBJECTIVES, ON_THE_SAME, WORSE, samples_needed
from framewatt.statistics.best_set import mixing
from framewatt.statistics.deploy import BEST_QUALITY, TOO_SLOW
from framewatt.study.factors import GIVEN, given_in
from framewatt.study.load import rate_of
from framewatt.study.statistical_tests import is_paired
from framewatt.tables.columns import ESTIMATED
from framewatt.tables.deploy import INFERENCES, with_costs
from framewatt.tables.ratios import ratio_range

_BEST = {
    "energy": ("Least energy a {unit}", "J", "energy_per_sample_j"),
    "latency": ("Lowest latency of a {batch} (95th percentile)", "s", "latency_p95_s"),
    "throughput": ("Highest throughput, by time a {unit}", "s", "time_per_sample_s"),
}
Row = Mapping[str, Any]


def recommendations(material: Material) -> list[tuple[str, list[str], list[dict[str, Any]]]]:
    """A heading, its sentences and its choices for every workload and data set with inference runs that count.

    The choices are those that are as good as the best in quality, with energy and latency both in numbers and in words,
    for the page's deadline.
    """
    choices = with_costs(material.choices, material.plan["settings"].get("costs", {}))
    if not (choices["n"] > 0).any():
        return []
    settings = material.plan["settings"]["statistics"]
    found: list[tuple[str, list[str], list[dict[str, Any]]]] = []
    given = given_in(factors_of(choices))
    for levels, every in sorted_by(choices, given).groupby(given, sort=False):
        names = _names(every, material.compared)
        gone, part = every[every["n"] == 0], every[every["n"] > 0]
        if part.empty:
            continue
        of_gone = f"Of {listed([names[one] for one in gone['cell']])} no run counts." if len(gone) else ""
        late = part["quality_note"] == TOO_SLOW
        told_late = f"Overloaded at this rate, and so no choice: {listed([names[one] for one in part['cell'][late]])}."
        if late.all():
            found.append((_heading(dict(zip(given, levels, strict=True))), [told_late], []))
            continue
        rows: list[Row] = [{str(k): v for k, v in row.items()} for row in part[~late].to_dict("records")]
        sentences = [_quality(rows, names, settings), told_late if late.any() else "", of_gone]
        sentences += [_best(objective, rows, names) for objective in OBJECTIVES]
        sentences += [_takes(rows, names), _front(rows, names), _mixed(material, names)]
        told = [sentence for sentence in sentences if sentence]
        found.append(
            (
                _heading(dict(zip(given, levels, strict=True))),
                told,
                [_in_time(row, names) for row in rows if _can_be_in_time(row)],
            )
        )
    return found


def _heading(levels: Mapping[str, Any]) -> str:
    """What is given, as a heading: `resnet50 on digits, load 20/s`."""
    others = [in_words(name, level) for name, level in levels.items() if name not in ("workload", "dataset")]
    return ", ".join([f"{levels['workload']} on {levels['dataset']}", *others])


def _can_be_in_time(row: Row) -> bool:
    return _true(row["as_good"]) and known(row["energy_per_sample_j"], row["latency_p95_s"])


def _in_time(row: Row, names: Mapping[str, str]) -> dict[str, Any]:
    energy_j, latency_s = float(row["energy_per_sample_j"]), float(row["latency_p95_s"])
    return {
        "name": names[row["cell"]],
        "energy_j": energy_j,
        "energy": si(energy_j, "J") + (ESTIMATED if row["estimated"] else ""),
        "latency_s": latency_s,
        "latency": si(latency_s, "s"),
    }


def _mixed(material: Material, cells: Collection[str]) -> str:
    """What the runs of these cells mix of machines and sessions; empty where they are of one session."""
    runs = material.totals[counts(material.totals) & material.totals["cell"].isin(list(cells))]
    paired = is_paired(material.plan["settings"]["statistics"])
    mixed = "; ".join(mixing(runs.set_index("repetition"), paired=paired))
    return f"These choices are compared over {mixed}." if mixed else ""


def _names(choices: pd.DataFrame, compared: Sequence[str]) -> dict[str, str]:
    """Names of choices by cell, only as long as needed to be distinct: `torch2onnx/cpu batch 32`."""
    others = [name for name in factors_of(choices) if name not in (*compared, *GIVEN, "phase")]
    varied = [name for name in others if choices[name].nunique() > 1]
    return {
        row["cell"]: " ".join([label(row, compared), *(in_words(name, row[name]) for name in varied)]).strip()
        or row["cell"]
        for row in choices.to_dict("records")
    }


def _quality(rows: Sequence[Row], names: Mapping[str, str], settings: Mapping[str, Any]) -> str:
    metrics = [row["metric"] for row in rows]
    what, title = words_of(metrics), title_of(metrics)
    if not any(known(row["quality"]) for row in rows):
        return f"{title} is unknown of every choice, so that choices are compared without it."
    best = next(row for row in rows if row["quality_note"] == BEST_QUALITY)
    equal = [row for row in rows if _true(row["as_good"]) and row is not best]
    others = [row for row in rows if not _true(row["as_good"])]
    margin = f"{settings['accuracy_margin']:g}" + ("" if is_share(best["metric"]) else " of it")
    words = f"{names[best['cell']]} has the best {what}, {significant(best['quality'])}"
    if equal:
        words += f"; equal to it within {margin}: {_listed(equal, names, _how_equal)}"
    if others:
        words += f"; not shown to be equal, and left out below: {_listed(others, names, _how_equal)}"
    alike = [row for row in others if known(row["quality_p"]) and row["quality"] == best["quality"]]
    if any(ON_THE_SAME in str(row["quality_note"]) for row in alike):
        needed = samples_needed(len(equal) + len(others), settings["accuracy_margin"], settings["alpha"])
        words += f"; a test set of {needed:,} samples, all of them answered alike, would show that they are equal"
    return f"{words}."


def _how_equal(row: Row) -> str:
    if not known(row["quality"]):
        return str(row["quality_note"])
    how = ", ".join(filter(None, [p_value(row["quality_p"]) if known(row["quality_p"]) else "", row["quality_note"]]))
    return f"{significant(row['quality'])}, {how}"


def _best(objective: str, rows: Sequence[Row], names: Mapping[str, str]) -> str:
    """The choices that may be the best in an objective, and the others' ratios; no stronger than the set allows."""
    words, unit, quantity = _BEST[objective]
    arrive = rate_of(rows[0].get("load")) is not None
    words = words.format(unit=unit_of(row["metric"] for row in rows), batch="request" if arrive else "batch")
    judged = [row for row in rows if isinstance(row[f"{objective}_verdict"], str)]
    inside = [row for row in judged if row[f"{objective}_verdict"] in (BEST, NOT_APART)]
    if not inside:
        return ""
    inside.sort(key=lambda row: row[f"{objective}_ratio"] if known(row[f"{objective}_ratio"]) else math.inf)
    first = inside[0]
    mark = ESTIMATED if objective == "energy" and first["estimated"] else ""
    amount = f"{names[first['cell']]}, {si(first[quantity], unit)}{mark}"
    if len(judged) == 1:
        if any(row["quality_note"] == BEST_QUALITY for row in rows) and len(rows) > 1:
            return f"{words}: {amount}; no other choice is known to be as good in {words_of([first['metric']])}."
        return f"{words}: {amount}; there is no other choice."

    def ratio_text(row: Row) -> str:
        ratio, low, high = (row[f"{objective}_ratio{end}"] for end in ("", "_low", "_high"))
        return ratio_range(ratio, low, high) if known(ratio) else "not compared"

    others = sorted((row for row in judged if row not in inside), key=lambda row: row[f"{objective}_ratio"])
    nearest = f"{names[others[0]['cell']]} takes {ratio_text(others[0])}" if others else ""
    if len(inside) == 1:
        return f"{words}: {amount}; {'the next, ' if len(others) > 1 else ''}{nearest}."
    sentence = f"{words}: not settled; {amount}, and {_listed(inside[1:], names, ratio_text)} may be the best"
    if others:
        which = names[others[0]["cell"]] if len(others) == 1 else f"the {len(others)} others"
        more = all(row[f"{objective}_verdict"] == WORSE for row in others)
        sentence += (
            f"; {which} {'takes' if len(others) == 1 else 'take'} more"
            if more
            else f"; one of these takes no more than {which}"
        )
    return f"{sentence}."


def _takes(rows: Sequence[Row], names: Mapping[str, str]) -> str:
    """Energy of many inferences with the choice of least energy, and with that of most."""
    counted = sorted((row for row in rows if known(row["kwh"])), key=lambda row: row["kwh"])
    if not counted:
        return ""
    ends = counted if len(counted) == 1 else [counted[0], counted[-1]]
    taken = "; ".join(f"{_amounts(row)} by {names[row['cell']]}" for row in ends)
    return f"{INFERENCES:,} inferences take {taken}."


def _amounts(row: Row) -> str:
    amounts = [si(1000 * row["kwh"], "Wh")]
    amounts += [f"{significant(row['co2e_g'])} gCO2e"] if known(row["co2e_g"]) else []
    amounts += [f"{significant(row['price'])} {row['currency']}"] if known(row["price"]) else []
    return ", ".join(amounts) + (ESTIMATED if row["estimated"] else "")


def _front(rows: Sequence[Row], names: Mapping[str, str]) -> str:
    """The Pareto front; it is one of means, whose differences may not be significant."""
    front = [names[row["cell"]] for row in rows if _true(row["on_front"])]
    quality = f" and {words_of([row['metric'] for row in rows])}" if all(known(row["quality"]) for row in rows) else ""
    return f"On the Pareto front of mean energy, latency{quality}: {', '.join(front)}." if front else ""


def _listed(rows: Sequence[Row], names: Mapping[str, str], text: Any) -> str:
    return ", ".join(f"{names[row['cell']]} ({text(row)})" for row in rows)


def _true(value: Any) -> bool:
    return value is True or value == 1
