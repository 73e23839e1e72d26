"""A number as it was printed, the number that a recount gives, and whether they agree."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from framewatt.base.errors import FramewattError

REPRODUCED = "reproduced"
DEVIATES = "deviates"
UNKNOWN = "cannot be recomputed"

VERDICTS = (REPRODUCED, DEVIATES, UNKNOWN)

CUT_OFF = "digits are cut off, not rounded"
OF_ROUNDED = "within the rounding of the printed numbers that it follows from"

_PRINTED = re.compile(r"(?P<sign>[<>~]?)\s*(?P<number>[-+]?[\d.]+(?:e[-+]?\d+)?)", re.IGNORECASE)
_SLACK = 1e-9
"""Relative floating-point error of a number."""


@dataclass(frozen=True)
class Printed:
    """A number as it stands in a paper.

    Attributes:
        text: what is printed.
        value: the number.
        unit: one unit of its last digit.
        sign: `<` or `>` for a bound, `~` where the paper says "about", else empty.
    """

    text: str
    value: float
    unit: float
    sign: str


@dataclass(frozen=True)
class Answer:
    """What a recount gives.

    Attributes:
        value: the number, or a word where words are compared; None where it is unknown, with the reason in `note`.
        note: remark for the reader.
        low: smallest value that the rounding of its inputs allows; None where that rounding does not matter.
        high: the largest such value.
        out_of: total number of cases, where the value counts the cases that are as claimed.
    """

    value: float | str | None
    note: str = ""
    low: float | None = None
    high: float | None = None
    out_of: int | None = None


def read_printed(text: str, decimals: int | None = None) -> Printed | None:
    """Read a number as it is printed; None where the text is no number.

    Args:
        text: `0.60`, `6.54e-27`, `< 0.001`, `~13`; the last digit says how it was rounded.
        decimals: digits behind the point, where trailing zeros are dropped in print.
    """
    match = _PRINTED.fullmatch(text.strip().replace(",", ""))
    if not match:
        return None
    try:
        number = Decimal(match["number"])
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent if decimals is None else -decimals
    return Printed(text, float(number), float(Decimal(1).scaleb(int(exponent))), match["sign"])


def judge(answer: Answer, text: str, decimals: int | None = None) -> tuple[str, str]:
    """The verdict of one number, and the note that goes with it.

    A number is reproduced where it rounds to what is printed, where cutting digits off gives what is printed, where it
    lies within a printed bound, or within a whole unit of the last digit of a number that the paper calls approximate.

    Args:
        answer: of the recount.
        text: as printed.
        decimals: see Recount.

    Raises:
        FramewattError: a number is to be compared with words.
    """
    if answer.value is None or (isinstance(answer.value, float) and math.isnan(answer.value)):
        return UNKNOWN, answer.note or "the recount gives no number"
    printed = read_printed(text, decimals)
    if isinstance(answer.value, str):
        return (REPRODUCED if answer.value == text else DEVIATES), answer.note
    if printed is None:
        raise FramewattError(f"published number: found {text!r}; allowed: a number, as 0.60, < 0.001 or ~13")
    found = _agreement(answer, answer.value, printed)
    if found is None:
        return DEVIATES, answer.note
    return REPRODUCED, "; ".join(filter(None, [found, answer.note]))


def _agreement(answer: Answer, value: float, printed: Printed) -> str | None:
    """How a number agrees with the printed one ("" without further words), or None where it does not."""
    slack = _SLACK * max(abs(value), abs(printed.value))
    if printed.sign == "<":
        return "" if value < printed.value else None
    if printed.sign == ">":
        return "" if value > printed.value else None
    reach = printed.unit if printed.sign == "~" else printed.unit / 2
    if abs(value - printed.value) <= reach + slack:
        return ""
    further = (abs(value) - abs(printed.value)) * (1 if value * printed.value >= 0 else math.inf)
    if -slack <= further < printed.unit - slack:
        return CUT_OFF
    if answer.low is not None and answer.high is not None:
        overlap = answer.low <= printed.value + reach + slack and answer.high >= printed.value - reach - slack
        return OF_ROUNDED if overlap else None
    return None
