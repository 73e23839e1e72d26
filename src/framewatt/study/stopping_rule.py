"""The repetitions that a study asks for (pure): a number of blocks, or a stopping rule."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from framewatt.base.errors import FramewattError

ENERGY, TIME = "energy", "time"
"""The quantities by which cells are compared."""

FIXED, EVERY_BLOCK = "fixed", "every_block"
"""When a rule for the best looks at the results."""

MOST_FIXED = 20
"""Most blocks of a rule that looks at FIXED blocks without another setting: up to there, t-tests at few looks settle
more groups than an e-process (docs/stopping.md)."""

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
        when: FIXED or EVERY_BLOCK, for the best cell; None is EVERY_BLOCK in a package from before there was a choice.
    """

    at_least: int
    at_most: int
    quantity: str
    width: float | None
    minutes: float | None = None
    when: str | None = None

    @property
    def at_every_block(self) -> bool:
        """Whether it looks after every block, by an e-process, and not at fixed ones."""
        return self.width is None and self.when != FIXED

    @property
    def looks(self) -> tuple[int, ...]:
        """Blocks after which the rule is checked: every one, or fixed ones, each time 50 % more."""
        if self.at_every_block:
            return tuple(range(self.at_least, self.at_most + 1))
        looks = [self.at_least]
        while looks[-1] < self.at_most:
            looks.append(min(self.at_most, math.ceil(_GROWTH * looks[-1])))
        return tuple(looks)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as a study file has it."""
        until = {"best": self.quantity} if self.width is None else {"interval": self.width}
        limit = {} if self.minutes is None else {"minutes": self.minutes}
        looks = {} if self.when is None else {"looks": self.when}
        return {"at_least": self.at_least, "at_most": self.at_most, "until": until, **limit, **looks}

    @property
    def words(self) -> str:
        """The rule in words."""
        if self.width is None:
            at = "" if self.at_every_block else f", with looks after {', '.join(map(str, self.looks))}"
            return f"until it is known which choice of every group takes the least {self.quantity}{at}"
        return (
            f"until the {self.quantity} of every choice, over that of the least in its group, is known to "
            f"{100 * self.width:g} %"
        )


def rule_of(settings: Mapping[str, Any]) -> Rule | None:
    """Return the rule of a study's settings; None for a plain number of blocks, or runs read from files."""
    repetitions = settings.get("repetitions")
    if not isinstance(repetitions, Mapping):
        return None
    until = repetitions["until"]
    limit = repetitions.get("minutes")
    how = until.get("best", ENERGY), until.get("interval"), limit, repetitions.get("looks")
    return Rule(repetitions["at_least"], repetitions["at_most"], *how)


def with_looks(repetitions: Any) -> Any:
    """Return the repetitions of a study file, with when a rule for the best looks at the results.

    Args:
        repetitions: a number, or a rule; `looks` of None are of a rule in an older package.
    """
    if not isinstance(repetitions, Mapping) or "best" not in repetitions["until"]:
        return repetitions
    default = FIXED if repetitions["at_most"] <= MOST_FIXED else EVERY_BLOCK
    completed = {**repetitions, "looks": repetitions.get("looks", default)}
    return {key: value for key, value in completed.items() if key != "looks" or value is not None}


def with_looks_then(content: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study file with a rule that looks when its plan does: in plans without `looks`, after every block.

    Args:
        content: of the study file.
        plan: of the study; empty where there is none.
    """
    now = content.get("repetitions")
    rules = (plan.get("settings") or {}).get("repetitions"), now
    if not isinstance(now, Mapping) or not all(_is_without_looks(rule) for rule in rules):
        return dict(content)
    return {**content, "repetitions": {**now, "looks": None}}


def _is_without_looks(rule: Any) -> bool:
    return isinstance(rule, Mapping) and "best" in (rule.get("until") or {}) and "looks" not in rule


def most_blocks(settings: Mapping[str, Any]) -> int:
    """Return the most blocks that a measuring study may have."""
    rule = rule_of(settings)
    return rule.at_most if rule else int(settings["repetitions"])


def check_rule(settings: Mapping[str, Any], groups: Iterable[Collection[Any]], path: str) -> None:
    """Check that a stopping rule, if there is one, has cells to compare and can stop before its last block.

    Args:
        settings: the study's, schema-checked.
        groups: cells that are compared with each other, a collection each.
        path: the study file.

    Raises:
        FramewattError: no two cells are compared, `at_most` is not above `at_least`, or an interval names its looks.
    """
    rule = rule_of(settings)
    if rule and not any(len(group) > 1 for group in groups):
        compared = ", ".join(settings["statistics"]["compare"])
        raise FramewattError(
            f"{path}: repetitions.until: no two cells differ in {compared} alone (statistics.compare), so there is "
            "nothing to compare. Use a plain number of repetitions."
        )
    if rule and rule.width is not None and rule.when is not None:
        raise FramewattError(
            f"{path}: repetitions.looks: {rule.when!r} is not for an interval, which has fixed looks. Leave it out."
        )
    if rule and rule.at_most <= rule.at_least:
        raise FramewattError(
            f"{path}: repetitions.at_most: {rule.at_most} is not more than at_least, {rule.at_least}. Use a larger "
            f"number, or a plain number (repetitions: {rule.at_least})."
        )
