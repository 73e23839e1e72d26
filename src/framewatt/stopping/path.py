"""What a study's records say after each block, and after which one it stops (no side effects)."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from framewatt.frames.frames import runs_frame
from framewatt.frames.headline import aside, headline_of_runs
from framewatt.frames.totals import Scope
from framewatt.statistics.best_set import groups
from framewatt.statistics.selection import counted, totals
from framewatt.statistics.stopping import (
    Look,
    Values,
    look_at_interval,
    look_for_best,
    look_for_best_by_t,
    threshold_of,
)
from framewatt.stopping.expected import minutes_after
from framewatt.study.factors import AnyCell
from framewatt.study.records import RunRecord
from framewatt.study.stopping_rule import TIME, Rule, rule_of


@dataclass(frozen=True)
class GroupAfter:
    """What is known of a group after some blocks.

    Attributes:
        cells: its cells by name, in the order of the look's columns.
        look: see statistics.stopping.
        threshold: e-value at which a cell is known to take more than the leader; None for a rule with fixed looks.
    """

    cells: tuple[str, ...]
    look: Look
    threshold: float | None

    @property
    def without(self) -> list[str]:
        """Its cells without a run that counts so far."""
        known = {self.look.leader, *self.look.others}
        return [name for column, name in enumerate(self.cells) if column not in known]


@dataclass(frozen=True)
class After:
    """What is known of a study after some blocks.

    Attributes:
        blocks: how many.
        looked: whether the rule looks then.
        groups: groups of comparable cells, by the levels that their cells share.
    """

    blocks: int
    looked: bool
    groups: Mapping[str, GroupAfter]

    @property
    def settled(self) -> bool:
        """Whether every group is settled."""
        return all(group.look.settled for group in self.groups.values())


@dataclass(frozen=True)
class Path:
    """What was known after each block up to the last.

    Attributes:
        rule: when the study stops.
        steps: one step per block; empty where there is no block yet.
        stopped: whether no further block is measured.
        against_last: the same steps, with all cells compared to the final leader of their group.
        minutes: measuring time of the blocks, see stopping.expected; None where the rule does not limit it.
    """

    rule: Rule
    steps: Sequence[After]
    stopped: bool
    against_last: Sequence[After]
    minutes: float | None = None

    @property
    def settled(self) -> bool:
        """Whether the study stopped because its answer is known."""
        return self.stopped and self.steps[-1].settled


def path_of(cells: Iterable[AnyCell], settings: Mapping[str, Any], records: Collection[RunRecord]) -> Path:
    """What a study knows after each of its blocks, up to the one after which it stops.

    A run that failed or is invalid does not count, nor does its block for its cell; a cell without a run that counts is
    left out of its group. So there is an answer for any records, and the study ends after at_most blocks in any case.

    Args:
        cells: the study's, with the levels that its plan gives them.
        settings: the study's, with a stopping rule.
        records: run records of whole blocks, from the first on without a gap, in any order.
    """
    rule = rule_of(settings)
    if rule is None:
        raise ValueError(f"repetitions are {settings['repetitions']!r}, and not a rule when to stop")
    cells = list(cells)
    blocks, logs, set_aside = _logarithms(rule, cells, records, Scope.from_settings(settings))
    ends_min = minutes_after(records, blocks) if rule.minutes is not None else []
    compared = {
        name: [cell.id for cell in members]
        for name, members in groups(cells, settings["statistics"]["compare"]).items()
        if len(members) > 1
    }
    alpha = float(settings["statistics"]["alpha"])

    def after(count: int, leaders: Mapping[str, int | None]) -> After:
        known = {
            name: _unless_lost(_look(rule, members, logs, count, alpha, leaders.get(name)), set_aside, count)
            for name, members in compared.items()
        }
        return After(count, count in rule.looks, known)

    steps: list[After] = []
    stopped = False
    while not stopped and len(steps) < blocks:
        steps.append(after(len(steps) + 1, {}))
        last = steps[-1]
        over = last.settled or _out_of_time(rule, ends_min, last.blocks)
        stopped = last.blocks == rule.at_most or (last.looked and over)
    leaders = {name: group.look.leader for name, group in steps[-1].groups.items()} if steps else {}
    minutes = ends_min[len(steps) - 1] if ends_min and steps else None
    return Path(rule, steps, stopped, [after(step.blocks, leaders) for step in steps], minutes)


def _out_of_time(rule: Rule, ends_min: Sequence[float], blocks: int) -> bool:
    """Whether the blocks up to the next look, as long as those so far, would end after the rule's minutes."""
    following = next((look for look in rule.looks if look > blocks), blocks + 1)
    return rule.minutes is not None and ends_min[blocks - 1] * following / blocks > rule.minutes


def _look(
    rule: Rule, cells: Sequence[str], logs: Mapping[str, Values], blocks: int, alpha: float, leader: int | None
) -> GroupAfter:
    values = np.column_stack([logs[cell][:blocks] for cell in cells])
    if rule.width is not None:
        return GroupAfter(tuple(cells), look_at_interval(values, alpha, len(rule.looks), rule.width, leader), None)
    if not rule.at_every_block:
        return GroupAfter(tuple(cells), look_for_best_by_t(values, alpha, rule.looks, leader), None)
    look = look_for_best(values, alpha, leader)
    return GroupAfter(tuple(cells), look, threshold_of(len(cells), alpha))


def _unless_lost(group: GroupAfter, aside: Mapping[str, Collection[int]], blocks: int) -> GroupAfter:
    """The group, which is not settled while all runs of a cell are set aside: that cell may be the cheapest.

    If all runs of a cell failed, it cannot be chosen, and the others are compared without it.

    Args:
        group: after these blocks.
        aside: blocks in which a run was set aside, by cell.
        blocks: how many.
    """
    lost = any(block <= blocks for cell in group.without for block in aside.get(cell, ()))
    return replace(group, look=replace(group.look, settled=False)) if lost else group


def _logarithms(
    rule: Rule, cells: Sequence[AnyCell], records: Collection[RunRecord], scope: Scope
) -> tuple[int, dict[str, Values], dict[str, list[int]]]:
    """Number of blocks, and by cell the logarithm of its cost in each, NaN where none counts, and blocks set aside."""
    frame = runs_frame(records, scope=scope)
    rows: pd.DataFrame = totals(frame[frame["repetition"].between(1, rule.at_most)])
    blocks = int(rows["repetition"].max()) if len(rows) else 0
    logs = {cell.id: np.full(blocks, math.nan) for cell in cells}
    if not blocks:
        return 0, logs, {}
    headline = headline_of_runs(rows)
    quantity = headline.time if rule.quantity == TIME else headline.energy
    for name, values in logs.items():
        costs = counted(rows, name, quantity)[quantity]
        # A cost of 0 has no logarithm; it is treated as missing.
        costs = costs[(costs > 0) & np.isfinite(costs)]
        values[costs.index.to_numpy(dtype=int) - 1] = np.log(costs.to_numpy(dtype=np.float64))
    lost = rows[aside(rows)]
    return blocks, logs, {str(cell): [*map(int, part)] for cell, part in lost.groupby("cell")["repetition"]}
