"""The report's first paragraph: the study's answer and its scope."""

from collections import Counter
from collections.abc import Sequence

from framewatt.report import disturbed, facts
from framewatt.report.answered import Answered, answered, disturbed_of
from framewatt.report.material import Material
from framewatt.report.numbers import listed, plural

_MOST_GROUPS = 3
"""Largest number of groups that the paragraph answers one by one; of more, it gives counts."""


def head(material: Material) -> str:
    """The study's answer in one paragraph."""
    found = [one for one in answered(material, material.headline.energy, "energy") if one.compared]
    count = f"{material.counted} of {material.planned} planned runs count."
    if not found:
        none = "No two comparable cells have an energy that counts, so the study has no answer."
        return " ".join(filter(None, [none, disturbed.in_all(material), count]))
    told = [_with_remarks(material, one) for one in found] if len(found) <= _MOST_GROUPS else [_in_short(found)]
    told[0] = f"{_scope(material)}: {told[0]}"
    estimate = f"{material.estimate}." if material.estimate else ""
    return " ".join(filter(None, [*told, estimate, disturbed.in_all(material), count]))


def _scope(material: Material) -> str:
    """What the answer holds for."""
    if material.imported:
        return "In the runs that were read"
    machines, sessions = len(facts.machines(material)), facts.sessions(material)
    where = "On this machine" if machines < 2 else f"On these {machines} machines"
    return f"{where}, in {'this session' if sessions < 2 else f'{sessions} sessions'}"


def _with_remarks(material: Material, one: Answered) -> str:
    return " ".join(filter(None, [one.sentence + one.remark, disturbed_of(material, one)]))


def _in_short(found: Sequence[Answered]) -> str:
    """How many groups are settled, and which cells they name."""
    settled = [one for one in found if one.settled]
    names = Counter(one.group.labels[one.best[0]] for one in settled)
    words = f"of {len(found)} groups of comparable cells {len(settled)} are settled"
    if names:
        words += (
            f": least energy a {found[0].per} goes to {listed([f'{name} in {n}' for name, n in names.most_common()])}"
        )
    rest = len(found) - len(settled)
    words += f"; {rest} {'is' if rest == 1 else 'are'} not" if rest and settled else ""
    without = sum(len(one.without) for one in found)
    return f"{words}." + (f" Of {plural(without, 'cell')} in these groups no run counts." if without else "")
