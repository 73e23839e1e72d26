"""The choices of a finished study as a ranked table for the terminal, lowest energy first."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.files import read_json
from framewatt.base.spreadsheet import read_csv
from framewatt.base.terminal import aligned
from framewatt.frames.factor_words import label
from framewatt.frames.headline import headline_of_runs
from framewatt.frames.quality import QUALITY_UNKNOWN, words_of
from framewatt.report.answers import answers_by_quantity
from framewatt.report.material import ENERGY
from framewatt.report.numbers import known, si, significant
from framewatt.report.sentences import sentence_of
from framewatt.runs.aside import set_aside
from framewatt.runs.records import read_run
from framewatt.runs.verdict import counts
from framewatt.statistics.accuracies import BEST, NOT_APART
from framewatt.statistics.selection import totals
from framewatt.study.records import RunRecord
from framewatt.tables.columns import ESTIMATED
from framewatt.tables.ratios import ratio_range

_MARKS = {BEST: "best", NOT_APART: "="}
_HEADER = ("", "choice", "energy", "times the least", "latency 95 %", "samples/s", "memory", "runs")
_WORDS = (0, 1, 3)


@dataclass(frozen=True)
class Ranking:
    """The result of a deploy study.

    Attributes:
        sentence: the answer, worded as on the study's page.
        estimated: whether energies are estimates.
        table: lines of the table, its header first.
        without: why choices are not ranked, one line each.
        unjudged: why their quality is unknown, one line each.
    """

    sentence: str
    estimated: bool
    table: Sequence[str]
    without: Sequence[str]
    unjudged: Sequence[str]


def ranking_of(results: Path) -> Ranking:
    """Return the ranking of a finished study.

    Args:
        results: results/<study>.
    """
    plan = read_json(results / "plan" / "plan.json")
    settings = plan["settings"]["statistics"]
    headline = headline_of_runs(totals(pd.read_parquet(results / "aggregate" / "runs.parquet")))
    answers = read_csv(results / "statistics" / "answers.csv")
    sentences = [sentence_of(answer) for answer in answers_by_quantity(plan, answers, headline)[ENERGY]]
    measured = ((path, read_run(path)) for path in sorted((results / "measure").glob("*/*/run.json")))
    records = list(set_aside(measured, plan["settings"]).values())
    choices = read_csv(results / "statistics" / "deploy.csv")
    rows: list[dict[str, Any]] = [{str(k): v for k, v in row.items()} for row in choices.to_dict("records")]
    rows = sorted((row for row in rows if row["n"] > 0), key=_place)
    lines = [_HEADER, *(_line(row, settings["compare"], records) for row in rows)]
    names = {cell["id"]: label(cell, settings["compare"]) for cell in plan["cells"]}
    without = [
        f"{names[cell]}: {'; '.join(_reasons(records, cell)) or 'no run'}"
        for cell in names
        if cell not in {row["cell"] for row in rows}
    ]
    without += [f"{names.get(entry['cell'], entry['cell'])}: {entry['reason']}" for entry in plan["unsupported"]]
    without += [
        f"{names[row['cell']]}: measured, but not ranked, since it is not shown to be as good "
        f"({words_of([row['metric']])} {significant(row['quality'])})"
        for row in rows
        if row["as_good"] is False or row["as_good"] == 0
    ]
    estimated = any(bool(row["estimated"]) for row in rows)
    flags = (flag for record in records if counts(record) for flag in record["flags"])
    unjudged = list(dict.fromkeys(flag for flag in flags if re.search(QUALITY_UNKNOWN, flag)))
    sentence = " ".join(sentences) or "No choice has a run that counts."
    return Ranking(sentence, estimated, aligned(lines, _WORDS), without, unjudged)


def _place(row: Mapping[str, Any]) -> tuple[float, float]:
    ratio, energy = row["energy_ratio"], row["energy_per_sample_j"]
    return (ratio if known(ratio) else math.inf, energy if known(energy) else math.inf)


def _line(row: Mapping[str, Any], compared: Sequence[str], records: Sequence[RunRecord]) -> tuple[str, ...]:
    ratio, low, high = (row[f"energy_ratio{end}"] for end in ("", "_low", "_high"))
    return (
        _MARKS.get(row["energy_verdict"], ""),
        label(row, compared).replace("/", ", "),
        si(row["energy_per_sample_j"], "J") + (ESTIMATED if row["estimated"] else ""),
        ratio_range(ratio, low, high) if known(ratio) else "",
        si(row["latency_p95_s"], "s"),
        significant(1 / row["time_per_sample_s"]) if known(row["time_per_sample_s"]) else "",
        _memory(records, row["cell"]),
        f"{row['n']:g}",
    )


def _memory(records: Sequence[RunRecord], cell: str) -> str:
    """Return the largest resident memory of the cell's processes; unknown where a record lacks it."""
    peaks = [
        record["workload"].get("peak_memory_b") if record["workload"] else None
        for record in records
        if record["cell_id"] == cell and counts(record)
    ]
    known = [peak for peak in peaks if peak]
    return si(float(max(known)), "B") if known and len(known) == len(peaks) else ""


def _reasons(records: Sequence[RunRecord], cell: str) -> list[str]:
    return list(dict.fromkeys(reason for run in records if run["cell_id"] == cell for reason in run["reasons"]))
