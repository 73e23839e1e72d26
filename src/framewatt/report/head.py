"""The first screen of the report: what costs least in each group, drawn and in a sentence, and what it holds for."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from framewatt.frames.quality import QUALITY_UNKNOWN
from framewatt.planning.plan import planned_cells
from framewatt.report import disturbed, facts, over_machines
from framewatt.report.answered import Answered, answered, doubts_of
from framewatt.report.beside import cell_summaries
from framewatt.report.material import Material
from framewatt.report.numbers import listed, plural
from framewatt.report.strip import Strip, strip_of
from framewatt.runs.verdict import counts
from framewatt.statistics.best_set import not_compared

_MOST_GROUPS = 3
"""Largest number of groups that are all shown at once; of more, a sentence counts, and the groups unfold below it."""

_MUCH_DISTURBED = 0.1
"""Share of runs that others disturbed from which a banner says so."""


_MOST_REASONS = 3
"""Largest number of reasons for an unknown quality that are told; tables have all."""


@dataclass(frozen=True)
class Answer:
    """The answer of one group.

    Attributes:
        sentence: which choice costs least, by how much, and whether that is known.
        strip: all choices; None where none are compared.
        remark: which of its cells are not compared, and how many of its runs others disturbed.
    """

    sentence: str
    strip: Strip | None
    remark: str


@dataclass(frozen=True)
class Head:
    """The first screen.

    Attributes:
        lead: a sentence in place of too many groups, or of none; empty where `answers` says it all.
        answers: one a group.
        aside: that most runs of some cell do not count, since others disturbed them, and what to do; empty else.
        disturbed: how many runs others disturbed, and by what; empty where they were few.
        notes: what else holds for all of it.
    """

    lead: str
    answers: Sequence[Answer]
    aside: str
    disturbed: str
    notes: str

    @property
    def text(self) -> str:
        """All sentences of the first screen."""
        told = [self.lead] if self.lead else [f"{one.sentence} {one.remark}".strip() for one in self.answers]
        return " ".join(filter(None, [self.aside, *told, self.disturbed, self.notes]))


def head(material: Material) -> Head:
    """The study's answer by energy."""
    found = [one for one in answered(material, material.headline.energy, "energy") if one.compared]
    lead = "" if found else _no_answer(material)
    if len(found) > _MOST_GROUPS:
        lead = f"{_scope(material)}: {_in_short(found)}"
    together = over_machines.sentences(material, material.headline.energy, "energy")
    if together:
        more = len(together) - _MOST_GROUPS
        rest = [f"And {more} more groups, below."] if more > 0 else []
        lead = " ".join([*together[:_MOST_GROUPS], *rest, *([lead] if lead else [])])
    told_of = cell_summaries(material)
    answers = [
        Answer(
            one.sentence if number or lead else f"{_scope(material)}: {one.sentence}",
            strip_of(one, told_of),
            " ".join(
                filter(
                    None,
                    [
                        one.remark.strip(),
                        disturbed.of_answer(material, one),
                        *doubts_of(material, one, material.headline.energy),
                    ],
                )
            ),
        )
        for number, one in enumerate(found)
    ]
    much = disturbed.share(material) >= _MUCH_DISTURBED
    notes = [
        f"{material.estimate}." if material.estimate else "",
        "" if much else disturbed.in_all(material),
        *_unjudged(material),
        f"{material.counted} of {material.planned} planned runs count.",
        disturbed.aside(material),
    ]
    by = disturbed.in_all(material) if much else ""
    return Head(lead, answers, disturbed.mostly_aside(material), by, " ".join(filter(None, notes)))


def _no_answer(material: Material) -> str:
    """Why no group has an answer, and what to do where it is the study's choice."""
    if said := not_compared(planned_cells(material.plan), material.compared):
        return f"No cell of the study is compared with another, since {said}."
    return "No two comparable cells have an energy that counts, so the study has no answer."


def _unjudged(material: Material) -> list[str]:
    """Why the quality of runs that count is unknown, a sentence each."""
    flags = (flag for record in material.records if counts(record) for flag in record["flags"])
    reasons = Counter(flag for flag in flags if re.search(QUALITY_UNKNOWN, flag))
    return [
        f"{reason[:1].upper()}{reason[1:]} ({plural(count, 'run')})."
        for reason, count in reasons.most_common(_MOST_REASONS)
    ]


def _scope(material: Material) -> str:
    """What the answer holds for."""
    if material.imported:
        return "In the runs that were read"
    machines, sessions = len(facts.machines(material)), facts.sessions(material)
    where = "On this machine" if machines < 2 else f"On these {machines} machines"
    return f"{where}, in {'this session' if sessions < 2 else f'{sessions} sessions'}"


def _in_short(found: Sequence[Answered]) -> str:
    """How many groups are settled, and which cells they name."""
    settled = [one for one in found if one.settled]
    names = Counter(one.label(one.best[0]) for one in settled)
    words = f"of {len(found)} groups of comparable cells {len(settled)} are settled"
    if names:
        words += (
            f": least energy a {found[0].per} goes to {listed([f'{name} in {n}' for name, n in names.most_common()])}"
        )
    rest = len(found) - len(settled)
    words += f"; {rest} {'is' if rest == 1 else 'are'} not" if rest and settled else ""
    without = sum(len(one.without) for one in found)
    return f"{words}." + (f" Of {plural(without, 'cell')} in these groups no run counts." if without else "")
