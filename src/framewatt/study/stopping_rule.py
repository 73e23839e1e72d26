"""The repetitions that a study asks for (pure): a number of blocks, or a stopping rule."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from framewatt.base.errors import FramewattError

ENERGY, TIME = "energy", "time"
"""The quantities by which cells are compared."""

_GROWTH = 1.5


@dataclass(frozen=True)
class Rule:
    """When a study stops.

    Attributes:
        at_least: blocks before the first look.
        at_most: blocks after which it stops in any case.
        quantity: ENERGY or TIME, by which cells are compared.
        width: width at which an interval is narrow enough, as a share of the ratio; None where the rule seeks the best
            cell.
        minutes: after which no further block begins, whatever is known; None where there is no such limit.
    """

    at_least: int
    at_most: int
    quantity: str
    width: float | None
    minutes: float | None = None

    @property
    def looks(self) -> tuple[int, ...]:
        """Blocks after which the rule is checked: each one for the best cell, each time 50 % more for an interval."""
        if self.width is None:
            return tuple(range(self.at_least, self.at_most + 1))
        looks = [self.at_least]
        while looks[-1] < self.at_most:
            looks.append(min(self.at_most, math.ceil(_GROWTH * looks[-1])))
        return tuple(looks)

    def to_dict(self) -> dict[str, Any]:
        """As a study says it."""
        until = {"best": self.quantity} if self.width is None else {"interval": self.width}
        limit = {} if self.minutes is None else {"minutes": self.minutes}
        return {"at_least": self.at_least, "at_most": self.at_most, "until": until, **limit}

    @property
    def words(self) -> str:
        """The rule in words."""
        if self.width is None:
            return f"until it is known which choice of every group takes the least {self.quantity}"
        return (
            f"until the {self.quantity} of every choice, over that of the least in its group, is known to "
            f"{100 * self.width:g} %"
        )


def rule_of(settings: Mapping[str, Any]) -> Rule | None:
    """The rule of a study's settings; None for a plain number of blocks, or runs read from files."""
    told = settings.get("repetitions")
    if not isinstance(told, Mapping):
        return None
    until = told["until"]
    limit = told.get("minutes")
    return Rule(told["at_least"], told["at_most"], until.get("best", ENERGY), until.get("interval"), limit)


def most_blocks(settings: Mapping[str, Any]) -> int:
    """The most blocks that a measuring study may have."""
    rule = rule_of(settings)
    return rule.at_most if rule else int(settings["repetitions"])


def check_rule(settings: Mapping[str, Any], groups: Iterable[Collection[Any]], path: str) -> None:
    """Check that a stopping rule, if there is one, has cells to compare and can stop before its last block.

    Args:
        settings: the study's, schema-checked.
        groups: cells that are compared with each other, a collection each.
        path: the study file.

    Raises:
        FramewattError: no two cells are compared, or `at_most` is not above `at_least`.
    """
    rule = rule_of(settings)
    if rule and not any(len(group) > 1 for group in groups):
        compared = ", ".join(settings["statistics"]["compare"])
        raise FramewattError(
            f"{path}: repetitions.until: found no two cells that differ in {compared} alone (statistics.compare), so "
            "that there is nothing to find out; allowed: a plain number"
        )
    if rule and rule.at_most <= rule.at_least:
        raise FramewattError(
            f"{path}: repetitions.at_most: found {rule.at_most} with at_least {rule.at_least}; allowed: more than "
            f"at_least, or a plain number (repetitions: {rule.at_least})"
        )
