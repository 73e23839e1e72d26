"""What the papers print: their tables, and the numbers of their sentences, as text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.published.printed import Answer
from framewatt.published.verdicts import Recount

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
        claim: what the sentence says, in other words.
        value: the number as printed; `<`, `>` for bounds, `~` where the paper says "about".
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
        raise FramewattError(f"{path}: found no such file; allowed: a table of a paper, as in resources/published")
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise FramewattError(
            f"{path}: found no table ({reason}); allowed: CSV in UTF-8, one header, one width"
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
        raise FramewattError(f"{path}: found columns {', '.join(frame.columns)}; allowed: {', '.join(CLAIMS_COLUMNS)}")
    twice = frame["id"][frame["id"].duplicated()].tolist()
    if twice:
        raise FramewattError(f"{path}: found id {twice[0]!r} twice; allowed: one row per id")
    return [_claim(path, row) for row in _rows(frame)]


def recount_claims(
    claims: Sequence[Claim], functions: Mapping[str, Callable[..., Answer]], source: Any, basis: str = ""
) -> list[Recount]:
    """Recount every claim; what its function finds not given cannot be recomputed.

    Args:
        claims: of one paper.
        functions: what a claim's `how` may name; the first line of the docstring says how it recounts.
        source: handed to each function before the claim's own arguments.
        basis: what the source is, in words, where a claim is recounted from more than one.

    Raises:
        FramewattError: a claim names a function or argument that there is not.
    """
    return [_recount(claim, functions, source, basis) for claim in claims]


def _recount(claim: Claim, functions: Mapping[str, Callable[..., Answer]], source: Any, basis: str) -> Recount:
    function = functions.get(claim.how)
    if function is None:
        raise FramewattError(f"claim {claim.id}: found how {claim.how!r}; allowed: {', '.join(functions)}")
    try:
        answer = function(source, **claim.arguments)
    except NotGivenError as missing:
        answer = Answer(None, str(missing))
    except (KeyError, TypeError) as error:
        found = f"{claim.how}({_shown(claim.arguments)})"
        raise FramewattError(f"claim {claim.id}: found {found}; allowed: what the function takes ({error})") from error
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
        raise FramewattError(f"{path}: claim {row['id']}: found arguments {row['arguments']!r}; allowed: name=value; …")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _shown(arguments: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in arguments.items())
