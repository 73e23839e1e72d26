"""Two accounts of one thing, side by side: what a package says, and what follows from the rest of it."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

RELATIVE, ABSOLUTE = 1e-6, 1e-7
"""How far two numbers may lie apart: the last digits of floating point, on another processor and another numpy."""

_SHOWN = 5
_LONGEST = 80
_WITHOUT_PARTS = frozenset((bool, int, float, str, type(None)))


def differences(told: Any, found: Any, at: str = "", *, by: str = "the record says", why: str) -> Iterator[str]:
    """Where two accounts part, a line each.

    Whole numbers, truth values and texts have to be equal, other numbers but for RELATIVE and ABSOLUTE.

    Args:
        told: what the package says, of JSON.
        found: what follows from the rest of it.
        at: where in the account this is, keys joined by dots.
        by: who told.
        why: what it follows from, with its verb: `the trace gives`.
    """
    if isinstance(told, Mapping) and isinstance(found, Mapping):
        for key in dict.fromkeys([*found, *told]):
            if key in told and key in found and _equal(told[key], found[key]):
                continue
            place = f"{at}.{key}" if at else str(key)
            if key not in told:
                yield f"{place}: {by} nothing, {why} {_text(found[key])}"
            elif key not in found:
                yield f"{place}: {by} {_text(told[key])}, {why} nothing"
            else:
                yield from differences(told[key], found[key], place, by=by, why=why)
    elif isinstance(told, list | tuple) and isinstance(found, list | tuple) and len(told) == len(found):
        for number, (one, other) in enumerate(zip(told, found, strict=True)):
            yield from differences(one, other, f"{at}.{number}", by=by, why=why)
    elif not _same(told, found):
        yield f"{at}: {by} {_text(told)}, {why} {_text(found)}"


def some(lines: Iterable[str], where: str = "") -> Iterator[str]:
    """The first lines, each with where it was found, and how many more there are."""
    more = 0
    for number, line in enumerate(lines):
        if number < _SHOWN:
            yield f"{where}: {line}" if where else line
        else:
            more += 1
    if more:
        yield f"{where or 'there'}: and {more} more of that kind"


def _equal(told: Any, found: Any) -> bool:
    """Whether two values have no parts and are equal in kind and value, as nearly all are; quicker than `_same`."""
    return type(told) is type(found) and type(told) in _WITHOUT_PARTS and told == found


def _same(told: Any, found: Any) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (told, found))
    if numbers and (isinstance(told, float) or isinstance(found, float)):
        return math.isclose(told, found, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(told) is type(found) and told == found


def _text(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
