"""A number as it was printed, the number that a recount gives, and whether they agree."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pandas as pd

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
    """A number as a paper prints it.

    Attributes:
        text: what is printed.
        value: the number.
        unit: one unit of its last digit.
        sign: `<` or `>` for a bound, `~` for "about", else empty.
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
        text: `0.60`, `6.54e-27`, `< 0.001`, `~13`; the last digit shows how it was rounded.
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
    is within a printed bound, or within a whole unit of the last digit of a number that the paper calls approximate.

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
        raise FramewattError(
            f"published number: {text!r} is not a number, but the recount gives one. Write it as 0.60, < 0.001 or ~13."
        )
    agreement = _agreement(answer, answer.value, printed)
    if agreement is None:
        return DEVIATES, answer.note
    return REPRODUCED, "; ".join(filter(None, [agreement, answer.note]))


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


@dataclass(frozen=True)
class Recount:
    """A published number and its recount.

    Attributes:
        table: table or section of the paper.
        row: row of the table, or what a sentence claims.
        column: column of the table, or what was counted.
        published: as printed.
        unit: of both.
        answer: what the recount gives.
        how: how it was recounted.
        decimals: digits behind the point where the table drops trailing zeros; None takes those that are printed.
    """

    table: str
    row: str
    column: str
    published: str
    unit: str
    answer: Answer
    how: str
    decimals: int | None = None


CLAIMS_COLUMNS = ["id", "where", "claim", "value", "unit", "how", "arguments"]
"""Columns of a file of claims: `value` is the number as printed, `how` a function of the paper's module that recounts
it, `arguments` its arguments as `name=value; name=value`."""


class NotGivenError(Exception):
    """An input of a recount is missing; the message names it."""


@dataclass(frozen=True)
class Claim:
    """A number in a sentence of a paper.

    Attributes:
        id: short name.
        where: section of the paper.
        claim: the sentence in other words.
        value: the number as printed; `<`, `>` for bounds, `~` for "about".
        unit: of the number.
        how: name of the function that recounts it.
        arguments: of that function.
    """

    id: str
    where: str
    claim: str
    value: str
    unit: str
    how: str
    arguments: Mapping[str, str]


def read_table(path: Path) -> pd.DataFrame:
    """A published table with every cell as the text that is printed.

    Raises:
        FramewattError: there is no such file, or it is no table.
    """
    if not path.is_file():
        raise FramewattError(
            f"{path}: there is no such file. Put the printed tables of a paper in resources/published."
        )
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise FramewattError(
            f"{path}: this is not a table ({reason}). Write CSV in UTF-8 with one header and one width."
        ) from error


def numbers(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """A published table with its numbers as such.

    Args:
        table: from `read_table`.
        keys: columns that name a row; they become the index, as text.
    """
    return table.set_index(list(keys)).astype("float64")


def read_claims(path: Path) -> list[Claim]:
    """Claims of a paper.

    Raises:
        FramewattError: a column is missing, or an id is there twice.
    """
    frame = read_table(path)
    if list(frame.columns) != CLAIMS_COLUMNS:
        raise FramewattError(
            f"{path}: {', '.join(frame.columns)} are not the columns of claims. Write {', '.join(CLAIMS_COLUMNS)}."
        )
    twice = frame["id"][frame["id"].duplicated()].tolist()
    if twice:
        raise FramewattError(f"{path}: id {twice[0]!r} is in two rows. Give each claim its own id.")
    return [_claim(path, row) for row in _rows(frame)]


def recount_claims(
    claims: Sequence[Claim], functions: Mapping[str, Callable[..., Answer]], source: Any, basis: str = ""
) -> list[Recount]:
    """Recount every claim; what its function finds not given cannot be recomputed.

    Args:
        claims: of one paper.
        functions: what a claim's `how` may name; the first line of the docstring describes the recount for readers.
        source: handed to each function before the claim's own arguments.
        basis: what the source is, in words, where a claim is recounted from more than one.

    Raises:
        FramewattError: a claim names a function or argument that there is not.
    """
    return [_recount(claim, functions, source, basis) for claim in claims]


def _recount(claim: Claim, functions: Mapping[str, Callable[..., Answer]], source: Any, basis: str) -> Recount:
    function = functions.get(claim.how)
    if function is None:
        raise FramewattError(
            f"claim {claim.id}: how: {claim.how!r} is not a function of the paper. Use one of {', '.join(functions)}."
        )
    try:
        answer = function(source, **claim.arguments)
    except NotGivenError as missing:
        answer = Answer(None, str(missing))
    except (KeyError, TypeError) as error:
        call = f"{claim.how}({_shown(claim.arguments)})"
        raise FramewattError(
            f"claim {claim.id}: {call} cannot be computed ({error}). Give the arguments that the function takes."
        ) from error
    first = (function.__doc__ or "").strip().splitlines()[0]
    shown = f" [{_shown(claim.arguments)}]" if claim.arguments else ""
    column = f"{claim.id}, {basis}" if basis else claim.id
    return Recount(claim.where, claim.claim, column, claim.value, claim.unit, answer, f"{first}{shown}")


def _rows(frame: pd.DataFrame) -> list[dict[str, str]]:
    return [{str(key): str(value) for key, value in row.items()} for row in frame.to_dict("records")]


def _claim(path: Path, row: Mapping[str, str]) -> Claim:
    texts = {name: row[name] for name in CLAIMS_COLUMNS if name != "arguments"}
    return Claim(arguments=_arguments(path, row), **texts)


def _arguments(path: Path, row: Mapping[str, str]) -> dict[str, str]:
    pairs = [part.partition("=") for part in row["arguments"].split(";") if part.strip()]
    if any(not equals for _, equals, _ in pairs):
        raise FramewattError(
            f"{path}: claim {row['id']}: arguments: {row['arguments']!r} is no list of arguments. Write name=value; …"
        )
    return {name.strip(): value.strip() for name, _, value in pairs}


def _shown(arguments: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in arguments.items())
