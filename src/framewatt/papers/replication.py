"""Input of a paper's replication, and the finding on one of its claims."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import pandas as pd

from framewatt.base.files import read_json
from framewatt.base.spreadsheet import read_csv
from framewatt.papers.verdicts import read_verdicts
from framewatt.planning.planned import planned_runs
from framewatt.study.records import RunRecord
from framewatt.tables.columns import Show, table_of, text_of
from framewatt.tables.table import Table, significant

SAME, OPPOSITE, PARTLY, UNDECIDED = VERDICTS = ("same direction", "opposite", "in part", "not decidable here")


@dataclass(frozen=True)
class Measured:
    """Own runs, and where the paper's numbers are.

    Attributes:
        runs: the runs frame.
        epochs: the epochs frame.
        comparisons: statistics of pairs (COMPARISONS_COLUMNS).
        resources: folder of the published tables and claims.
        cells: of the study's plan, in its order: `id` and the level of every factor.
        compared: factors in which cells that are compared may differ.
        records: of the planned runs.
        recounted: what the authors' own files give for each claim, by its id; empty where they are not given.
    """

    runs: pd.DataFrame
    epochs: pd.DataFrame
    comparisons: pd.DataFrame
    resources: Path
    cells: Sequence[Mapping[str, Any]] = ()
    compared: Sequence[str] = ("runtime", "provider")
    records: Collection[RunRecord] = ()
    recounted: Mapping[str, float | None] = field(default_factory=dict)


def read_measured(files: Any) -> Measured:
    """What a rule's input names: `runs`, `epochs`, `comparisons`, `plan`, `records`, the files `published`, `authors`.

    Args:
        files: Snakemake's input.
    """
    plan = read_json(Path(files.plan))
    return Measured(
        pd.read_parquet(files.runs),
        pd.read_parquet(files.epochs),
        read_csv(files.comparisons),
        Path(files.published[0]).parent,
        cells=plan["cells"],
        compared=plan["settings"]["statistics"]["compare"],
        records=planned_runs(files.plan, files.records).values(),
        recounted=recounted(Path(str(files.authors))) if files.authors else {},
    )


def recounted(folder: Path) -> dict[str, float | None]:
    """What the authors' own files give for each claim, by its id.

    Args:
        folder: holds the verdicts of the paper, see framewatt.papers.verdicts.
    """
    verdicts = pd.concat(map(read_verdicts, sorted(folder.glob("*_verdicts.csv"))))
    return dict(zip(verdicts["column"], pd.to_numeric(verdicts["recomputed"], errors="coerce"), strict=True))


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, and what the own runs show.

    Attributes:
        id: short name, that of the file of claims.
        where: section of the paper.
        claim: the sentence in other words.
        published: its number, as printed.
        unit: of that number.
        here: the own number; None where there is none.
        out_of: of how many, where the own number counts what is as claimed.
        verdict: one of VERDICTS: of the direction, however large the difference.
        p: the largest corrected p of the comparisons that the claim rests on, since it is no surer than the least sure
            of them; None where there are none.
        why: what speaks against it, or why it is not decidable.
    """

    id: str
    where: str
    claim: str
    published: str
    unit: str
    here: float | None
    out_of: int | None
    verdict: str
    p: float | None
    why: str


def claims_table(paper: str, findings: Iterable[Finding], name: str = "claims", caption: str = "") -> Table:
    """A table of one row per claim: `claims`, or a table of another name with its own caption."""
    names = [field.name for field in fields(Finding)]
    data = pd.DataFrame([asdict(finding) for finding in findings], columns=names)
    data = data.astype({"here": "float64", "p": "float64", "out_of": "Int64"})
    shown: dict[str, Show] = {
        "Section": text_of("where"),
        "Claim": text_of("claim"),
        "Published": lambda r: f"{r['published']} {r['unit']}",
        "Here": _here,
        "Verdict": text_of("verdict"),
        "Largest p": lambda r: significant(r["p"], 3),
        "Why": text_of("why"),
    }
    return table_of(name, caption or f"Claims of {paper}, and what these runs say of them", data, shown)


def _here(row: Mapping[str, Any]) -> str:
    """The own number, as `3 of 4` where it counts."""
    return significant(row["here"], 3) if pd.isna(row["out_of"]) else f"{row['here']:g} of {row['out_of']}"
