"""The cases as a table to read: a row a case, a column a meter, in each the largest error, or why there is none."""

from collections.abc import Sequence

_MARKS = {"wrong": "**{error:+.3g} %**", "a number where none can be known": "**{error:+.3g} % (unknowable)**"}


def cases_table(cases: Sequence[dict]) -> str:
    """Markdown.

    Args:
        cases: judged rows, see bench.__main__.
    """
    meters = list(dict.fromkeys(row["meter"] for row in cases))
    lines = [f"| case | {' | '.join(meters)} |", f"|---|{'---|' * len(meters)}"]
    for case in dict.fromkeys(row["case"] for row in cases):
        cells = [_cell([row for row in cases if (row["case"], row["meter"]) == (case, meter)]) for meter in meters]
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(rows: Sequence[dict]) -> str:
    """All domains of a meter in a case: what is invalid, and the largest error of the rest."""
    parts = []
    for verdict in dict.fromkeys(row["verdict"] for row in rows):
        same = [row for row in rows if row["verdict"] == verdict]
        if verdict.startswith("invalid") or verdict == "gave up":
            names = ", ".join(row["domain"].removeprefix("cpu:") for row in same)
            parts.append(f"{verdict.removesuffix(', rightly')}: {names}" if len(same) < len(rows) else _short(verdict))
            continue
        known = [row["error_percent"] for row in same if row["error_percent"] is not None]
        if not known:
            parts.append("**a domain that is not there**")
            continue
        worst = max(known, key=abs)
        parts.append(_MARKS.get(verdict, "{error:+.2g} %").format(error=worst))
    return "; ".join(parts) or "n/a"


def _short(verdict: str) -> str:
    return verdict.removesuffix(", rightly")
