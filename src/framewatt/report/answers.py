"""The answers of a study, computed once: what is cheapest in each group, by how much, and what is not known.

All that a reader sees (head, strip, questions, comparison of two choices, live page, console) formats these values.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from framewatt.frames import headline as headlines
from framewatt.frames.factor_words import label, remarks
from framewatt.frames.headline import Headline, headline_of_runs
from framewatt.frames.quality import QUALITY_UNKNOWN
from framewatt.planning.plan import planned_cells
from framewatt.report.deploy import Deployment, deployments_of
from framewatt.report.evidence import Disturbances, Evidence, Value, disturbances_of, evidence_of
from framewatt.report.machines import Machine, machines_of, sessions_of
from framewatt.report.material import ENERGY, TIME, Material
from framewatt.report.numbers import is_true, known_or_none
from framewatt.runs.verdict import counts
from framewatt.statistics.answers import JOINT, answer
from framewatt.statistics.assumptions import doubts
from framewatt.statistics.best_set import groups, not_compared
from framewatt.statistics.machines import ALL, without_machine
from framewatt.statistics.selection import block_values, totals
from framewatt.stopping.record import looks_of
from framewatt.study.factors import FIRST_LEVELS, AnyCell, natural, shared
from framewatt.study.statistical_tests import is_paired

_PHASES = {"train": "Training", "infer": "Inference"}


@dataclass(frozen=True)
class Group:
    """Cells that agree in all factors but the compared ones.

    Attributes:
        levels: the shared levels, by factor.
        labels: the levels that distinguish each cell, by cell name.
    """

    levels: Mapping[str, Any]
    labels: Mapping[str, str]

    @property
    def name(self) -> str:
        """The group in words: `Training, batch 16 (resnet50, digits)`."""
        front = [_PHASES.get(self.levels["phase"], self.levels["phase"])] if "phase" in self.levels else []
        front += [f"batch {self.levels['batch_size']}"] if "batch_size" in self.levels else []
        rest = ", ".join(remarks(self.levels))
        if not front:
            return rest or "All cells"
        words = ", ".join(front) + (f" ({rest})" if rest else "")
        return words[:1].upper() + words[1:]


@dataclass(frozen=True)
class GroupAnswer:
    """The answer of a group of comparable cells for one quantity.

    Attributes:
        group: the cells.
        quantity: ENERGY or TIME.
        per: unit of work of the quantity, such as `sample`.
        confidence: level of the intervals, between 0 and 1.
        paired: whether runs are in blocks.
        best: names of the cells in the confidence set of the cheapest, least geometric mean first.
        settled: whether that set is one cell out of several.
        n_cells: number of cells with runs that count.
        without: names of the cells without a run that counts.
        reference: name of the cell that ratios refer to; empty where there is none.
        next: name of the cell with the smallest ratio to the reference; empty where there is none.
        ratio: of `next`.
        ratios: of every other cell to the reference, by cell name, smallest first.
        others_at_least: lower bound of the ratio of the cells outside of `best` to the cheapest; None where unknown.
        apart: upper bound of the ratio of any two cells in `best`; None where unknown.
        blocks: number of blocks; without blocks, runs of the cell that has the fewest.
        estimated: whether energy is estimated, wholly or partly.
        note: limits of the answer, as the statistics state them.
        doubts: signs that the answer is wrong more often than it states, a sentence each.
        runs: number of runs that count of the cells in `best` and of `next`.
        disturbed: number of these runs that other programs disturbed.
    """

    group: Group
    quantity: str
    per: str
    confidence: float
    paired: bool
    best: Sequence[str]
    settled: bool
    n_cells: int
    without: Sequence[str]
    reference: str
    next: str
    ratio: Value
    ratios: Mapping[str, Value]
    others_at_least: float | None
    apart: float | None
    blocks: int
    estimated: bool
    note: str
    doubts: Sequence[str] = ()
    runs: int = 0
    disturbed: int = 0

    @property
    def compared(self) -> bool:
        """Whether at least two cells have runs that count."""
        return self.n_cells > 1

    def label(self, cell: str) -> str:
        """The levels that distinguish a cell in the group."""
        return self.group.labels.get(cell, cell)


@dataclass(frozen=True)
class MachinesAnswer:
    """The answer of a group over all machines.

    Attributes:
        whole: the answer over all machines.
        best: by machine, the confidence set of the cheapest there.
        agree: whether some cell may be the cheapest on every machine.
        contradict: whether it is known of all machines together that no cell is.
        differ_p: p of "no ratio differs between machines"; None where unknown.
        differ_at_most: upper bound of the factor by which a ratio differs between machines; None where unknown.
    """

    whole: GroupAnswer
    best: Mapping[str, Sequence[str]]
    agree: bool
    contradict: bool
    differ_p: float | None
    differ_at_most: float | None


@dataclass(frozen=True)
class SetAside:
    """Runs that were set aside since others disturbed them.

    Attributes:
        runs: their number.
        cells: number of cells that have runs.
        cells_mostly: number of cells that lost more than half of their runs so.
        changed: the answers by energy that would differ if these runs counted, as they would be.
    """

    runs: int
    cells: int
    cells_mostly: int
    changed: Sequence[GroupAnswer]


@dataclass(frozen=True)
class StudyAnswers:
    """All answers of a study.

    Attributes:
        per: unit of work that energy and time are given for.
        compared: factors in which cells are compared.
        groups: all groups of the plan, training first.
        by_quantity: ENERGY and TIME -> the answer of each group that has cells.
        over_machines: ENERGY and TIME -> answers over all machines; empty where runs are of one machine.
        deployments: what to deploy, for each workload and data set.
        imported: whether runs were read from files.
        machines: the machines that measured.
        sessions: number of sessions; 0 where records name none.
        planned: number of planned runs.
        counted: number of runs that count.
        estimate: phrase where energies are estimated, wholly or partly; empty where all are measured.
        not_compared: what varies and is not compared, where no cell is compared with another; else empty.
        unknown_quality: why the quality of runs is unknown, with the number of runs, most frequent first.
        set_aside: runs that were set aside.
        disturbances: what other programs did during the runs that count.
        evidence: what else the answers rest on.
    """

    per: str
    compared: Sequence[str]
    groups: Mapping[str, Group]
    by_quantity: Mapping[str, Sequence[GroupAnswer]]
    over_machines: Mapping[str, Sequence[MachinesAnswer]]
    deployments: Sequence[Deployment]
    imported: bool
    machines: Sequence[Machine]
    sessions: int
    planned: int
    counted: int
    estimate: str
    not_compared: str
    unknown_quality: Sequence[tuple[str, int]]
    set_aside: SetAside
    disturbances: Disturbances
    evidence: Evidence


def answer_study(material: Material) -> StudyAnswers:
    """Compute all answers of a study from its frames and records."""
    head, grouped = material.headline, groups_of(material.plan)
    columns = {ENERGY: head.energy, TIME: head.time}
    answers = answers_by_quantity(material.plan, material.answers, head, grouped)
    by_quantity = {name: [_with_signs(one, columns[name], material) for one in answers[name]] for name in answers}
    energy = by_quantity[ENERGY]
    return StudyAnswers(
        per=head.per,
        compared=material.compared,
        groups=grouped,
        by_quantity=by_quantity,
        over_machines=_over_machines(material, columns),
        deployments=deployments_of(material),
        imported=material.imported,
        machines=machines_of(material),
        sessions=sessions_of(material),
        planned=material.planned,
        counted=material.counted,
        estimate=material.estimate,
        not_compared="" if _any_compared(energy) else not_compared(planned_cells(material.plan), material.compared),
        unknown_quality=_unknown_quality(material),
        set_aside=_set_aside(material, energy, grouped),
        disturbances=disturbances_of(material),
        evidence=evidence_of(material, {name: group.name for name, group in grouped.items()}),
    )


def answers_of_blocks(plan: Mapping[str, Any], runs: pd.DataFrame) -> list[GroupAnswer]:
    """Answer every group from the runs of some whole blocks, energy first.

    Args:
        plan: the study's.
        runs: the runs frame of these blocks.
    """
    settings = plan["settings"]
    frame = answer(runs, settings["statistics"], planned_cells(plan), looks_of(settings))
    answers = answers_by_quantity(plan, frame, headline_of_runs(totals(runs)))
    return [*answers[ENERGY], *answers[TIME]]


def answers_by_quantity(
    plan: Mapping[str, Any], frame: pd.DataFrame, head: Headline, grouped: Mapping[str, Group] | None = None
) -> dict[str, list[GroupAnswer]]:
    """Read an answers frame: ENERGY and TIME -> the answer of each group, training first.

    Args:
        plan: the study's.
        frame: ANSWERS_COLUMNS of framewatt.statistics.answers.
        head: the quantities by which cells are compared.
        grouped: the plan's groups, if they are known already.
    """
    grouped = groups_of(plan) if grouped is None else grouped
    read = partial(_group_answer, plan["settings"]["statistics"], head.per)
    answers: dict[str, list[GroupAnswer]] = {}
    for quantity, column in ((ENERGY, head.energy), (TIME, head.time)):
        rows = {_text(row["group"]): row for row in frame[frame["quantity"] == column].to_dict("records")}
        answers[quantity] = [read(quantity, grouped[name], rows[name]) for name in grouped if name in rows]
    return answers


def groups_of(plan: Mapping[str, Any]) -> dict[str, Group]:
    """Return a plan's groups by their name in the statistics, training first, then in order of levels."""
    return _named_groups(planned_cells(plan), plan["settings"]["statistics"]["compare"])


def _named_groups(cells: Sequence[AnyCell], compared: Sequence[str]) -> dict[str, Group]:
    named = {}
    for name, members in groups(cells, compared).items():
        levels = members[0].to_dict()
        named[name] = Group(
            {factor: levels[factor] for factor in shared(list(levels), compared)},
            {cell.id: label(cell.to_dict(), compared) or cell.id for cell in members},
        )
    return dict(sorted(named.items(), key=lambda item: [_place(*level) for level in item[1].levels.items()]))


def _place(factor: str, level: Any) -> tuple[int, Any]:
    """Key by which the levels of a factor sort, as `factors.rank` has it."""
    first = FIRST_LEVELS.get(factor, [])
    return (first.index(level) if level in first else len(first), natural(level))


def _group_answer(
    statistics: Mapping[str, Any], per: str, quantity: str, group: Group, row: Mapping[Any, Any]
) -> GroupAnswer:
    """Read a row of an answers frame, in memory or from a CSV file."""
    ratios = json.loads(row["ratios"])
    return GroupAnswer(
        group=group,
        quantity=quantity,
        per=per,
        confidence=1 - float(statistics["alpha"]),
        paired=is_paired(statistics),
        best=_cells(row["best"]),
        settled=is_true(row["settled"]),
        n_cells=int(row["n_cells"]),
        without=_cells(row["without"]),
        reference=_text(row["reference"]),
        next=_text(row["next"]),
        ratio=Value(*(known_or_none(row[name]) for name in ("ratio", "ratio_low", "ratio_high"))),
        ratios={cell: Value(one["ratio"], one["low"], one["high"]) for cell, one in ratios.items()},
        others_at_least=known_or_none(row["others_at_least"]),
        apart=known_or_none(row["apart"]),
        blocks=int(row["blocks"]),
        estimated=is_true(row["estimated"]),
        note=_text(row["note"]),
    )


def _cells(joined: object) -> list[str]:
    return [cell for cell in _text(joined).split(JOINT) if cell]


def _text(value: object) -> str:
    """Return a text; empty for a missing value, as CSV files have it for empty texts."""
    return value if isinstance(value, str) else ""


def _with_signs(one: GroupAnswer, column: str, material: Material) -> GroupAnswer:
    """Add the doubts about an answer, and how many of the runs behind it others disturbed."""
    signs: Sequence[str] = ()
    if one.compared:
        values = block_values(material.comparable, list(one.group.labels), column)
        signs = list(doubts(values.dropna(axis=1, how="all").rename(columns=one.group.labels), paired=one.paired))
    runs = [run for run in material.witnessed if run.cell in {*one.best, one.next}]
    return replace(one, doubts=signs, runs=len(runs), disturbed=sum(bool(run.causes) for run in runs))


def _any_compared(answers: Sequence[GroupAnswer]) -> bool:
    return any(one.compared for one in answers)


def _over_machines(material: Material, columns: Mapping[str, str]) -> dict[str, list[MachinesAnswer]]:
    """The answers over all machines of the groups in which cells are compared."""
    if material.machines.empty:
        return {quantity: [] for quantity in columns}
    cells = {cell.id: cell for cell in map(without_machine, planned_cells(material.plan))}
    grouped = _named_groups(list(cells.values()), material.compared)
    read = partial(_group_answer, material.plan["settings"]["statistics"], material.headline.per)
    answers: dict[str, list[MachinesAnswer]] = {}
    for quantity, column in columns.items():
        rows: dict[str, dict[str, Mapping[Any, Any]]] = {}
        for row in material.machines[material.machines["quantity"] == column].to_dict("records"):
            rows.setdefault(_text(row["group"]), {})[str(row["machine"])] = row
        wholes = {name: rows[name].pop(ALL) for name in grouped if ALL in rows.get(name, {})}
        every = [
            MachinesAnswer(
                whole=read(quantity, grouped[name], row),
                best={machine: _cells(one["best"]) for machine, one in rows[name].items()},
                agree=is_true(row["agree"]),
                contradict=is_true(row["contradict"]),
                differ_p=known_or_none(row["differ_p"]),
                differ_at_most=known_or_none(row["differ_at_most"]),
            )
            for name, row in wholes.items()
        ]
        answers[quantity] = [one for one in every if one.whole.compared]
    return answers


def _unknown_quality(material: Material) -> list[tuple[str, int]]:
    flags = (flag for record in material.records if counts(record) for flag in record["flags"])
    return Counter(flag for flag in flags if re.search(QUALITY_UNKNOWN, flag)).most_common()


def _set_aside(material: Material, energy: Sequence[GroupAnswer], grouped: Mapping[str, Group]) -> SetAside:
    rows = material.totals
    aside = headlines.aside(rows)
    if not aside.any():
        return SetAside(0, rows["cell"].nunique(), 0, [])
    shares = aside.groupby(rows["cell"]).mean()
    counting = {one.group.name: _conclusion(one) for one in energy}
    every = answers_by_quantity(material.plan, material.answers_with_all, material.headline, grouped)[ENERGY]
    changed = [one for one in every if _conclusion(one) != counting.get(one.group.name)]
    return SetAside(int(aside.sum()), len(shares), int((shares > 1 / 2).sum()), changed)


def _conclusion(one: GroupAnswer) -> tuple[bool, frozenset[str]]:
    return one.settled, frozenset(one.best)
