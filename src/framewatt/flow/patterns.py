"""Regular expressions for the names that a wildcard may stand for (pure)."""

import re
from collections.abc import Iterable

_PARTS = re.compile(r"[^-/]*[-/]|[^-/]+")


def one_of(names: Iterable[str]) -> str:
    """A regular expression that matches exactly these names; where there are none, it matches nothing.

    Names of runs are combinations of levels. What they share is written once, since Snakemake writes a wildcard's
    expression into every path of the rule and searches it for every job: of 10,000 runs it is a few hundred characters.
    """
    found = {tuple(_PARTS.findall(name)) for name in names}
    return _pattern(frozenset(found)) if found else "(?!)"


def _pattern(names: frozenset[tuple[str, ...]]) -> str:
    """The expression for names that are cut into parts."""
    rests: dict[str, set[tuple[str, ...]]] = {}
    for name in names:
        if name:
            rests.setdefault(name[0], set()).add(name[1:])
    # Parts that the same rests follow stand beside each other.
    heads: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for part, rest in rests.items():
        heads.setdefault(frozenset(rest), []).append(part)
    found = [
        _either(sorted(map(re.escape, parts))) + (_pattern(rest) if rest != {()} else "")
        for rest, parts in heads.items()
    ]
    return _either(sorted(found)) + ("?" if () in names else "")


def _either(patterns: list[str]) -> str:
    return f"(?:{'|'.join(patterns)})"
