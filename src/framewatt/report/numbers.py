"""Numbers, lists and fields of records, formatted for readers."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Facts = list[tuple[str, str]]
"""Names with their values in words, for a list of definitions."""

NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
UNKNOWN = "\N{EN DASH}"

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "\N{MICRO SIGN}"), (1e-9, "n"))


def known(*values: float | None) -> bool:
    """Whether every value is a finite number."""
    return all(value is not None and math.isfinite(value) for value in values)


def known_or_none(value: Any) -> float | None:
    """Return a number as a float; None where it is missing, NaN or infinite."""
    return float(value) if value is not None and math.isfinite(value) else None


def is_true(value: object) -> bool:
    """Return whether a flag is set, of a frame in memory or of one that was read from a CSV file."""
    return value is True or str(value) == "True"


def significant(value: float | None, digits: int = 3) -> str:
    """A number to `digits` significant digits, without an exponent unless it is very large or small."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -4 <= exponent < 6:
        return f"{round(value, digits - 1 - exponent):.{max(digits - 1 - exponent, 0)}f}"
    return f"{value:.{digits - 1}e}"


def si(value: float | None, unit: str) -> str:
    """A number to three digits with its unit and SI prefix: 336 mJ."""
    return si_range(value, None, None, unit)


def si_range(value: float | None, low: float | None, high: float | None, unit: str) -> str:
    """A number with its interval, all with the number's SI prefix: 336 mJ [321, 349]."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    size, prefix = next(((size, p) for size, p in _PREFIXES if abs(value) >= 0.9995 * size), _PREFIXES[-1])
    size, prefix = (size, prefix) if value else (1.0, "")
    return f"{significant(value / size)}{NO_BREAK_SPACE}{prefix}{unit}{interval(low, high, size)}"


def interval(low: float | None, high: float | None, size: float = 1.0) -> str:
    """` [low, high]`, or nothing where an end is unknown."""
    if low is None or high is None or not known(low, high):
        return ""
    return f" [{significant(low / size)}, {significant(high / size)}]"


def p_value(p: float | None) -> str:
    """`p = 0.013`, `p < 0.001`, `p > 0.99` or `no p`."""
    if p is None or not math.isfinite(p):
        return "no p"
    if p > 0.99:
        return "p > 0.99"
    return "p < 0.001" if p < 0.001 else f"p = {significant(p, 2)}"


def plural(count: int, noun: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def percent(share: float, digits: int = 2) -> str:
    """A share in percent, to two significant digits: 0.1137 is `11 %`."""
    return _percent(share, round, digits)


def percent_at_least(share: float) -> str:
    """A share in percent, rounded down, so that "at least" stays true."""
    return _percent(share, math.floor, 2)


def percent_below(share: float) -> str:
    """A share in percent, rounded up, so that "less than" stays true."""
    return _percent(share, math.ceil, 2)


def _percent(share: float, rounded: Callable[[float], int], digits: int) -> str:
    value = 100 * share
    if value == 0:
        return "0 %"
    # Close to 100 %, the significant digits are those of the difference to 100.
    telling = min(abs(value), abs(100 - value)) if 99 <= value < 100 else abs(value)
    step = 10.0 ** (math.floor(math.log10(telling)) - digits + 1)
    # A number within rounding error of a whole number of steps is treated as that number.
    steps = round(value / step) if abs(value / step - round(value / step)) < 1e-9 else rounded(value / step)
    places = max(0, -math.floor(math.log10(step)))
    return f"{steps * step:.{places}f} %"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def number_word(count: int) -> str:
    """Small numbers in words: `five`."""
    words = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count] if 0 <= count < len(words) else str(count)


def field_words(name: str) -> str:
    """Return the name of a field of a record in words, without its unit of bytes."""
    return name.replace("_", " ").removesuffix(" b")


def field_value(name: str, value: Any) -> str:
    """Return the value of a field of a record in words.

    Args:
        name: of the field; a number of bytes has a name that ends in `_b`.
        value: as it is in JSON.
    """
    if value is None or value in ([], ""):
        return UNKNOWN if value is None else "none"
    if name.endswith("_b"):
        return f"{value / 2**30:.1f} GiB"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(field_value("", item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{field_words(key)} {field_value(key, item)}" for key, item in value.items())
    return str(value)
