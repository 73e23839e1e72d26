"""A table: exact numbers for machines, rounded text for people, and its renderings."""

import html
import math
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from framewatt.base import spreadsheet
from framewatt.base.errors import FramewattError
from framewatt.base.files import write_text

MISSING = "n/a"
"""What a reader sees where a value is unknown; in CSV the field is empty."""


@dataclass(frozen=True)
class Table:
    """One table.

    `data` has full numbers under names that end in their unit; `shown` has the same rows as text under headings for
    readers; `numeric` has the headings of columns that are aligned to the right.
    """

    name: str
    caption: str
    data: pd.DataFrame
    shown: pd.DataFrame
    numeric: frozenset[str]


def significant(value: float | None, digits: int = 4) -> str:
    """Return a number with so many significant digits, trailing zeros kept, or MISSING.

    Whole numbers of more digits stay whole: 123456 at 4 digits is 123456, not 1.235e+05. Below 0.0001 the exponent
    is written.
    """
    if value is None or pd.isna(value):
        return MISSING
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    if abs(value) < 1e-4:
        return f"{value:.{digits - 1}e}"
    # Rounding first settles which power of ten 9.9996 belongs to.
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    return f"{value:.{max(0, digits - 1 - exponent)}f}"


def with_ends(mean: float | None, low: float | None, high: float | None) -> str:
    """A mean and the ends of its interval, rounded at the second significant digit of half its width: `477 [93, 1608]`.

    An interval that is unknown leaves the mean alone, with 4 digits.
    """
    if mean is None or pd.isna(mean):
        return MISSING
    if low is None or high is None or pd.isna(low) or pd.isna(high) or high <= low:
        return significant(mean)
    exponent = math.floor(math.log10(float(f"{(high - low) / 2:.1e}")))
    places = max(0, 1 - exponent)
    return f"{mean:.{places}f} [{low:.{places}f}, {high:.{places}f}]"


def text(value: object) -> str:
    """Text as it is, whole numbers as such, MISSING for what is unknown or empty."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)) or value == "":
        return MISSING
    return str(value)


def to_csv(table: Table) -> str:
    """Comma-separated values, every number in full, unknown ones empty."""
    return spreadsheet.to_csv(table.data)


def to_markdown(table: Table) -> str:
    """Return a GitHub-flavoured Markdown table under its caption."""
    headings = list(table.shown.columns)
    lines = [
        _markdown_row(headings),
        "|" + "|".join(" ---: " if heading in table.numeric else " --- " for heading in headings) + "|",
        *(_markdown_row([str(value) for value in row]) for row in table.shown.itertuples(index=False)),
    ]
    if table.shown.empty:
        lines += ["", "No rows."]
    return "\n".join([f"**{_markdown(table.caption)}**", "", *lines, ""])


def to_latex(table: Table) -> str:
    """Return a plain LaTeX tabular (no package needed), the caption as a comment above it."""
    headings = list(table.shown.columns)
    columns = "".join("r" if heading in table.numeric else "l" for heading in headings)
    lines = [
        "% " + " ".join(table.caption.split()),
        rf"\begin{{tabular}}{{{columns}}}",
        r"\hline",
        _latex_row(headings),
        r"\hline",
        *(_latex_row([str(value) for value in row]) for row in table.shown.itertuples(index=False)),
    ]
    if table.shown.empty:
        lines.append(rf"\multicolumn{{{len(headings)}}}{{l}}{{No rows.}} \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


_RENDERERS = {".csv": to_csv, ".md": to_markdown, ".tex": to_latex}


def write_table(table: Table, path: Path) -> None:
    """Write a table, whole or not at all, in the format that the file's suffix names.

    Raises:
        FramewattError: the suffix is none of .csv, .md, .tex.
    """
    if path.suffix not in _RENDERERS:
        raise FramewattError(f"{path}: {path.suffix!r} is not a format of tables. Use {', '.join(_RENDERERS)}.")
    write_text(path, _RENDERERS[path.suffix](table))


def _markdown_row(values: list[str]) -> str:
    return "| " + " | ".join(_markdown(value) for value in values) + " |"


def _markdown(value: str) -> str:
    value = html.escape(" ".join(value.split()), quote=False)
    for character in "\\|`*_[]":
        value = value.replace(character, "\\" + character)
    return value


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
    }
)


def _latex_row(values: list[str]) -> str:
    # Braces keep a leading "[" of the next row from being read as an argument of the row's end.
    return " & ".join(_latex(value) for value in values) + r" \\"


def _latex(value: str) -> str:
    value = " ".join(value.split()).translate(_LATEX)
    return f"{{{value}}}" if value.startswith(("[", "*")) else value
