"""Sentences of the answers: the cheapest of a group, all machines together, and runs that others disturbed."""

from collections.abc import Mapping, Sequence

import pandas as pd

from framewatt.report.answers import GroupAnswer, MachinesAnswer, SetAside, answers_of_blocks
from framewatt.report.evidence import Disturbances, Value
from framewatt.report.numbers import (
    listed,
    number_word,
    p_value,
    percent,
    percent_at_least,
    percent_below,
    plural,
    si_range,
)
from framewatt.runs.aside import MOST
from framewatt.statistics.log_ratios import FEWEST
from framewatt.tables.columns import ESTIMATED
from framewatt.tables.ratios import MOST_TIMES, ratio_range, times

_MOST_NAMES = 4
"""Largest number of cells that a sentence names; of more, it gives the number."""

_MANY_TIMES = 10
"""Ratio from which a difference is given as a factor, and not in percent."""

_NO_DIFFERENCE, _NO_DIFFERENCE_ESTIMATED = 0.005, 0.05
"""Share below which a difference is of no practical use: of what was measured, and of an estimate."""


def sentence_of(answer: GroupAnswer) -> str:
    """State the answer of a group, no more surely than its confidence set allows."""
    if not answer.compared:
        if not answer.best:
            return f"{answer.group.name}: no run counts."
        only = answer.label(answer.best[0])
        return f"{answer.group.name}: only {only} has runs that count, so nothing is compared."
    if answer.settled and answer.ratio.value is not None:
        return _settled(answer, answer.ratio.value)
    return _open(answer)


def not_compared_sentence(answer: GroupAnswer) -> str:
    """Name the cells of a group that are not compared; empty where all are."""
    names = ", ".join(map(answer.label, answer.without))
    return f"Not compared, since none of its runs counts: {names}." if names else ""


def full_sentence(answer: GroupAnswer, mean: Value | None, unit: str) -> str:
    """State the answer of a group with the mean of the reference and the ratio of each other cell to it.

    Args:
        answer: of the group.
        mean: of the reference; None where it is unknown.
        unit: of the mean.
    """
    words = sentence_of(answer)
    if mean is not None and mean.value is not None:
        amount = si_range(mean.value, mean.low, mean.high, unit)
        words += f" {answer.label(answer.reference)} takes {amount} a {answer.per}"
        ratios = [
            f"{answer.label(cell)} {ratio_range(ratio.value, ratio.low, ratio.high)}"
            for cell, ratio in answer.ratios.items()
            if ratio.value is not None
        ]
        words += f"; compared with that: {', '.join(ratios)}." if ratios else "."
    if answer.note and answer.blocks >= FEWEST and answer.compared:
        words += f" {answer.note[:1].upper()}{answer.note[1:]}."
    return " ".join(filter(None, [words, not_compared_sentence(answer)]))


def answers_so_far(plan: Mapping[str, object], runs: pd.DataFrame) -> Sequence[str]:
    """State what the runs of some whole blocks show, energy first.

    Args:
        plan: the study's.
        runs: the runs frame of these blocks.
    """
    answers = answers_of_blocks(plan, runs)
    return [" ".join(filter(None, [sentence_of(one), not_compared_sentence(one)])) for one in answers]


def _settled(answer: GroupAnswer, ratio: float) -> str:
    alone = len(answer.ratios) == 1
    than = answer.label(answer.next) if alone else f"the next, {answer.label(answer.next)}"
    head = (
        f"{answer.label(answer.best[0])} takes the least {_quantity(answer)} for one {answer.per} ({answer.group.name})"
    )
    less, interval, after = 1 - 1 / ratio, _interval(answer, ratio), _after(answer)
    if less < (_NO_DIFFERENCE_ESTIMATED if answer.estimated else _NO_DIFFERENCE):
        return f"{head}, but {percent(less)} less than {than} ({interval}) makes no practical difference, {after}."
    if ratio >= _MANY_TIMES:
        return f"{head}; {than}{'' if alone else ','} takes {times(ratio)} ({interval}), {after}."
    return f"{head}, {percent(less)} less than {than} ({interval}), {after}."


def _interval(answer: GroupAnswer, ratio: float) -> str:
    """State by how much the reference costs less: the ends of the interval."""
    low, high = answer.ratio.low, answer.ratio.high
    if low is None or high is None:
        return "no interval: the ratio is the same in every block, or too few blocks have both"
    level = f"{100 * answer.confidence:g} % interval"
    if ratio >= _MANY_TIMES:
        return f"{level} {times(low)} to {times(high)}"
    if low <= 1:
        return f"{level} up to {percent_below(1 - 1 / high)}"
    return f"{level} {percent_at_least(1 - 1 / low).removesuffix(' %')} to {percent_below(1 - 1 / high)}"


def _open(answer: GroupAnswer) -> str:
    names = [answer.label(cell) for cell in answer.best]
    among = listed(names) if len(names) <= _MOST_NAMES else f"{len(names)} of {len(answer.ratios) + 1} cells"
    head = f"Not settled between {among} in {_quantity(answer)} for one {answer.per} ({answer.group.name})"
    return "; ".join(filter(None, [f"{head}: {_apart(answer)}", _others(answer), _after(answer)])) + "."


def _apart(answer: GroupAnswer) -> str:
    if answer.blocks < FEWEST:
        few = plural(answer.blocks, "block" if answer.paired else "run")
        return f"{few}{'' if answer.paired else ' of a cell'} cannot tell, at least {FEWEST} are needed"
    apart = answer.apart
    if apart is None or apart > MOST_TIMES:
        return "how far they are apart is not known"
    return f"less than {percent_below(apart - 1)} apart" if apart < 2 else f"up to {times(apart)} apart"


def _others(answer: GroupAnswer) -> str:
    """State what the cells outside the set cost at least; without a bound, that some cell costs no more."""
    outside = [cell for cell in answer.ratios if cell not in answer.best]
    if not outside:
        return ""
    alone = len(outside) == 1
    who = f"the other, {answer.label(outside[0])}," if alone else f"the other {number_word(len(outside))}"
    least = answer.others_at_least
    if least is None or least <= 1:
        return f"one of them costs no more than {who.rstrip(',')}"
    return f"{who if alone else f'each of {who}'} costs at least {percent_at_least(least - 1)} more"


def _after(answer: GroupAnswer) -> str:
    return f"after {plural(answer.blocks, 'block' if answer.paired else 'run')}{'' if answer.paired else ' of each'}"


def _quantity(answer: GroupAnswer) -> str:
    return answer.quantity + (ESTIMATED if answer.estimated else "")


def machines_sentence(answer: MachinesAnswer) -> str:
    """State which choice is the cheapest on all machines, or that they do not agree."""
    whole, remark = answer.whole, not_compared_sentence(answer.whole)
    if answer.agree:
        together = f"On all {len(answer.best)} machines, in the mean over them: {sentence_of(whole)}"
        return " ".join(filter(None, [together, _machines_differ(answer), remark]))
    best = [
        f"on {machine} it is {' or '.join(map(whole.label, cells)) or 'unknown'}"
        for machine, cells in answer.best.items()
    ]
    sure = "" if answer.contradict else "; each machine shows that by itself, and all of them together do not"
    words = f"Machines do not agree in {whole.quantity} for one {whole.per} ({whole.group.name}): {listed(best)}{sure}."
    return " ".join(filter(None, [words, remark]))


def _machines_differ(answer: MachinesAnswer) -> str:
    if answer.differ_p is None or answer.differ_at_most is None:
        return "Whether ratios differ between machines is not known."
    return (
        f"Between machines ratios differ by at most {times(answer.differ_at_most)} "
        f"({p_value(answer.differ_p)} for no difference)."
    )


def disturbed_runs_sentence(answer: GroupAnswer) -> str:
    """State how many of the runs behind an answer others disturbed; empty where none."""
    return f"Others disturbed {answer.disturbed} of their {plural(answer.runs, 'run')}." if answer.disturbed else ""


def disturbances_sentence(disturbances: Disturbances) -> str:
    """State how many of the runs that count others disturbed, and by what; empty where none."""
    if not disturbances.disturbed:
        return ""
    by = ", ".join(f"{kind} in {count}" for kind, count in disturbances.kinds)
    return f"Others disturbed {disturbances.disturbed} of the {plural(disturbances.counted, 'run')}: {by}."


def set_aside_sentence(aside: SetAside, planned: int) -> str:
    """State how many of the planned runs were set aside, and why; empty where none."""
    if not aside.runs:
        return ""
    one = aside.runs == 1
    return (
        f"{aside.runs} of {plural(planned, 'run')} {was(aside.runs)} set aside, because others took more than "
        f"{100 * MOST:g} % of the machine from {'it' if one else 'them'} or from the run before or after. "
        f"{'It is' if one else 'They are'} part of no mean, interval or answer."
    )


def mostly_set_aside_sentence(aside: SetAside) -> str:
    """State that cells lost more than half of their runs so, and what to do; empty where none did."""
    if not aside.cells_mostly:
        return ""
    of = "every cell" if aside.cells_mostly == aside.cells else f"{aside.cells_mostly} of {plural(aside.cells, 'cell')}"
    return f"Others disturbed most runs of {of}, and these do not count. Close other programs, or measure over night."


def with_all_sentence(aside: SetAside) -> str:
    """State where the answers by energy would differ with the runs that were set aside; empty where none was."""
    if not aside.runs:
        return ""
    if not aside.changed:
        return "With all runs the answers by energy are the same."
    return f"With all runs, also those that were set aside: {' '.join(map(sentence_of, aside.changed))}"


def was(count: int) -> str:
    """Return `was` or `were`."""
    return "was" if count == 1 else "were"
