"""Which planned runs do not count, and whether a study may end without them (no side effects)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from framewatt.runs.verdict import UNAVAILABLE, counts
from framewatt.study.cell import run_name
from framewatt.study.records import Plan, RunRecord
from framewatt.study.study import PACKAGES


@dataclass(frozen=True)
class Missing:
    """The planned runs and environments that a study lacks.

    Attributes:
        planned: number of planned runs.
        runs: reason by `<cell>/<repetition>`, for every planned run that does not count.
        refused: those of them without which the study must not succeed.
        environments: reason by name, for every environment that is missing.
        imported: whether the runs are read from files.
        merged: whether they are other machines', in packages.
    """

    planned: int
    runs: Mapping[str, str]
    refused: Mapping[str, str]
    environments: Mapping[str, str]
    imported: bool = False
    merged: bool = False

    @property
    def lines(self) -> list[str]:
        """Everything that is missing, one line each."""
        runs = [f"{name.replace('/', ', repetition ')}: {reason}" for name, reason in self.runs.items()]
        return [*(f"environment {name}: {reason}" for name, reason in self.environments.items()), *runs]

    @property
    def accepted(self) -> set[str]:
        """Cells that the study may end without."""
        return {name.split("/")[0] for name in self.runs.keys() - self.refused.keys()}

    @property
    def count(self) -> str:
        """How many runs count, in words."""
        return f"{self.planned - len(self.runs)} of {self.planned} planned runs count"

    @property
    def error(self) -> str | None:
        """One line where the study must fail, with how to fix it; None where it may succeed."""
        if not self.refused and not self.environments:
            return None
        if self.merged:
            return (
                f"{self.count}; the report lists the others; repeat them where they were measured and merge the new "
                "packages, or say accept_unavailable: true in the study file of the whole"
            )
        if self.imported:
            return (
                f"{self.count}; the report lists the others; mend their files, leave those runs out with a reason "
                "(files.leave_out in the study), or say accept_unavailable: true in it, which lets it end without as "
                "long as some run counts"
            )
        return (
            f"{self.count}; the report lists the others, and the next snakemake repeats those that failed; "
            "where a run has nothing to run (an export that is invalid, a file that is not there), mend that, or say "
            "accept_unavailable: true in the study, which lets it end without as long as some run counts"
        )


def missing_of(
    plan: Plan,
    records: Iterable[RunRecord],
    environments: Iterable[Mapping[str, Any]],
    due: Mapping[str, str],
) -> Missing:
    """Return what a study lacks.

    Args:
        plan: the study's plan.
        records: all existing run records, schema-checked.
        environments: records of the environments that the study needs.
        due: reason by `<cell>/<repetition>`, for runs that are to be repeated although they have a record.
    """
    by_run = {run_name({"cell": r["cell_id"], "repetition": r["repetition"]}): r for r in records}
    planned = [run_name(entry) for entry in plan["order"]]
    why = {name: _why(by_run.get(name), due.get(name)) for name in planned}
    runs = {name: reason for name, reason in why.items() if reason}
    none_counts = len(runs) == len(planned)
    accepts = plan["settings"].get("accept_unavailable", False) and not none_counts
    merged = plan["source"] == PACKAGES
    refused = {
        name: reason for name, reason in runs.items() if not (accepts and (merged or _acceptable(by_run.get(name))))
    }
    failed = {record["name"]: record["reason"] for record in environments if record["status"] != "ok"}
    return Missing(len(planned), runs, refused, failed, plan["source"] == "files", merged)


def _why(record: RunRecord | None, due: str | None) -> str | None:
    if record is None:
        return "has no record"
    if not counts(record):
        return "; ".join(record["reasons"]) or str(record["status"])
    return f"{due}; snakemake measures it again" if due else None


def _acceptable(record: RunRecord | None) -> bool:
    """Whether a retry could not help: the run had nothing to run, or was read from files."""
    return record is not None and (record["status"] == UNAVAILABLE or record.get("source") == "files")
