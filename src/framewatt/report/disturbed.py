"""Which runs were disturbed, and by what."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from framewatt.report.material import Material, witness_of
from framewatt.report.numbers import plural
from framewatt.report.tables import Table
from framewatt.witness.judgement import DISTURBED, kind_of

REPEATED = "repeated, since the first try was disturbed: "
"""Beginning of the flag of a run that was repeated."""


def causes_of(record: Mapping[str, Any]) -> list[str]:
    """What disturbed the primary window of a run, in words; empty where nothing did, or it is unknown."""
    return list(witness_of(record).get("disturbed") or [])


def told_apart(flag: str) -> bool:
    """Whether a flag of a run is reported in this section, and not with the other flags."""
    return flag.startswith((DISTURBED, REPEATED))


def of_cells(material: Material, cells: set[str]) -> str:
    """How many runs that count of these cells were disturbed, as a sentence; empty where none were."""
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


def share(material: Material) -> float:
    """Share of the runs that count which others disturbed; 0 where none counts."""
    counted = material.witnessed
    return sum(bool(run.causes) for run in counted) / len(counted) if counted else 0.0


def sentences(material: Material) -> list[str]:
    """Summary of the witnesses of all runs; empty for a study without any."""
    witnessed = [run for run in material.witnessed if run.witness]
    if not witnessed:
        return []
    unknown = sum(run.causes is None for run in witnessed)
    repeated = sum("first_try" in record for record in material.records)
    told = [in_all(material) or f"None of the {plural(len(witnessed) - unknown, 'run')} that could be told was."]
    if unknown:
        told.append(
            f"Of {plural(unknown, 'run')} it is not known: the window was too short, or the kernel does not tell."
        )
    if repeated:
        told.append(f"{plural(repeated, 'run')} {_was(repeated)} measured twice, since the first try was disturbed.")
    return told


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
