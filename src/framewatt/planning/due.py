"""What a study still has to make, and why: artefacts that are missing, failed, or were made with other settings.

Snakemake's own triggers (file times, parameters of the last call) do not decide whether to measure or train again:
they are lost when a folder is copied, and once a step is made again, its later steps no longer see the change. What is
due is decided here, by content: an artefact that does not carry the hash of the study's present job is made again.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from framewatt.planning.blocks import Blocks, blocks_of
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.placement import calibration_of
from framewatt.planning.stages_due import IDLE, Boot, idle_after_due, in_force, lost, node_artefacts_due, stages_due
from framewatt.planning.staleness import (
    ABSENT,
    NOT_MEASURED,
    OTHER,
    REQUESTED,
    SET_ASIDE,
    Forced,
    Runs,
    content_of,
    idle_due,
)
from framewatt.study.cell import Cell, run_name
from framewatt.study.records import Plan
from framewatt.study.study import MeasuredStudy
from framewatt.witness.judgement import SET_ASIDE as DISTURBED_ASIDE
from framewatt.witness.judgement import disturbance_of

RULES = (
    "plan",
    "instruments",
    "calibrate",
    "calibrate_session",
    "recalibrate",
    "train",
    "export",
    "check_export",
    "carry",
    "parity",
    "quantise",
    "check_quantised",
    "measure",
    "look",
    "profile_run",
    "timeline",
    "repeat_operators",
)
"""Rules with jobs that are in Snakemake's graph only if they are due; such a job always runs."""

_NAMED = 5
"""Names that are printed for one reason; further ones are counted."""


@dataclass(frozen=True)
class Due:
    """What is due, each with the reason in a few words.

    Attributes:
        plan: None where it is not due.
        instruments, idle, idle_after: meters, and idle power before and after the runs, by node.
        in_force: name of the file of the idle power that the runs of this call are corrected by, without its ending, by
            node that measures.
        idle_session: why such a file is due, by node, where the study's own idle power is of another boot.
        weights: by model.
        exports, checks: by model or `<model>/<precision>`.
        parity: by model that is compared with the same one in another framework.
        profiles, timelines, repeated: by cell.
        runs: by `<cell>/<repetition>`; while the number of blocks is open, of all blocks that there may be.
        blocks: how many there are, or after which of them the stopping rule still looks.
    """

    plan: str | None = None
    instruments: Mapping[str, str] = field(default_factory=dict)
    idle: Mapping[str, str] = field(default_factory=dict)
    idle_after: Mapping[str, str] = field(default_factory=dict)
    in_force: Mapping[str, str] = field(default_factory=dict)
    idle_session: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, str] = field(default_factory=dict)
    exports: Mapping[str, str] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    parity: Mapping[str, str] = field(default_factory=dict)
    profiles: Mapping[str, str] = field(default_factory=dict)
    timelines: Mapping[str, str] = field(default_factory=dict)
    repeated: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, str] = field(default_factory=dict)
    blocks: Blocks = field(default_factory=Blocks)

    def sentence(self, planned: int) -> str | None:
        """Return how many of the planned runs are due, and why; None where none are.

        Args:
            planned: how many runs there may be.
        """
        if not self.runs:
            return None
        first = self.blocks.within(self.runs, self.blocks.looks[:1])
        why = ", ".join(f"{count} {reason}" for reason, count in Counter(first.values()).most_common())
        if not self.blocks.looks:
            return f"{len(self.runs)} of {planned} runs are due: {why}"
        count = f"{len(first)} run{' is' if len(first) == 1 else 's are'}"
        return (
            f"{count} due up to the look after block {self.blocks.looks[0]}: {why}; then "
            f"{len(self.runs) - len(first)} more at most"
        )

    def repeats(self) -> list[str]:
        """Return what exists and is made again, a line for each reason."""
        first = self.blocks.within(self.runs, self.blocks.looks[:1])
        kinds = (
            ("weights of ", self.weights),
            ("export of ", self.exports),
            ("check of ", self.checks),
            ("comparison of ", self.parity),
            ("", {name.replace("/", ", repetition "): reason for name, reason in first.items()}),
        )
        by_reason: dict[str, list[str]] = {}
        for kind, reasons in kinds:
            for name, reason in reasons.items():
                if reason not in (ABSENT, NOT_MEASURED):
                    by_reason.setdefault(reason, []).append(f"{kind}{name}")
        return [f"again, {reason}: {_some(names)}" for reason, names in by_reason.items()]


def due_of(
    hashes: JobHashes,
    plan: Plan,
    results: Path,
    resources: Path,
    requested: Forced,
    boot: Boot = lambda node, idle: None,
) -> Due:
    """Return what is due in a study that measures.

    Args:
        hashes: of all jobs, for the present study file.
        plan: its plan.
        results: results/<study>.
        resources: the folder of data and environments.
        requested: what the user forced to be made again.
        boot: the present boot of a node, where an idle power is from another boot.
    """
    known = Runs(hashes, results, resources)
    stages = stages_due(hashes, known, results, requested)
    idle = node_artefacts_due(hashes.idle, IDLE, "calibrate", results, requested)
    repeated = {*stages["exports"], *stages["checks"]}
    runs = {}
    for entry in plan["order"]:
        name = run_name(entry)
        files = {f"measure/{name}/{file}" for file in ("run.json", "power.parquet", "events.parquet")}
        reason = known.run_due(results / "measure" / name, entry["cell"], str(entry["job_sha256"]), repeated)
        if not reason and any(requested("measure", path) for path in files):
            reason = REQUESTED
        if reason or hashes.node_of(entry["repetition"]) in idle:
            runs[name] = reason or "corrected by another idle power"
    blocks = blocks_of(hashes.study, results, runs)
    runs = blocks.within(runs, blocks.looks[-1:])
    if not runs and not blocks.settled and disturbance_of(hashes.study.settings) == DISTURBED_ASIDE:
        # At the end, since whatever disturbed them may have ended by now.
        runs = blocks.within({name: SET_ASIDE for name in map(run_name, plan["order"]) if name in known.aside}, ())
    measuring = {hashes.node_of(int(name.rpartition("/")[2])) for name in runs}
    for kind, gone in lost(hashes.study, _cells(hashes.study, runs), results).items():
        stages[kind] = {**gone, **stages[kind]}
    corrected_by = {node: in_force(results, node, boot) for node in measuring if node not in idle}
    return Due(
        plan=OTHER if plan_is_due(plan, results) else None,
        instruments=node_artefacts_due(hashes.instruments, "instruments", "instruments", results, requested),
        idle=idle,
        idle_after=idle_after_due(hashes, plan, results, measuring, known),
        in_force=corrected_by,
        idle_session={
            node: reason
            for node, name in corrected_by.items()
            if name != IDLE and (reason := idle_due(calibration_of(results, node) / f"{name}.json", hashes.idle[node]))
        },
        **stages,
        runs=runs,
        blocks=blocks,
    )


def _cells(study: MeasuredStudy, runs: Iterable[str]) -> list[Cell]:
    """Return the cells of some runs, which are named `<cell>/<repetition>`."""
    names = {name.rpartition("/")[0] for name in runs}
    return [cell for cell in study.cells if cell.id in names]


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return "; ".join(names[:_NAMED]) + (f"; and {more} more" if more > 0 else "")


def plan_is_due(plan: Plan, results: Path) -> bool:
    """Return whether the plan of a study differs from the plan in its results."""
    return bool(content_of(results / "plan" / "plan.json") != json.loads(json.dumps(plan)))
