"""Why artefacts other than measured runs are due: weights, exports, comparisons, profiles, meters, idle power."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from framewatt.planning import jobs, paths
from framewatt.planning.job_hash import job_sha256
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.placement import NOWHERE, calibration_of
from framewatt.planning.staleness import GONE, REQUESTED, Forced, Runs, clock_in, content_of, idle_due, stage_due
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.exporters.contract import RECORD as EXPORT_RECORD
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.prepare.stage import is_without_file
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.runs.profiling import RECORD as PROFILE_RECORD
from framewatt.runs.repeated import RECORD as REPEATED_RECORD
from framewatt.runs.timelines import RECORD as TIMELINE_RECORD
from framewatt.study.cell import Cell, run_name
from framewatt.study.records import Plan
from framewatt.study.runtimes import ONNX_RUNTIME
from framewatt.study.study import MeasuredStudy

_Start = Mapping[str, str | None]


def stages_due(hashes: JobHashes, known: Runs, results: Path, requested: Forced) -> dict[str, dict[str, str]]:
    """Return why artefacts are due, by kind: of models (`weights`, `exports`, …) by model, of profilers by cell."""
    models = jobs.trained_models_of(hashes.study)
    exported = jobs.exported_models_of(hashes.study) | jobs.quantised_models_of(hashes.study)

    def due(
        jobs_sha256: Mapping[str, str], rules: tuple[str, str], folder: str, record: str, start: Callable[[str], _Start]
    ) -> dict[str, str]:
        """Return why steps of one kind are due, by model or `<model>/<precision>`; the second rule makes the latter."""
        reasons = {}
        for name, sha256 in jobs_sha256.items():
            path = paths.below(Path(), folder, model=name, cell=name).as_posix()
            reason = stage_due(results / path / record, sha256, start(name))
            if requested(rules["/" in name], path) or reason:
                reasons[name] = reason or REQUESTED
        return reasons

    def export_start(name: str) -> _Start:
        """Return what an export starts from: weights, or the export that is quantised."""
        return known.start_of(exported[name], *(("model", name.rpartition("/")[0]) if "/" in name else ("weights",)))

    weights = due(
        hashes.weights, ("train", "train"), paths.WEIGHTS, TRAIN_RECORD, lambda name: known.start_of(models[name])
    )
    exports = due(hashes.exports, ("export", "quantise"), paths.EXPORT, EXPORT_RECORD, export_start)
    checks = due(
        hashes.checks,
        ("check_export", "check_quantised"),
        paths.CHECK,
        CHECK_RECORD,
        lambda name: known.start_of(exported[name], "model", name),
    )
    compared = jobs.parity_models_of(hashes.study)
    parity = due(
        hashes.parity,
        ("parity", "parity"),
        paths.PARITY,
        PARITY_RECORD,
        lambda name: known.start_of(compared[name]),
    )
    cells = jobs.profiled_cells_of(hashes.study) | jobs.timeline_cells_of(hashes.study)

    def cells_due(jobs_sha256: Mapping[str, str], rule: str, folder: str, record: str) -> dict[str, str]:
        """Return why runs of cells that are not measured are due."""
        return due(
            jobs_sha256,
            (rule, rule),
            folder,
            record,
            lambda name: known.start_of(cells[name], *_started_from(cells[name])),
        )

    timelines = cells_due(hashes.timelines, "timeline", paths.TIMELINE, TIMELINE_RECORD)
    repeated = cells_due(hashes.repeated, "repeat_operators", paths.REPEATED, REPEATED_RECORD)
    # Which operators are repeated is chosen by the timeline.
    chosen_again = {name: "after another timeline" for name in timelines if name in hashes.repeated}
    return {
        **{"weights": weights, "exports": exports, "checks": checks, "parity": parity},
        "profiles": cells_due(hashes.profiles, "profile_run", paths.PROFILED, PROFILE_RECORD),
        **{"timelines": timelines, "repeated": {**chosen_again, **repeated}},
    }


def lost(study: MeasuredStudy, cells: Collection[Cell], results: Path) -> dict[str, dict[str, str]]:
    """Return `weights`, `exports` and `checks` of what runs start from, where its record is here and its file is gone.

    Results that were carried from another machine hold no such files. Those that no run needs are not missed.

    Args:
        study: the study.
        cells: of the runs that are due.
        results: results/<study>.
    """
    exported = jobs.exported_models_of(study) | jobs.quantised_models_of(study)
    exports: dict[str, str] = {}
    wanted = [cell.export for cell in cells if cell.engine == ONNX_RUNTIME]
    # A quantised export is made of the plain one.
    for name in [*wanted, *(name.rpartition("/")[0] for name in wanted if "/" in name)]:
        repeated = name in wanted or any(other.startswith(f"{name}/") for other in exports)
        if (
            name in exported
            and repeated
            and is_without_file(paths.below(results, paths.EXPORT, model=name) / EXPORT_RECORD)
        ):
            exports[name] = GONE
    models = {cell.model for cell in cells if cell.engine != ONNX_RUNTIME and cell.phase == "infer"}
    models |= {name for name in exports if "/" not in name}
    weights = {
        name: GONE
        for name in sorted(models)
        if is_without_file(paths.below(results, paths.WEIGHTS, model=name) / TRAIN_RECORD)
    }
    # The check names the file that runs start from.
    return {"weights": weights, "exports": exports, "checks": exports}


def _started_from(cell: Cell) -> tuple[str, ...]:
    """Return what the work of a cell starts from, in the form of Runs.start_of."""
    if cell.engine == ONNX_RUNTIME:
        return ("model", cell.export)
    return ("weights",) if cell.phase == "infer" else ()


IDLE = "idle"
"""Name of the file of a node's idle power before the runs, without its suffix."""

Boot = Callable[[str, Mapping[str, Any]], str | None]
"""From a node and a record of its idle power: None if the record is from the present boot, else the boot's name."""


def node_artefacts_due(
    jobs_sha256: Mapping[str, str], name: str, rule: str, results: Path, requested: Forced
) -> dict[str, str]:
    """Return why something that is measured on every node before the runs is due, by node.

    Args:
        jobs_sha256: hash of its job, by node.
        name: name of its file, without the suffix.
        rule: name of the rule that makes it.
        results: results/<study>.
        requested: see due.due_of.
    """
    reasons = {}
    for node, sha256 in jobs_sha256.items():
        path = calibration_of(results, node) / f"{name}.json"
        reason = idle_due(path, sha256)
        if not reason and requested(rule, path.relative_to(results).as_posix()):
            reason = REQUESTED
        if reason:
            reasons[node] = reason
    return reasons


def idle_after_due(
    hashes: JobHashes, plan: Plan, results: Path, measuring: Collection[str], known: Runs
) -> dict[str, str]:
    """Return why the idle power after the runs is due, by node.

    Args:
        hashes: of all jobs.
        plan: the study's.
        results: results/<study>.
        measuring: nodes with runs that are due.
        known: the runs that were read.
    """
    reasons = dict.fromkeys(measuring, "after other runs")
    for node, sha256 in hashes.idle.items():
        path = calibration_of(results, node) / "idle_after.json"
        if node not in reasons and (
            reason := idle_due(path, idle_after_sha256(sha256, results, plan, node, known.clock_of))
        ):
            reasons[node] = reason
    return reasons


def in_force(results: Path, node: str, boot: Boot) -> str:
    """Return the name of the file with the idle power of a node's present boot. Every later boot has its own file.

    Args:
        results: results/<study>.
        node: alias.
        boot: see due.due_of.
    """
    name, folder = IDLE, calibration_of(results, node)
    for path in (folder / f"{IDLE}.json", *sorted(folder.glob(f"{IDLE}_[0-9a-f]*.json"))):
        record = content_of(path) if path.stem != "idle_after" else None
        if record is None:
            continue
        if (now := boot(node, record)) is None:
            return path.stem
        name = f"{IDLE}_{now}"
    return name


def idle_after_sha256(
    idle_sha256: str,
    results: Path,
    plan: Plan,
    node: str = NOWHERE,
    clock_of: Callable[[Path], tuple[Any, ...]] = clock_in,
) -> str:
    """Return the hash of the idle power after the runs: of how it is read, and of the runs before it.

    Args:
        idle_sha256: see JobHashes.idle.
        results: results/<study>.
        plan: the study's plan.
        node: alias; the runs are those that this node measured.
        clock_of: the clock of a run's record by the run's folder, see staleness.clock_in.
    """
    there = (entry for entry in plan["order"] if entry.get("node", NOWHERE) == node)
    folders = (results / "measure" / run_name(entry) for entry in there)
    return job_sha256({"idle": idle_sha256, "runs": [clock for folder in folders for clock in clock_of(folder)]})
