"""The answers of the blocks that are whole while a study still runs, and what they are worth."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from framewatt.frames.headline import headline_of_runs
from framewatt.planning.plan import planned_cells
from framewatt.report.answered import answers_of
from framewatt.report.numbers import plural
from framewatt.statistics.answers import answer
from framewatt.statistics.selection import totals
from framewatt.stopping.record import looks_of
from framewatt.study.stopping_rule import rule_of


def answers_so_far(plan: Mapping[str, Any], runs: pd.DataFrame) -> Sequence[str]:
    """What the runs of some whole blocks say, energy first, as sentences.

    Args:
        plan: the study's.
        runs: the frame of those runs.
    """
    settings = plan["settings"]
    found = answer(runs, settings["statistics"], planned_cells(plan), looks_of(settings))
    headline = headline_of_runs(totals(runs))
    return [
        one.sentence + one.remark
        for quantity, what in ((headline.energy, "energy"), (headline.time, "time"))
        for one in answers_of(plan, found, quantity, what, headline.per)
    ]


def worth(settings: Mapping[str, Any], blocks: int, planned: int) -> str:
    """What answers after some blocks of more are worth, as a sentence.

    Args:
        settings: the study's.
        blocks: how many are whole.
        planned: how many there are, or may be.
    """
    rule = rule_of(settings)
    if rule is None:
        return (
            f"This is no answer yet. The study was planned for {plural(planned, 'block')}, and its answer is what all "
            f"of them say; the intervals here, after {blocks}, would hold if nobody had looked before. Who stops it, "
            "lengthens it or changes it because of what is seen here finds a best where there is none far more often "
            "than the study says. To look and stop as soon as the answer is known, give the next study a stopping rule "
            "(docs/stopping.md)."
        )
    if rule.at_every_block:
        return (
            "The study has a stopping rule, whose test may be looked at after every block: what is said here to cost "
            "least holds at the stated rate of error, whenever you look. Intervals of what is not settled still move."
        )
    return (
        f"The study has a stopping rule, which looks after {', '.join(map(str, rule.looks))} blocks; its answer is "
        "what is said when it stops. The intervals here allow for its looks, and for no stopping of your own."
    )
