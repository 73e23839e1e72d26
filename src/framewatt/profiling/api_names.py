"""The names by which a framework's users know the functions that a profile shows, by a table of rules.

The rules are a CSV file that anyone can review (config/api_names.csv); the first that fits a function names it, and a
function that none fits has no such name. Names are never guessed.

Families of operators, by their names in a profiler, make frameworks comparable.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.profiling.joules import BETWEEN

UNTOLD = "not told apart"
OTHER = "other operators"

_FAMILIES = (
    ("optimiser", r"sgd|adam|lamb|_update\b|optimizer|apply\w*(descent|momentum)|assign(sub|add)"),
    ("convolution", r"conv"),
    ("normalisation", r"norm|moments|squareddifference|rsqrt"),
    ("matrix product", r"mm\b|addmm|bmm|matmul|gemm|linear|fullyconnected|dense|einsum|attention|dot\b"),
    ("recurrence", r"lstm|gru|rnn"),
    ("embedding, lookup", r"embedding|gather|take\b|index|nonzero"),
    ("activation, softmax", r"relu|clip|hardtanh|clamp|sigmoid|tanh|gelu|softmax|swish|silu|erf\b"),
    ("pooling", r"pool"),
    (
        "data movement",
        r"copy|reorder|transpose|pad\b|reshape|concat|cat\b|slice|split|cast|empty|contiguous|view|memcpy|memset|fill",
    ),
    ("sums and elementwise", r"add|sub|mul|div|sum|mean|max|min|sqrt|pow|exp|log|neg|square|reduce"),
)

FAMILIES = (*(name for name, _ in _FAMILIES), OTHER, UNTOLD, BETWEEN)
"""In the order of figures."""


def family_of(operator: str) -> str:
    """Return the family of an operator: the first in order with a word that is in the operator's name.

    Args:
        operator: as the profiler names it, or the name of a row of several.
    """
    if operator == BETWEEN:
        return BETWEEN
    if UNTOLD in operator:
        return UNTOLD
    return next((name for name, words in _FAMILIES if re.search(words, operator, re.IGNORECASE)), OTHER)


_COLUMNS = ["framework", "phase", "file", "function", "through", "api_name", "why"]


@dataclass(frozen=True)
class Rule:
    r"""One line of the table. A pattern must match the whole text; a missing pattern matches every text.

    Attributes:
        framework: pattern of the framework's name, in upper or lower case.
        phase: pattern of the phase.
        function: pattern of `file:function`.
        through: pattern of `file:function` of a direct or indirect caller.
        api_name: the name; `\1` stands for a group of `function`.
    """

    framework: re.Pattern[str] | None
    phase: re.Pattern[str] | None
    function: re.Pattern[str]
    through: re.Pattern[str] | None
    api_name: str


def read_rules(path: Path) -> tuple[Rule, ...]:
    """Read the table of rules.

    Raises:
        FramewattError: other columns, a line without a function or a name, or a pattern that is none.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != _COLUMNS:
            raise FramewattError(f"{path}: line 1: the columns are {reader.fieldnames}. Use {', '.join(_COLUMNS)}.")
        return tuple(_rule(row, f"{path}: line {reader.line_num}") for row in reader)


def read_types(path: Path) -> dict[str, str]:
    """Return the type of each API name that has one, from the columns api_name and type of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["api_name"]: row["type"] for row in csv.DictReader(file) if row["type"]}


def api_names(
    functions: pd.DataFrame, calls: pd.DataFrame, framework: str, phase: str, rules: Sequence[Rule]
) -> list[str | None]:
    """Return a name for each function of a profiled run, None where no rule knows one.

    Args:
        functions: Profile.functions, in order of rank.
        calls: Profile.calls.
        framework: the framework that ran, as the rules call it.
        phase: `train` or `infer`.
        rules: what read_rules gave, in order.
    """
    fitting = [rule for rule in rules if _fits(rule.framework, framework) and _fits(rule.phase, phase)]
    if not fitting:
        return [None] * len(functions)
    # Most functions match no rule; one combined pattern sorts them out quickly.
    any_of_them = re.compile("|".join(f"(?:{rule.function.pattern})" for rule in fitting))
    keys = (functions["file"] + ":" + functions["function"]).tolist()
    callers = _Callers(calls, keys)
    return [
        next((name for rule in fitting if (name := _name(rule, rank, key, callers))), None)
        if any_of_them.fullmatch(key)
        else None
        for rank, key in enumerate(keys, start=1)
    ]


class _Callers:
    """Callers of each function in a profile.

    Args:
        calls: Profile.calls.
        keys: `file:function` by rank.
    """

    def __init__(self, calls: pd.DataFrame, keys: Sequence[str]) -> None:
        self._keys = keys
        self._direct = calls.groupby("callee_rank")["caller_rank"].agg(list).to_dict()

    def any(self, rank: int, wanted: re.Pattern[str]) -> bool:
        """Return whether some direct or indirect caller of the function of that rank matches."""
        seen: set[int] = set()
        ahead = list(self._direct.get(rank, []))
        while ahead:
            caller = ahead.pop()
            if caller in seen:
                continue
            if wanted.fullmatch(self._keys[caller - 1]):
                return True
            seen.add(caller)
            ahead += self._direct.get(caller, [])
        return False


def _name(rule: Rule, rank: int, key: str, callers: _Callers) -> str | None:
    match = rule.function.fullmatch(key)
    if not match or (rule.through and not callers.any(rank, rule.through)):
        return None
    return match.expand(rule.api_name)


def _fits(pattern: re.Pattern[str] | None, text: str) -> bool:
    return pattern is None or bool(pattern.fullmatch(text))


def _rule(row: dict[str, str], where: str) -> Rule:
    for column in ("function", "api_name", "why"):
        if not row[column]:
            raise FramewattError(f"{where}: {column} is empty. Write a text, or delete the line.")

    function = f"(?:{row['file'] or '~'}):(?:{row['function']})"
    try:
        re.sub(function, row["api_name"], "")
        framework = re.compile(row["framework"], re.IGNORECASE) if row["framework"] else None
        phase, through = (re.compile(row[column]) if row[column] else None for column in ("phase", "through"))
    except (re.error, IndexError) as error:
        raise FramewattError(
            f"{where}: a pattern or name is not valid ({error}). Write it as Python's re reads it."
        ) from error
    return Rule(framework, phase, re.compile(function), through, row["api_name"])
