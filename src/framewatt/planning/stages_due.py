"""What is due of what lies before the measured runs, and beside them: weights, exports, comparisons, profiles."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from framewatt.planning import jobs
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.staleness import ASKED, GONE, Forced, Runs, of_stage
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.exporters.contract import RECORD as EXPORT_RECORD
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.prepare.stage import is_without_file
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.runs.profiling import RECORD as PROFILE_RECORD
from framewatt.runs.repeated import RECORD as REPEATED_RECORD
from framewatt.runs.timelines import RECORD as TIMELINE_RECORD
from framewatt.study.cell import Cell
from framewatt.study.runtimes import ONNX_RUNTIME
from framewatt.study.study import MeasuredStudy

_Start = Mapping[str, str | None]


def stages_due(hashes: JobHashes, known: Runs, results: Path, asked: Forced) -> dict[str, dict[str, str]]:
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
                found[name] = reason or ASKED
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
        made_again = name in wanted or any(other.startswith(f"{name}/") for other in exports)
        if name in exported and made_again and is_without_file(results / "export" / name / "onnx" / EXPORT_RECORD):
            exports[name] = GONE
    models = {cell.model for cell in cells if cell.engine != ONNX_RUNTIME and cell.phase == "infer"}
    models |= {name for name in exports if "/" not in name}
    weights = {name: GONE for name in sorted(models) if is_without_file(results / "train" / name / TRAIN_RECORD)}
    # The check says which file runs start from.
    return {"weights": weights, "exports": exports, "checks": exports}


def _started_from(cell: Cell) -> tuple[str, ...]:
    """What the work of a cell starts from, as Runs.start_of has it."""
    if cell.engine == ONNX_RUNTIME:
        return ("model", cell.export)
    return ("weights",) if cell.phase == "infer" else ()
