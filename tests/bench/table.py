"""What was measured as tables to read."""

from collections.abc import Sequence

_MARKS = {"wrong": "**{error} %**", "a number where none can be known": "**{error} % (unknowable)**"}
_LAST_DIGIT = 1e-4
"""Percent below which an error is one of floating point, or of the last digit of the script."""


def cases_table(cases: Sequence[dict]) -> str:
    """One row per case, one column per meter, in each the largest error, or why there is none (Markdown).

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
        error = "0" if abs(worst) < _LAST_DIGIT else f"{worst:+.2g}" if abs(worst) < 100 else f"{worst:+,.0f}"
        parts.append(_MARKS.get(verdict, "{error} %").format(error=error))
    return "; ".join(parts) or "n/a"


def _short(verdict: str) -> str:
    return verdict.removesuffix(", rightly")


def cost_table(rows: Sequence[dict]) -> str:
    """One row per measure, beside its target (Markdown).

    Args:
        rows: as bench.csv holds them.
    """
    lines = ["| what | value | 95 % interval of the ratio | target | met |", "|---|---:|---|---|---|"]
    for row in rows:
        value = row["framewatt"] if row["framewatt"] is not None else row["peer"]
        known = row.get("ratio") is not None
        interval = f"{row['ratio_low']:.4f} to {row['ratio_high']:.4f} ({row['pairs']} pairs)" if known else ""
        met = {True: "yes", False: "**no**", None: ""}[row["met"]]
        lines.append(f"| {row['name']} | {value:.3g} {row['unit']} | {interval} | {row['target'] or 'none'} | {met} |")
    return "\n".join(lines) + "\n"
