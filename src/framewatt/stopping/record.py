"""The record of when a study stopped and what it saw: stopping.json, its rows as a frame, and its looks (pure)."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from framewatt.statistics.stopping import ONCE, Looks, Ratio
from framewatt.stopping.path import After, GroupAfter, Path
from framewatt.study.stopping_rule import rule_of


def looks_of(settings: Mapping[str, Any]) -> Looks:
    """How a study looks at its results before it stops.

    Args:
        settings: the study's.
    """
    rule = rule_of(settings)
    if rule is None:
        return ONCE
    if rule.at_every_block:
        return Looks(until_known=True, confirmed=rule.when is not None)
    if rule.width is None:
        return Looks(most=len(rule.looks), at=rule.looks, confirmed=True)
    return Looks(most=len(rule.looks))


COLUMNS = [
    "blocks",
    "looked",
    "group",
    "leader",
    "cell",
    "pairs",
    "ratio",
    "ratio_low",
    "ratio_high",
    "e_value",
    "threshold",
    "settled",
]
"""One row per block, group and cell other than the group's final leader: the ratio to that leader over the blocks that
both have (`pairs` is their number), with the interval of the rule; the largest e-value so far for "the leader takes
less". `looked`: whether the rule looked then; `settled`: whether the group was settled, by its leader at that time."""

_DIGITS = 12


def record_of(path: Path) -> dict[str, Any]:
    """What stopping.json holds.

    Args:
        path: of a study that has stopped.

    Raises:
        ValueError: the study has not stopped.
    """
    if not path.stopped:
        raise ValueError("the study goes on, and only a study that has stopped has this record")
    return {
        "repetitions": path.rule.to_dict(),
        "blocks": path.steps[-1].blocks,
        "settled": path.settled,
        "why": why(path),
        **({"minutes": path.minutes} if path.minutes is not None else {}),
        "steps": [_step(step) for step in path.steps],
    }


def why(path: Path) -> str:
    """Why a study stopped, or what is still unknown where it goes on, in a sentence."""
    last = path.steps[-1]
    what = (
        f"which choice takes the least {path.rule.quantity} is known"
        if path.rule.width is None
        else f"the ratios of {path.rule.quantity} are known to {100 * path.rule.width:g} %"
    )
    alone = sum(not group.look.others for group in last.groups.values())
    if path.settled and not alone:
        return f"Stopped after {last.blocks} blocks: {what} in every group."
    known = sum(group.look.settled for group in last.groups.values()) - alone
    seen = f"{what} in {known} of {len(last.groups)} {'group' if len(last.groups) == 1 else 'groups'}"
    seen += f"; in {alone} at most one choice has runs that count." if alone else "."
    if path.settled:
        return f"Stopped after {last.blocks} blocks: {seen}"
    if path.stopped and last.blocks < path.rule.at_most:
        return (
            f"Stopped after {last.blocks} blocks and {path.minutes:.3g} minutes, since one more would take longer than "
            f"the {path.rule.minutes:g} that the study allows: {seen}"
        )
    if path.stopped:
        return f"Stopped after {last.blocks} blocks, the most that the study allows: {seen}"
    return f"Goes on after {last.blocks} blocks: {seen}"


def frame_of(path: Path) -> pd.DataFrame:
    """The path of every cell against the final leader of its group, see COLUMNS."""
    rows = [
        {
            "blocks": step.blocks,
            "looked": step.looked,
            "group": name,
            **{key: value for key, value in _group(group).items() if key in COLUMNS},
            "settled": then.groups[name].look.settled,
            **other,
        }
        for step, then in zip(path.against_last, path.steps, strict=True)
        for name, group in step.groups.items()
        for other in _group(group)["others"]
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    numbers = ["ratio", "ratio_low", "ratio_high", "e_value", "threshold"]
    return frame.astype(dict.fromkeys(numbers, "float64") | dict.fromkeys(("looked", "settled"), "bool"))


def _step(step: After) -> dict[str, Any]:
    return {
        "blocks": step.blocks,
        "looked": step.looked,
        "settled": step.settled,
        "groups": {name: _group(group) for name, group in step.groups.items()},
    }


def _group(group: GroupAfter) -> dict[str, Any]:
    look = group.look
    return {
        "leader": None if look.leader is None else group.cells[look.leader],
        "threshold": group.threshold,
        "settled": look.settled,
        "others": [
            {"cell": group.cells[column], **_ratio(ratio), "e_value": _number(look.e_values.get(column))}
            for column, ratio in look.others.items()
        ],
        "without": group.without,
    }


def _ratio(ratio: Ratio) -> dict[str, Any]:
    ends = {"ratio": ratio.ratio, "ratio_low": ratio.low, "ratio_high": ratio.high}
    return {"pairs": ratio.blocks, **{name: _number(value) for name, value in ends.items()}}


def _number(value: float | None) -> float | None:
    """Round to twelve digits: further ones depend on the machine's math library."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{_DIGITS}g}")
