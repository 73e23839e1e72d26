"""Which cell costs least on each of several machines and over all of them, and whether machines agree."""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from framewatt.frames.headline import aside, headline_of_runs
from framewatt.statistics.answers import ANSWERS_COLUMNS, JOINT, answer_group, rounded, typed
from framewatt.statistics.best_set import BestSet, groups
from framewatt.statistics.hypothesis_tests import correct
from framewatt.statistics.log_ratios import FEWEST, Floats, LogRatio, logs_of, number
from framewatt.statistics.selection import (
    ENERGIES,
    Stratified,
    between,
    block_values,
    cells_of,
    counted,
    stratified,
    totals,
)
from framewatt.statistics.stopping import ONCE, Looks
from framewatt.study.factors import AnyCell, PlainCell
from framewatt.study.statistical_tests import NAMES, is_paired, t_of
from framewatt.study.study import MACHINE

ALL = "all"
"""Instead of the name of a machine: all machines, each of the same weight."""

_AGREE = ["agree", "contradict", "differ_p", "differ_at_most"]

MACHINES_COLUMNS = [*ANSWERS_COLUMNS[:2], MACHINE, *ANSWERS_COLUMNS[2:], *_AGREE]
"""Columns: those of the answers, by machine, and then a row of ALL machines. Cells are named without their machine.

In rows of ALL, `ratio` is the geometric mean over these machines, each of the same weight, with an interval that holds
whether or not machines differ; `blocks` is the number of machine x block. `agree`: some cell may be the cheapest on
every machine, by the sets of their own rows; where none may, no cell is the best, and there is no ratio over all.
`contradict`: that none is, is known of all machines together. `differ_p` is the p of "no ratio to the reference differs
between machines" (Holm over cells and pairs of machines); `differ_at_most` an upper bound of the factor by which any of
them differs. `ratios` holds, by machine, what each ratio is there, with its interval."""


def answer_by_machine(
    runs: pd.DataFrame, settings: Mapping[str, Any], planned: Iterable[AnyCell] = (), looks: Looks = ONCE
) -> pd.DataFrame:
    """Return the answers of every machine and over all machines; no row where runs are of one machine.

    A stratum is a machine, its blocks are those that it measured. It makes no difference whether machines are levels of
    a factor, as in a merged study, or share the blocks of a study among them.

    Args:
        runs: the runs frame.
        settings: the study's `statistics`: compare, test, alpha.
        planned: the study's cells; the frame has no row of a cell if all its runs are missing.
        looks: how the study looked at its results before it stopped.

    Returns:
        MACHINES_COLUMNS.

    Raises:
        FramewattError: a run is there twice.
    """
    rows = totals(runs)
    machines = sorted(rows[MACHINE].dropna().astype(str).unique()) if MACHINE in rows else []
    if len(machines) < 2 or MACHINE in settings["compare"]:
        return typed_rows([])
    every = {cell.id: cell for cell in [*planned, *cells_of(rows)]}.values()
    base = {cell.id: without_machine(cell) for cell in every}
    rows = rows.assign(cell=[base[name].id for name in rows["cell"]])
    of_machine = {machine: rows[rows[MACHINE].astype(str) == machine] for machine in machines}
    cells = {cell.id: cell for cell in base.values()}.values()
    answers = []
    for quantity in headline_of_runs(rows).quantities:
        for group, members in groups(cells, settings["compare"]).items():
            names = [cell.id for cell in members]
            head = {"quantity": quantity, "group": group}
            alone = {name: answer_group(part, names, quantity, settings, looks) for name, part in of_machine.items()}
            answers += [head | {MACHINE: name} | row for name, row in alone.items()]
            answers.append(head | {MACHINE: ALL} | _over_all(of_machine, alone, names, quantity, settings, looks))
    return typed_rows(answers)


def typed_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame with MACHINES_COLUMNS and their types."""
    frame = typed(pd.DataFrame(rows, columns=MACHINES_COLUMNS))
    numbers = dict.fromkeys(("differ_p", "differ_at_most"), "float64")
    return frame.astype(numbers | dict.fromkeys(("agree", "contradict"), "boolean"))


def without_machine(cell: AnyCell) -> PlainCell:
    """A cell as it is on any machine: without the factor, if there is one, in levels and name."""
    levels = cell.to_dict()
    others = tuple((name, level) for name, level in levels.items() if name != MACHINE)
    if len(others) == len(levels):
        return PlainCell(cell.id, others)
    end = f"-{levels[MACHINE]}"
    name = cell.id.removesuffix(end) if cell.id.endswith(end) else "-".join(str(level) for _, level in others)
    return PlainCell(name, others)


def _over_all(
    of_machine: Mapping[str, pd.DataFrame],
    alone: Mapping[str, Mapping[str, Any]],
    cells: Sequence[str],
    quantity: str,
    settings: Mapping[str, Any],
    looks: Looks,
) -> dict[str, Any]:
    """The answer of a group over all machines for one quantity."""
    paired = is_paired(settings)
    values = {name: block_values(rows, cells, quantity) for name, rows in of_machine.items()}
    known = {name: set(strata.columns[np.isfinite(_logs(strata)).any(axis=1)]) for name, strata in values.items()}
    both = [cell for cell in cells if all(cell in some for some in known.values())]
    estimated = [_estimated(rows, cells, quantity) for rows in of_machine.values()]
    row: dict[str, Any] = {"best": "", "settled": False, "reference": "", "next": "", "ratios": "{}", "blocks": 0}
    row |= {"n_cells": len(both), "without": JOINT.join(cell for cell in cells if cell not in both), "rule": ""}
    row |= {"estimated": any(estimated)}
    notes = ["estimated on some machines, measured on others"] if len(set(estimated)) > 1 else []
    notes += [
        f"{cell} has no run that counts on {', '.join(name for name, some in known.items() if cell not in some)}"
        for cell in cells
        if cell not in both
    ]
    if len(both) < 2:
        why = "no two cells have runs that count on every machine, so nothing is compared"
        return row | {"note": JOINT.join([*notes, why])}
    logs = {name: _logs(strata[both]) for name, strata in values.items()}
    numbers = [[int(number) for number in strata.index] for strata in values.values()]
    strata = stratified(list(logs.values()), settings["alpha"], paired=paired, looks=looks, repetitions=numbers)
    row |= {"blocks": sum(int((np.isfinite(part).sum(axis=0) > 1).sum()) for part in logs.values())}
    row |= {"agree": strata.agree, "contradict": strata.contradict, "rule": _rule(strata, settings, looks)}
    row |= _heterogeneity(strata, looks, settings["alpha"])
    row |= _ratios(strata, both, list(logs))
    # A cell may be the cheapest even if all its runs were set aside on a machine.
    disturbed = {name for rows in of_machine.values() for name in rows.loc[aside(rows), "cell"]}
    if lost := [cell for cell in cells if cell not in both and cell in disturbed]:
        row |= {"best": JOINT.join([row["best"], *lost]), "settled": False, "apart": None}
        notes.append(f"too disturbed to be compared: {', '.join(lost)}")
    few = [name for name, part in logs.items() if (np.isfinite(part).sum(axis=1) < FEWEST).any()]
    notes += [f"fewer than {FEWEST} blocks on {', '.join(few)}: nothing is known of the noise there"] if few else []
    return row | {"note": JOINT.join([*_disagreements(strata, alone, both, list(logs)), *notes])}


def _ratios(strata: Stratified, cells: Sequence[str], machines: Sequence[str]) -> dict[str, Any]:
    """Best, and ratios of every other cell to that of least mean; where machines disagree, but by machine."""
    pairs, place = strata.whole.pairs, int(strata.whole.reference)
    low, high = pairs.within(strata.whole.level)
    at_least = strata.whole.at_least()
    ratios: dict[str, dict[str, Any]] = {
        cell: {
            "ratio": rounded(pairs.ratio[i, place]) if strata.agree else None,
            "low": rounded(low[i, place]) if strata.agree else None,
            "high": rounded(high[i, place]) if strata.agree else None,
            "at_least": rounded(at_least[i]) if strata.agree else None,
            "machines": {
                name: _ratio_on_machine(one, i, place) for name, one in zip(machines, strata.alone, strict=True)
            },
        }
        for i, cell in enumerate(cells)
        if i != place
    }
    ratios = dict(sorted(ratios.items(), key=lambda item: (item[1]["ratio"] or np.inf, item[0])))
    inside = [cell for cell, one in zip(cells, strata.inside, strict=True) if one]
    row = {
        "best": JOINT.join(sorted(inside, key=lambda cell: (cell != cells[place], cell))),
        "settled": len(inside) == 1,
        "reference": cells[place],
        "ratios": json.dumps(ratios),
    }
    if not strata.agree:
        return row
    nearest = next(iter(ratios))
    outside = [one["at_least"] for cell, one in ratios.items() if cell not in inside and one["at_least"]]
    return row | {
        "next": nearest,
        **{f"ratio{end}": ratios[nearest][key] for end, key in (("", "ratio"), ("_low", "low"), ("_high", "high"))},
        "apart": number(strata.whole.apart()),
        "others_at_least": min(outside, default=None),
    }


def _ratio_on_machine(best_there: BestSet, cell: int, place: int) -> dict[str, float | None]:
    """The ratio of a cell to another one on a machine."""
    low, high = best_there.pairs.within(best_there.level)
    ends = {"low": rounded(low[cell, place]), "high": rounded(high[cell, place])}
    return {"ratio": rounded(best_there.pairs.ratio[cell, place]), **ends}


def _heterogeneity(strata: Stratified, looks: Looks, alpha: float) -> dict[str, Any]:
    """Return whether, and by how much at most, ratios to the reference differ between machines.

    Unknown where each machine measured until its own answer was known: t-tests of such blocks err too often.
    """
    if looks.until_known:
        return {"differ_p": None, "differ_at_most": None}
    place = int(strata.whole.reference)
    others = np.arange(strata.whole.inside.size) != place
    pairs = list(itertools.combinations([_column(one.pairs, place, others) for one in strata.alone], 2))
    differences = [between(one, other) for one, other in pairs]
    p = np.concatenate([one.p_two_sided() for one in differences])
    known = [float(value) if np.isfinite(value) else None for value in p]
    corrected = [value for value in correct(known, "holm") if value is not None]
    tail = alpha / looks.most / 2 / p.size
    ends = [end for one in differences for end in one.within(tail)]
    most = np.max([np.exp(np.abs(np.log(end))) for end in ends])
    return {"differ_p": min(corrected) if None not in known else None, "differ_at_most": number(most)}


def _column(pairs: LogRatio, place: int, rows: Any) -> LogRatio:
    """Ratios of some cells to one."""
    fields = (pairs.mean, pairs.error, pairs.freedom, pairs.least_p, pairs.runs)
    return LogRatio(*(field[rows, place] for field in fields))


def _disagreements(
    strata: Stratified, alone: Mapping[str, Mapping[str, Any]], cells: Sequence[str], machines: Sequence[str]
) -> list[str]:
    """State where machines disagree."""
    if not strata.agree:
        each = ", ".join(f"on {name} it is {_among(row['best'])}" for name, row in alone.items())
        sure = "" if strata.contradict else ", each by itself, which is not known of all of them together"
        return [f"no choice is the cheapest everywhere: {each}{sure}"]
    reference = int(strata.whole.reference)
    other_way = [
        f"{name} ({cells[int(np.argmin(one.pairs.mean[:, reference]))]})"
        for name, one in zip(machines, strata.alone, strict=True)
        if (one.pairs.mean[:, reference] < 0).any()
    ]
    if not other_way:
        return []
    return [f"less than {cells[reference]} took, by the mean there, another on {', '.join(other_way)}"]


def _among(best: str) -> str:
    return " or ".join(best.split(JOINT)) if best else "unknown"


def _rule(strata: Stratified, settings: Mapping[str, Any], looks: Looks) -> str:
    """How the set over all machines was found, in words."""
    test = " ".join(filter(None, [NAMES[t_of(settings)], looks.words]))
    how = "what holds on every machine" if looks.until_known else "machines as strata of the same weight"
    return f"{test}; {how}; each one-sided test and each end of an interval at {strata.whole.level:.3g}"


def _logs(values: pd.DataFrame) -> Floats:
    return logs_of(values.to_numpy(dtype=np.float64).T)


def _estimated(rows: pd.DataFrame, cells: Sequence[str], quantity: str) -> bool:
    """Whether any run that counts is estimated."""
    return quantity in ENERGIES and any(bool(counted(rows, cell, quantity)["estimated"].any()) for cell in cells)
