"""What a study still has to make, and why: artefacts that are missing, failed, or were made with other settings.

Snakemake's own triggers (file times, parameters of the last call) do not decide whether to measure or train again:
they are lost when a folder is copied, and once a step is made again, its later steps no longer see the change. What is
due is decided here, by content: an artefact that does not carry the hash of the study's present job is made again.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from framewatt.planning import jobs
from framewatt.planning.blocks import Blocks, blocks_of
from framewatt.planning.job_hash import job_sha256
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.placement import NOWHERE, calibration_of
from framewatt.planning.staleness import (
    NOT_MADE,
    NOT_MEASURED,
    OTHER,
    Runs,
    clock_in,
    content_of,
    of_idle,
    of_stage,
)
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.exporters.contract import RECORD as EXPORT_RECORD
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.runs.profiling import RECORD as PROFILE_RECORD
from framewatt.runs.repeated import RECORD as REPEATED_RECORD
from framewatt.runs.timelines import RECORD as TIMELINE_RECORD
from framewatt.study.cell import Cell, run_name
from framewatt.study.runtimes import ONNX_RUNTIME

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
"""The rules whose jobs are in Snakemake's graph only if they are due; such a job always runs."""

IDLE = "idle"
"""Name of the file of a node's idle power before the runs, without its ending."""

_ASKED = "asked for"

_NAMED = 5
"""Of more that is made again for one reason, the others are counted."""

_Start = Mapping[str, str | None]

Boot = Callable[[str, Mapping[str, Any]], str | None]
"""Of a node and a record of its idle power: None where that is of the node's present boot, else a name of this one."""

Asked = Callable[[str, str], bool]
"""Whether the user forced an artefact to be made again, by its rule and its path below results/<study>."""


@dataclass(frozen=True)
class Due:
    """What is due, each with the reason in a few words.

    Attributes:
        plan: None where it is not due.
        instruments, idle, idle_after: of the meters, and of idle power before and after the runs, by node.
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
        """How many of the planned runs are due, and why; None where none are.

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
            f"{count} due up to the look after block {self.blocks.looks[0]}: {why}; then block by block, "
            f"{len(self.runs) - len(first)} more at most"
        )

    def repeats(self) -> list[str]:
        """What is there and is made again, a line a reason."""
        first = self.blocks.within(self.runs, self.blocks.looks[:1])
        kinds = (
            ("weights of ", self.weights),
            ("export of ", self.exports),
            ("check of ", self.checks),
            ("comparison of ", self.parity),
            ("", {name.replace("/", ", repetition "): reason for name, reason in first.items()}),
        )
        by_reason: dict[str, list[str]] = {}
        for kind, found in kinds:
            for name, reason in found.items():
                if reason not in (NOT_MADE, NOT_MEASURED):
                    by_reason.setdefault(reason, []).append(f"{kind}{name}")
        return [f"again, {reason}: {_some(names)}" for reason, names in by_reason.items()]


def due_of(
    hashes: JobHashes,
    plan: Mapping[str, Any],
    results: Path,
    resources: Path,
    asked: Asked,
    boot: Boot = lambda node, idle: None,
) -> Due:
    """Find what is due in a study that measures.

    Args:
        hashes: of all jobs, for the present study file.
        plan: its plan.
        results: results/<study>.
        resources: the folder of data and environments.
        asked: what the user forced to be made again.
        boot: the present boot of a node, where an idle power is of another one.
    """
    known = Runs(hashes, results, resources)
    stages = _stages(hashes, known, results, asked)
    idle = _of_nodes(hashes.idle, IDLE, "calibrate", results, asked)
    made_again = {*stages["exports"], *stages["checks"]}
    runs = {}
    for entry in plan["order"]:
        name = run_name(entry)
        made = {f"measure/{name}/{file}" for file in ("run.json", "power.parquet", "events.parquet")}
        reason = known.of(results / "measure" / name, entry["cell"], entry["job_sha256"], made_again)
        if not reason and any(asked("measure", path) for path in made):
            reason = _ASKED
        if reason or hashes.node_of(entry["repetition"]) in idle:
            runs[name] = reason or "corrected by another idle power"
    blocks = blocks_of(hashes.study, results, runs)
    runs = blocks.within(runs, blocks.looks[-1:])
    measuring = {hashes.node_of(int(name.rpartition("/")[2])) for name in runs}
    in_force = {node: _in_force(results, node, boot) for node in measuring if node not in idle}
    return Due(
        plan=OTHER if plan_is_due(plan, results) else None,
        instruments=_of_nodes(hashes.instruments, "instruments", "instruments", results, asked),
        idle=idle,
        idle_after=_idle_after(hashes, plan, results, measuring, known),
        in_force=in_force,
        idle_session={
            node: reason
            for node, name in in_force.items()
            if name != IDLE and (reason := of_idle(calibration_of(results, node) / f"{name}.json", hashes.idle[node]))
        },
        **stages,
        runs=runs,
        blocks=blocks,
    )


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return "; ".join(names[:_NAMED]) + (f"; and {more} more" if more > 0 else "")


def _of_nodes(made: Mapping[str, str], name: str, rule: str, results: Path, asked: Asked) -> dict[str, str]:
    """What is due of what is measured of every node before the runs, by node.

    Args:
        made: hash of its job, by node.
        name: of its file, without the ending.
        rule: that makes it.
        results: results/<study>.
        asked: see due_of.
    """
    found = {}
    for node, sha256 in made.items():
        path = calibration_of(results, node) / f"{name}.json"
        reason = of_idle(path, sha256)
        if not reason and asked(rule, path.relative_to(results).as_posix()):
            reason = _ASKED
        if reason:
            found[node] = reason
    return found


def _idle_after(
    hashes: JobHashes, plan: Mapping[str, Any], results: Path, measuring: Collection[str], known: Runs
) -> dict[str, str]:
    """Why the idle power after the runs is due, by node.

    Args:
        hashes: of all jobs.
        plan: the study's.
        results: results/<study>.
        measuring: nodes of which runs are due.
        known: the runs that were looked at.
    """
    found = dict.fromkeys(measuring, "after other runs")
    for node, sha256 in hashes.idle.items():
        path = calibration_of(results, node) / "idle_after.json"
        if node not in found and (
            reason := of_idle(path, idle_after_sha256(sha256, results, plan, node, known.clock_of))
        ):
            found[node] = reason
    return found


def _in_force(results: Path, node: str, boot: Boot) -> str:
    """Name of the file of the idle power of a node's present boot: after another one, it has a file of its own.

    Args:
        results: results/<study>.
        node: whose.
        boot: see due_of.
    """
    name, folder = IDLE, calibration_of(results, node)
    for path in (folder / f"{IDLE}.json", *sorted(folder.glob(f"{IDLE}_[0-9a-f]*.json"))):
        there = content_of(path) if path.stem != "idle_after" else None
        if there is None:
            continue
        if (now := boot(node, there)) is None:
            return path.stem
        name = f"{IDLE}_{now}"
    return name


def _stages(hashes: JobHashes, known: Runs, results: Path, asked: Asked) -> dict[str, dict[str, str]]:
    """What is due of `weights`, `exports`, `checks` and `parity`, by model, and of what is not measured, by cell."""
    models = jobs.trained_models_of(hashes.study)
    exported = jobs.exported_models_of(hashes.study) | jobs.quantised_models_of(hashes.study)

    def due(
        made: Mapping[str, str], rules: tuple[str, str], folder: str, record: str, start: Callable[[str], _Start]
    ) -> dict[str, str]:
        """What is due of one kind of step, by model or `<model>/<precision>`; the second rule makes the latter."""
        found = {}
        for name, sha256 in made.items():
            path = folder.format(name)
            reason = of_stage(results / path / record, sha256, start(name))
            if asked(rules["/" in name], path) or reason:
                found[name] = reason or _ASKED
        return found

    def made_from(name: str) -> _Start:
        """What an export starts from: weights, or the export that is quantised."""
        return known.start_of(exported[name], *(("model", name.rpartition("/")[0]) if "/" in name else ("weights",)))

    weights = due(
        hashes.weights, ("train", "train"), "train/{}", TRAIN_RECORD, lambda name: known.start_of(models[name])
    )
    exports = due(hashes.exports, ("export", "quantise"), "export/{}/onnx", EXPORT_RECORD, made_from)
    checks = due(
        hashes.checks,
        ("check_export", "check_quantised"),
        "export/{}/check",
        CHECK_RECORD,
        lambda name: known.start_of(exported[name], "model", name),
    )
    compared = jobs.parity_models_of(hashes.study)
    parity = due(
        hashes.parity,
        ("parity", "parity"),
        "parity/{}/sheet",
        PARITY_RECORD,
        lambda name: known.start_of(compared[name]),
    )
    cells = jobs.profiled_cells_of(hashes.study) | jobs.timeline_cells_of(hashes.study)

    def of_cells(made: Mapping[str, str], rule: str, folder: str, record: str) -> dict[str, str]:
        """What is due of the runs of cells that are not measured."""
        return due(
            made, (rule, rule), folder, record, lambda name: known.start_of(cells[name], *_started_from(cells[name]))
        )

    timelines = of_cells(hashes.timelines, "timeline", "timelines/{}", TIMELINE_RECORD)
    repeated = of_cells(hashes.repeated, "repeat_operators", "repeated/{}", REPEATED_RECORD)
    # Which operators are repeated is chosen by the timeline.
    chosen_anew = {name: "after another timeline" for name in timelines if name in hashes.repeated}
    return {
        **{"weights": weights, "exports": exports, "checks": checks, "parity": parity},
        "profiles": of_cells(hashes.profiles, "profile_run", "profiled/{}", PROFILE_RECORD),
        **{"timelines": timelines, "repeated": {**chosen_anew, **repeated}},
    }


def _started_from(cell: Cell) -> tuple[str, ...]:
    """What the work of a cell starts from, as Runs.start_of has it."""
    if cell.engine == ONNX_RUNTIME:
        return ("model", cell.export)
    return ("weights",) if cell.phase == "infer" else ()


def plan_is_due(plan: Mapping[str, Any], results: Path) -> bool:
    """Whether the plan of a study differs from the one in its results."""
    return bool(content_of(results / "plan" / "plan.json") != json.loads(json.dumps(plan)))


def idle_after_sha256(
    idle_sha256: str,
    results: Path,
    plan: Mapping[str, Any],
    node: str = NOWHERE,
    clock_of: Callable[[Path], tuple[Any, ...]] = clock_in,
) -> str:
    """Hash of the idle power after the runs: of how it is read, and of the runs before it.

    Args:
        idle_sha256: see JobHashes.idle.
        results: results/<study>.
        plan: the study's plan.
        node: whose idle power it is; the runs are those that this node measured.
        clock_of: the clock of a run's record by the run's folder, see staleness.clock_in.
    """
    there = (entry for entry in plan["order"] if entry.get("node", NOWHERE) == node)
    folders = (results / "measure" / run_name(entry) for entry in there)
    return job_sha256({"idle": idle_sha256, "runs": [clock for folder in folders for clock in clock_of(folder)]})
