"""Tables of what failed, is invalid, missing, left out or flagged, and of preflight's findings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from framewatt.planning.plan import planned_cells
from framewatt.report.evidence import MUCH_VARIATION_PERCENT, name_of
from framewatt.report.material import Material, witness_of
from framewatt.report.numbers import is_true, plural, significant
from framewatt.report.tables import Table
from framewatt.runs.aside import ASIDE, is_aside
from framewatt.runs.clocks import steps_between
from framewatt.runs.verdict import counts
from framewatt.statistics.power import samples_sentence
from framewatt.witness.judgement import DISTURBED

_REPEATED = "repeated, since the first try was disturbed: "
"""Beginning of the flag of a run that was repeated."""

_REPETITION, _CV, _RUNS = frozenset({"repetition"}), frozenset({"CV, %"}), frozenset({"runs"})


@dataclass(frozen=True)
class FindingsSection:
    """What failed or is missing, flags of numbers, findings on the machine, and what the planned runs could show."""

    problems: Sequence[Table]
    flags: Sequence[Table]
    preflight: Table
    significance: str


def findings_section(material: Material) -> FindingsSection:
    """List what failed or is missing, flags, and findings on the machine."""
    return FindingsSection(
        problem_tables(material), flag_tables(material), preflight_table(material), _significance(material)
    )


def problem_tables(material: Material) -> list[Table]:
    """What failed, is invalid or missing, and what was left out; one table per kind, without empty ones."""
    tables = [
        Table(
            "failed-runs",
            "Failed and invalid runs",
            ["cell", "repetition", "what", "why"],
            _runs(material),
            _REPETITION,
            of_runs=True,
        ),
        Table(
            "aside-runs",
            "Runs that were set aside",
            ["cell", "repetition", "why"],
            _aside(material),
            _REPETITION,
            of_runs=True,
        ),
        Table("missing-runs", "Planned runs without a record", ["cell", "repetitions"], _missing(material)),
        Table(
            "failed-environments",
            "Environments that could not be built",
            ["environment", "why"],
            _environments(material),
        ),
        Table("failed-exports", "Exports that failed or deviate", ["model", "what", "why"], _exports(material)),
        Table(
            "left-out-runs",
            "Runs that the study leaves out",
            ["cell", "repetition", "files", "why"],
            _left_out_runs(material.plan),
            _REPETITION,
        ),
        Table(
            "empty-cells",
            "Cells without a run that counts; their groups are compared over the other cells",
            ["cell", "why"],
            _empty(material),
        ),
        Table("left-out", "Combinations that were not measured", ["cell", "why"], _left_out(material.plan)),
    ]
    return [table for table in tables if table.rows]


def _runs(material: Material) -> list[list[str]]:
    rows = []
    for record in material.records:
        if not counts(record) and not is_aside(record):
            what = record["status"] if record["status"] != "ok" else "energy invalid"
            why = "; ".join(record["reasons"]) or "no reason recorded"
            rows.append([record["cell_id"], str(record["repetition"]), what, why])
    return rows


def _aside(material: Material) -> list[list[str]]:
    return [
        [record["cell_id"], str(record["repetition"]), reason.removeprefix(ASIDE)]
        for record in material.records
        for reason in record["reasons"]
        if reason.startswith(ASIDE)
    ]


def _missing(material: Material) -> list[list[str]]:
    present = {(record["cell_id"], record["repetition"]) for record in material.records}
    absent: dict[str, list[int]] = {}
    for entry in material.plan["order"]:
        if (entry["cell"], entry["repetition"]) not in present:
            absent.setdefault(entry["cell"], []).append(entry["repetition"])
    return [[cell, ", ".join(map(str, sorted(repetitions)))] for cell, repetitions in sorted(absent.items())]


def _left_out_runs(plan: Any) -> list[list[str]]:
    return [
        [one["cell"], str(one["repetition"]), ", ".join(one["files"]) or "none", one["reason"]]
        for one in plan.get("left_out", [])
    ]


def _empty(material: Material) -> list[list[str]]:
    planned = Counter(entry["cell"] for entry in material.plan["order"])
    left_out = Counter(one["cell"] for one in material.plan.get("left_out", []))
    rows = []
    for cell in material.cells_that_do_not_count:
        why = [f"{plural(planned[cell], 'run')} failed, invalid, missing or set aside"] if planned[cell] else []
        why += [f"{plural(left_out[cell], 'run')} left out by the study"] if left_out[cell] else []
        rows.append([cell, "; ".join(why)])
    return rows


def _environments(material: Material) -> list[list[str]]:
    return [[name_of(e), _text(e["reason"])] for e in material.environments if e["status"] != "ok"]


def _exports(material: Material) -> list[list[str]]:
    return [[name_of(e), e["status"], _text(e.get("reason"))] for e in material.exports if e["status"] != "ok"]


def _left_out(plan: Any) -> list[list[str]]:
    excluded = [[cell if isinstance(cell, str) else cell["id"], "excluded by the study"] for cell in plan["excluded"]]
    return excluded + [[entry["cell"], f"unsupported: {entry['reason']}"] for entry in plan["unsupported"]]


def flag_tables(material: Material) -> list[Table]:
    """Flags of valid numbers: one table for cells, one for runs."""
    of_runs = Counter(flag for record in material.records for flag in record["flags"])
    for flag in filter(_is_about_disturbance, [*of_runs]):
        del of_runs[flag]
    of_runs.update(steps_between(material.records).values())
    tables = [
        Table(
            "flags", "Flags of cells", ["cell", "quantity", "CV, %", "flags"], _cell_flags(material, set(of_runs)), _CV
        ),
        Table(
            "run-flags", "Flags of runs", ["flag", "runs"], [[flag, str(n)] for flag, n in of_runs.most_common()], _RUNS
        ),
        Table(
            "drift",
            "Drift of the whole study",
            ["quantity", "over", "from first to last, %", "r", "p"],
            _drifts(material),
            frozenset({"from first to last, %", "r", "p"}),
        ),
        _disturbed_table(material),
    ]
    return [table for table in tables if table.rows]


def _cell_flags(material: Material, of_runs: set[str]) -> list[list[str]]:
    """Flags of cells' energy and time, without those of single runs (`of_runs`), which have a table of their own."""
    rows = []
    chosen = material.cells[material.cells["quantity"].isin(material.headline.quantities)]
    for row in chosen.itertuples():
        flags = [flag for flag in _text(row.flags).split("; ") if flag and flag.rsplit(" (", 1)[0] not in of_runs]
        flags = [flag for flag in flags if not _is_about_disturbance(flag)]
        if row.cv_percent > MUCH_VARIATION_PERCENT:
            flags.append(f"varies by more than {MUCH_VARIATION_PERCENT:g} %")
        if flags:
            rows.append([row.cell, row.quantity, significant(row.cv_percent), "; ".join(flags)])
    return rows


def _drifts(material: Material) -> list[list[str]]:
    return [
        [row.quantity, f"{row.n} {row.over}", f"{row.change_percent:+.2g}", f"{row.r:.2f}", significant(row.p, 2)]
        for row in material.drift.itertuples()
        if is_true(row.drifts)
    ]


def _is_about_disturbance(flag: str) -> bool:
    """Return whether a flag of a run is listed in the table of disturbed runs, and not with the other flags."""
    return flag.startswith((DISTURBED, _REPEATED))


def _disturbed_table(material: Material) -> Table:
    """Return a table of every run that was disturbed or repeated, with the cause."""
    rows = [
        [
            record["cell_id"],
            str(record["repetition"]),
            "; ".join(causes) or "nothing",
            "; ".join(first) or "not repeated",
        ]
        for record in material.records
        for causes in [list(witness_of(record).get("disturbed") or [])]
        for first in [record["first_try"]["disturbed"] if "first_try" in record else []]
        if causes or first
    ]
    header = ["cell", "repetition", "disturbed by", "first try disturbed by"]
    return Table("disturbed-runs", "Runs that others disturbed", header, rows, _REPETITION, of_runs=True)


def preflight_table(material: Material) -> Table:
    """Preflight's findings on the machine, each once, with the number of runs that had it."""
    runs_of: Counter[tuple[str, ...]] = Counter()
    for record in material.records:
        runs_of.update(
            {tuple(str(f.get(k, "")) for k in ("topic", "found", "meaning", "remedy")) for f in record["preflight"]}
        )
    rows = [[*finding, plural(runs, "run")] for finding, runs in sorted(_merged(runs_of).items())]
    header = ["looked at", "found", "what it does", "remedy", "in"]
    return Table("preflight", "Findings of the checks before the runs", header, rows)


def _merged(runs_of: Counter[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    """Merge findings of one topic that differ only in a number (the load) into one, with the first and the last."""
    merged: dict[tuple[str, ...], tuple[list[str], int]] = {}
    for (topic, what, meaning, remedy), runs in runs_of.items():
        values, count = merged.get((topic, meaning, remedy), ([], 0))
        merged[topic, meaning, remedy] = (sorted([*values, what]), count + runs)
    return {
        (topic, values[0] if len(values) == 1 else f"{values[0]} … {values[-1]}", meaning, remedy): count
        for (topic, meaning, remedy), (values, count) in merged.items()
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _significance(material: Material) -> str:
    """State what the planned runs could show; the smallest p of a rank test is only a lower bound."""
    stated = material.plan["significance"]
    floor = " That is a floor: it is reached where every run points the same way." if "smallest_p" in stated else ""
    samples = samples_sentence(planned_cells(material.plan), material.plan["settings"]["statistics"])
    return " ".join(filter(None, [f"{stated['sentence']}{floor}", samples]))
