"""The first screen: what is cheapest in each group, in a sentence and as a strip, and what that holds for."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from framewatt.report.answers import GroupAnswer, StudyAnswers
from framewatt.report.material import ENERGY
from framewatt.report.numbers import listed, plural
from framewatt.report.sentences import (
    disturbances_sentence,
    disturbed_runs_sentence,
    machines_sentence,
    mostly_set_aside_sentence,
    not_compared_sentence,
    sentence_of,
    set_aside_sentence,
)
from framewatt.tables.ratios import ratio_range

_MOST_GROUPS = 3
"""Largest number of groups that are all shown at once; of more, a sentence counts, and the groups unfold below it."""

_MUCH_DISTURBED = 0.1
"""Share of disturbed runs from which a banner states it."""

_MOST_REASONS = 3
"""Largest number of reasons for an unknown quality that are listed; tables have all."""

_FURTHEST = 100.0
"""Ratios beyond this, or below its inverse, are drawn at the edge of the strip."""

_NARROWEST = 1.25
"""Least ratio of the ends of the strip's axis, so that a tiny difference does not fill the page."""

_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_MOST_TICKS = 6


@dataclass(frozen=True)
class Bar:
    """One choice of a strip; places are in percent of the axis.

    Attributes:
        name: of the choice.
        best: whether it is in the confidence set of the cheapest.
        at: place of the ratio; None where there is none.
        left: place of the lower end of the interval; None where it is unknown.
        width: of the interval.
        text: ratio and interval in numbers.
        summary: what a pointer over it, or the focus on it, shows; empty where there is no more.
    """

    name: str
    best: bool
    at: float | None
    left: float | None
    width: float | None
    text: str
    summary: str


@dataclass(frozen=True)
class Strip:
    """All choices of a group on one axis, lowest cost first.

    Attributes:
        bars: one for each choice.
        ticks: place in percent, and ratio.
    """

    bars: Sequence[Bar]
    ticks: Sequence[tuple[float, str]]


@dataclass(frozen=True)
class HeadAnswer:
    """The answer of one group on the first screen.

    Attributes:
        sentence: which choice is the cheapest, by how much, and whether that is settled.
        strip: all choices; None where none are compared.
        remark: cells that are not compared, runs that others disturbed, doubts.
    """

    sentence: str
    strip: Strip | None
    remark: str


@dataclass(frozen=True)
class Head:
    """The first screen.

    Attributes:
        lead: a sentence that stands for too many groups, or for none; empty where `answers` is enough.
        answers: one for each group.
        aside: that most runs of some cell do not count, since others disturbed them, and what to do; else empty.
        disturbed: how many runs others disturbed, and by what; empty where they were few.
        notes: what else holds for all of it.
    """

    lead: str
    answers: Sequence[HeadAnswer]
    aside: str
    disturbed: str
    notes: str

    @property
    def text(self) -> str:
        """All sentences of the first screen."""
        answers = [self.lead] if self.lead else [f"{one.sentence} {one.remark}".strip() for one in self.answers]
        return _joined([self.aside, *answers, self.disturbed, self.notes])


def head_of(answers: StudyAnswers, summaries: Mapping[str, str]) -> Head:
    """Lay out the study's answers by energy.

    Args:
        answers: of the study.
        summaries: name, energy and time of a cell in words, by cell.
    """
    compared = [one for one in answers.by_quantity[ENERGY] if one.compared]
    lead = _lead(answers, compared)
    shown = [
        HeadAnswer(
            sentence_of(one) if number or lead else f"{_scope(answers)}: {sentence_of(one)}",
            strip_of(one, summaries),
            _joined([not_compared_sentence(one), disturbed_runs_sentence(one), *one.doubts]),
        )
        for number, one in enumerate(compared)
    ]
    disturbed = disturbances_sentence(answers.disturbances)
    much = answers.disturbances.share >= _MUCH_DISTURBED
    notes = [
        f"{answers.estimate}." if answers.estimate else "",
        "" if much else disturbed,
        *(
            f"{reason[:1].upper()}{reason[1:]} ({plural(count, 'run')})."
            for reason, count in answers.unknown_quality[:_MOST_REASONS]
        ),
        f"{answers.counted} of {answers.planned} planned runs count.",
        set_aside_sentence(answers.set_aside, answers.planned),
    ]
    aside = mostly_set_aside_sentence(answers.set_aside)
    return Head(lead, shown, aside, disturbed if much else "", _joined(notes))


def _joined(sentences: Iterable[str]) -> str:
    return " ".join(filter(None, sentences))


def _lead(answers: StudyAnswers, compared: Sequence[GroupAnswer]) -> str:
    """Return what precedes the groups, or replaces them: all machines together, many groups, no answer."""
    lead = "" if compared else _no_answer(answers)
    if len(compared) > _MOST_GROUPS:
        lead = f"{_scope(answers)}: {_in_short(compared)}"
    if machines := [machines_sentence(one) for one in answers.over_machines[ENERGY]]:
        more = len(machines) - _MOST_GROUPS
        lead = _joined([*machines[:_MOST_GROUPS], f"And {more} more groups, below." if more > 0 else "", lead])
    return lead


def _no_answer(answers: StudyAnswers) -> str:
    """State why no group has an answer, and what to do where the study file can change that."""
    if answers.not_compared:
        return f"No cell of the study is compared with another, since {answers.not_compared}."
    return "No two comparable cells have an energy that counts, so the study has no answer."


def _scope(answers: StudyAnswers) -> str:
    """State what the answers hold for."""
    if answers.imported:
        return "In the runs that were read"
    machines, sessions = len(answers.machines), answers.sessions
    where = "On this machine" if machines < 2 else f"On these {machines} machines"
    return f"{where}, in {'this session' if sessions < 2 else f'{sessions} sessions'}"


def _in_short(compared: Sequence[GroupAnswer]) -> str:
    """State how many groups are settled, and which cells they name."""
    settled = [one for one in compared if one.settled]
    names = Counter(one.label(one.best[0]) for one in settled)
    words = f"of {len(compared)} groups of comparable cells {len(settled)} are settled"
    if names:
        cells = listed([f"{name} in {count}" for name, count in names.most_common()])
        words += f": least energy a {compared[0].per} goes to {cells}"
    rest = len(compared) - len(settled)
    words += f"; {rest} {'is' if rest == 1 else 'are'} not" if rest and settled else ""
    without = sum(len(one.without) for one in compared)
    return f"{words}." + (f" Of {plural(without, 'cell')} in these groups no run counts." if without else "")


def strip_of(answer: GroupAnswer, summaries: Mapping[str, str]) -> Strip | None:
    """Lay out the strip of a group; None where nothing is compared.

    Args:
        answer: of the group.
        summaries: what is shown of a cell besides its ratio, by cell.
    """
    if not answer.compared or not answer.reference:
        return None
    ratios = answer.ratios
    low, high = _axis(end for ratio in ratios.values() for end in (ratio.value, ratio.low, ratio.high) if end)

    def place(ratio: float) -> float:
        return round(100 * math.log(min(max(ratio, low), high) / low) / math.log(high / low), 2)

    def bar(cell: str) -> Bar:
        name, best, summary = answer.label(cell), cell in answer.best, summaries.get(cell, "")
        if cell not in ratios:
            return Bar(name, best, place(1.0), None, None, "1", summary)
        ratio = ratios[cell]
        if ratio.value is None:
            return Bar(name, best, None, None, None, "not compared", summary)
        text = ratio_range(ratio.value, ratio.low, ratio.high)
        if ratio.low is None or ratio.high is None:
            return Bar(name, best, place(ratio.value), None, None, text, summary)
        left = place(ratio.low)
        return Bar(name, best, place(ratio.value), left, round(place(ratio.high) - left, 2), text, summary)

    cells = [answer.reference, *sorted(ratios, key=lambda cell: ratios[cell].value or math.inf)]
    return Strip([bar(cell) for cell in cells], [(place(tick), f"{tick:g}") for tick in _ticks(low, high)])


def _axis(ratios: Iterable[float]) -> tuple[float, float]:
    """Return the ends of the axis, which holds 1 and all that is drawn, with a little room."""
    within = [min(max(ratio, 1 / _FURTHEST), _FURTHEST) for ratio in ratios]
    low, high = min([1.0, *within]), max([1.0, *within])
    room = max(_NARROWEST / (high / low), 1.0) ** 0.5 * (high / low) ** 0.02
    return low / room, high * room


def _ticks(low: float, high: float) -> list[float]:
    """Return round ratios on the axis, 1 among them."""
    on_axis = [tick for tick in _TICKS if low <= tick <= high]
    step = math.ceil(len(on_axis) / _MOST_TICKS)
    one = on_axis.index(1.0)
    return [tick for number, tick in enumerate(on_axis) if (number - one) % step == 0]
