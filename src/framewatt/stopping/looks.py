"""How a study's looks before it stopped enter its answers: optional stopping needs other tests."""

from collections.abc import Mapping
from typing import Any

from framewatt.statistics.looks import ONCE, Looks
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
