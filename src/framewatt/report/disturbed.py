"""Which runs were disturbed, and by what."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from framewatt.frames import headline
from framewatt.report.answered import Answered, answered, answers_of
from framewatt.report.material import Material, witness_of
from framewatt.report.numbers import plural
from framewatt.report.tables import Table
from framewatt.runs.aside import MOST
from framewatt.witness.judgement import DISTURBED, kind_of

REPEATED = "repeated, since the first try was disturbed: "
"""Beginning of the flag of a run that was repeated."""


def causes_of(record: Mapping[str, Any]) -> list[str]:
    """What disturbed the primary window of a run, in words; empty where nothing did, or it is unknown."""
    return list(witness_of(record).get("disturbed") or [])


def is_about_disturbance(flag: str) -> bool:
    """Whether a flag of a run is reported in this section, and not with the other flags."""
    return flag.startswith((DISTURBED, REPEATED))


def of_answer(material: Material, one: Answered) -> str:
    """How many of the runs behind an answer were disturbed, as a sentence; empty where none were."""
    cells = {*one.best, one.row["next"]}
    counted = [run for run in material.witnessed if run.cell in cells]
    disturbed = sum(bool(run.causes) for run in counted)
    return f"Others disturbed {disturbed} of their {plural(len(counted), 'run')}." if disturbed else ""


def in_all(material: Material) -> str:
    """How many of all runs that count were disturbed, and by what, as a sentence; empty where none were."""
    counted = material.witnessed
    disturbed = [run.causes for run in counted if run.causes]
    if not disturbed:
        return ""
    kinds = Counter(kind for causes in disturbed for kind in dict.fromkeys(map(kind_of, causes)))
    by = ", ".join(f"{kind} in {n}" for kind, n in kinds.most_common())
    return f"Others disturbed {len(disturbed)} of the {plural(len(counted), 'run')}: {by}."


def aside(material: Material) -> str:
    """How many runs were set aside, as a sentence; empty where none were."""
    count = int(headline.aside(material.totals).sum())
    if not count:
        return ""
    return (
        f"{count} of {plural(material.planned, 'run')} {_was(count)} set aside, because others took more than "
        f"{100 * MOST:g} % of the machine from {'it' if count == 1 else 'them'} or from a run beside: "
        f"{'it is' if count == 1 else 'they are'} part of no mean, interval or answer."
    )


def mostly_aside(material: Material) -> str:
    """That cells lost more than half of their runs so, and what to do; empty where none did."""
    totals = material.totals
    part = headline.aside(totals).groupby(totals["cell"]).mean()
    lost = int((part > 1 / 2).sum())
    if not lost:
        return ""
    of = "every cell" if lost == len(part) else f"{lost} of {plural(len(part), 'cell')}"
    return f"Others disturbed most runs of {of}, and these do not count. Close other programs, or measure over night."


def with_all(material: Material) -> str:
    """Where the answers by energy would be other ones with the runs that were set aside, in sentences; else empty."""
    if not headline.aside(material.totals).any():
        return ""
    per = material.headline.per
    known = {one.group.name: one for one in answered(material, material.headline.energy, "energy")}
    every = answers_of(material.plan, material.answers_with_all, material.headline.energy, "energy", per)
    other = [one.sentence for one in every if _concludes(one) != _concludes(known.get(one.group.name))]
    if not other:
        return "With all runs the answers by energy are the same."
    return f"With all runs, also those that were set aside: {' '.join(other)}"


def _concludes(one: Answered | None) -> tuple[bool, frozenset[str]] | None:
    return None if one is None else (one.settled, frozenset(one.best))


def share(material: Material) -> float:
    """Share of the runs that count which others disturbed; 0 where none counts."""
    counted = material.witnessed
    return sum(bool(run.causes) for run in counted) / len(counted) if counted else 0.0


def sentences(material: Material) -> list[str]:
    """Summary of the witnesses of all runs; empty for a study without any."""
    witnessed = [run for run in material.witnessed if run.witness]
    if not witnessed:
        return list(filter(None, [aside(material), with_all(material)]))
    unknown = sum(run.causes is None for run in witnessed)
    repeated = sum("first_try" in record for record in material.records)
    none = f"None of the {plural(len(witnessed) - unknown, 'run')} that could be told was."
    told = [aside(material), in_all(material) or none]
    if unknown:
        told.append(
            f"Of {plural(unknown, 'run')} it is not known: the window was too short, or the kernel does not tell."
        )
    told += [with_all(material)]
    if repeated:
        told.append(f"{plural(repeated, 'run')} {_was(repeated)} measured twice, since the first try was disturbed.")
    if waited := [record["waited_s"] for record in material.records if "waited_s" in record]:
        told.append(f"Before {plural(len(waited), 'run')} the machine was given {sum(waited):.0f} s to become quiet.")
    return list(filter(None, told))


def table(material: Material) -> Table:
    """Every run that was disturbed or repeated, with the cause."""
    rows = [
        [
            record["cell_id"],
            str(record["repetition"]),
            "; ".join(causes) or "nothing",
            "; ".join(first) or "not repeated",
        ]
        for record in material.records
        for causes, first in [(causes_of(record), (record.get("first_try") or {}).get("disturbed", []))]
        if causes or first
    ]
    header = ["cell", "repetition", "disturbed by", "first try disturbed by"]
    repetition = frozenset({"repetition"})
    return Table("disturbed-runs", "Runs that others disturbed", header, rows, repetition, of_runs=True)


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
