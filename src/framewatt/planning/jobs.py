"""The jobs that the workflow passes to its scripts, made from the study alone, without reading anything.

A job is a rule's parameter: a change of any field makes Snakemake run the rule again, so a job has only fields that
should have this effect.
"""

from collections.abc import Iterable
from typing import Any

from framewatt.planning.placement import NOWHERE
from framewatt.runs.batches import AHEAD_GB, PASSES, always_ahead
from framewatt.study.cell import (
    MEASURE,
    PROFILE,
    REPEAT,
    TIMELINE,
    Cell,
    environment_of,
    profiled_cells,
    repeated_cells,
    timeline_cells,
)
from framewatt.study.factors import NATIVE
from framewatt.study.options import OPTIONS, QUANTISED
from framewatt.study.runtimes import FRAMEWORKS, ONNX, ONNX_RUNTIME
from framewatt.study.study import FileStudy, MeasuredStudy, Study
from framewatt.study.training import FINE_TUNED, TRAINED, training_of, weights_of
from framewatt.workloads.contract import EVALUATED, Spec
from framewatt.workloads.registry import DETECTORS, PARTS

TRAINING_TIMEOUT_S = 24 * 3600
EXPORT_TIMEOUT_S = 3600

STEP_S = 2
"""Default of the approximate seconds of each known load."""


def models_of(study: Study) -> dict[str, Cell]:
    """Return one cell for every model that inference needs, by the model's name."""
    return {cell.model: cell for cell in study.measured_cells if cell.phase == "infer"}


def trained_models_of(study: Study) -> dict[str, Cell]:
    """Return one cell of every model with weights from a framework: all but ONNX files that the user supplies."""
    return {name: cell for name, cell in models_of(study).items() if cell.framework != ONNX}


def exported_models_of(study: Study) -> dict[str, Cell]:
    """Return one cell for every model that must be exported, by the model's name."""
    return {cell.model: cell for cell in study.measured_cells if cell.engine == ONNX_RUNTIME}


def parity_models_of(study: Study) -> dict[str, Cell]:
    """Return one cell for every model that is compared framework by framework, by the model's name.

    None unless the study asks for it. A user's own models are no pairs, nor is a part of a model, which is not trained.
    """
    if not study.settings.get("parity"):
        return {}
    cells = {cell.model: cell for cell in study.measured_cells if cell.framework in FRAMEWORKS}
    return {
        name: cells[name]
        for name in sorted(cells, key=lambda name: (name, FRAMEWORKS.index(cells[name].framework)))
        if cells[name].workload not in {*study.own, *PARTS}
    }


def references_of(study: Study) -> dict[str, str]:
    """By model, that of the same workload and data set in another framework which it is compared with: the first."""
    models = parity_models_of(study)
    first: dict[tuple[str, str], str] = {}
    for name in sorted(models, key=lambda name: FRAMEWORKS.index(models[name].framework)):
        first.setdefault((models[name].workload, models[name].dataset), name)
    references = {name: first[cell.workload, cell.dataset] for name, cell in models.items()}
    return {name: reference for name, reference in references.items() if name != reference}


def quantised_models_of(study: Study) -> dict[str, Cell]:
    """Return one cell for every quantised model, by its folder `<model>/<precision>`."""
    return {cell.export: cell for cell in study.measured_cells if cell.precision in QUANTISED}


def _model_job(study: MeasuredStudy, cell: Cell, attempt: int) -> dict[str, Any]:
    return {
        "model": cell.workload,
        "device": study.device,
        "provider": NATIVE,
        "threads": study.threads,
        "seed": study.settings["seed"],
        "batch_size": training_of(study.settings, cell.workload)["batch_size"],
        "training": _training(study, cell),
        "weights": weights_of(study.settings, cell.workload),
        "attempt": attempt,
        **_own(study, cell, cell.framework),
    }


def _training(study: MeasuredStudy, cell: Cell) -> dict[str, Any]:
    """How a cell's model is trained, without the optimizer (an option) and the batch size (a field of the job)."""
    left_out = ("optimizer", "batch_size")
    settings = training_of(study.settings, cell.workload).items()
    return {key: value for key, value in settings if key not in left_out and value is not None}


def _own(study: MeasuredStudy, cell: Cell, engine: str) -> dict[str, Any]:
    """Fields that an engine needs to build an own model, or to read its outputs; empty for any other model."""
    own = study.own.get(cell.workload)
    if own is None:
        return {}
    reading = {"outputs": own.settings["outputs"], "classes": own.settings["classes"]}
    default = {"outputs": {}, "classes": Spec.classes}
    built = {"own": own.job(engine)} if engine in own.settings["factory"] else {}
    return built | {key: value for key, value in reading.items() if value != default[key]}


def train_job(study: MeasuredStudy, cell: Cell, attempt: int) -> dict[str, Any]:
    """Training of the weights that a cell uses."""
    optimizer = training_of(study.settings, cell.workload)["optimizer"]
    return _model_job(study, cell, attempt) | {
        "engine": cell.framework,
        "timeout_s": TRAINING_TIMEOUT_S,
        **({"options": {"optimizer": optimizer}} if optimizer != OPTIONS["optimizer"].default else {}),
    }


def export_job(study: MeasuredStudy, cell: Cell, attempt: int) -> dict[str, Any]:
    """Export of those weights to ONNX."""
    return _model_job(study, cell, attempt) | {"engine": cell.framework, "timeout_s": EXPORT_TIMEOUT_S}


def parity_job(study: MeasuredStudy, cell: Cell, attempt: int) -> dict[str, Any]:
    """What a model computes from weights that another framework has too: on the CPU, whatever the study measures on."""
    return train_job(study, cell, attempt) | {"device": "cpu", "timeout_s": EXPORT_TIMEOUT_S}


def check_job(study: MeasuredStudy, cell: Cell, attempt: int) -> dict[str, Any]:
    """Check of the exported file, always on the CPU provider, which every build of ONNX Runtime has."""
    return _model_job(study, cell, attempt) | {
        "engine": ONNX_RUNTIME,
        "provider": "cpu",
        "batch_size": EVALUATED,
        "tolerance": study.settings["export"]["agreement_tolerance"],
        "timeout_s": EXPORT_TIMEOUT_S,
    }


def quantise_job(study: MeasuredStudy, cell: Cell, precision: str, attempt: int) -> dict[str, Any]:
    """Quantisation of the exported file."""
    return _model_job(study, cell, attempt) | {
        "engine": ONNX_RUNTIME,
        "provider": "cpu",
        "options": {"precision": precision},
        "timeout_s": EXPORT_TIMEOUT_S,
    }


def check_quantised_job(study: MeasuredStudy, cell: Cell, precision: str, attempt: int) -> dict[str, Any]:
    """Check of the quantised file, with scores that may deviate from its source."""
    return check_job(study, cell, attempt) | {"options": {"precision": precision}, "tolerance": None}


def _on(node: str) -> dict[str, str]:
    """The field of a job that is one node's; none without nodes, so that what was measured before stays."""
    return {} if node == NOWHERE else {"node": node}


def instruments_job(study: MeasuredStudy, node: str = NOWHERE) -> dict[str, Any]:
    """Finding the available meters of a node, and what disturbs a measurement there."""
    settings = {name: study.settings[name] for name in ("instruments", "preflight")}
    return {**settings, "device": study.device, **_on(node)}


def idle_job(study: MeasuredStudy, node: str = NOWHERE) -> dict[str, Any]:
    """Calibration: idle power of a node, and how it is read."""
    settings = study.settings
    step_s = settings["calibration"].get("step_s", STEP_S)
    return {
        "instruments": settings["instruments"],
        "idle_s": settings["calibration"]["idle_s"],
        "set_governor": settings["preflight"]["set_governor"],
        "device": study.device,
        # The default is left out, so that calibrations older than this setting stay valid.
        **({} if step_s == STEP_S else {"step_s": step_s}),
        **_on(node),
    }


def measure_job(study: MeasuredStudy, cell: Cell, repetition: int, attempt: int, node: str = NOWHERE) -> dict[str, Any]:
    """One measured run; its `purpose` marks it, and no run of another purpose gets into a frame of measurements."""
    settings = study.settings
    options = cell.changed
    window = dict(settings["window"])
    if window["passes"] == PASSES:
        del window["passes"]
    # The default is left out, so that runs from before this setting stay valid.
    ahead = {"ahead_gb": window.pop("ahead_gb", AHEAD_GB)}
    if ahead["ahead_gb"] == AHEAD_GB or always_ahead(options):
        ahead = {}
    phase: dict[str, Any] = {
        "window": window | ahead,
        "training": {},
        "weights": weights_of(study.settings, cell.workload),
    }
    if cell.phase == "train":
        training = _training(study, cell)
        rate = options.pop("learning_rate", training["learning_rate"])
        phase = {"window": ahead, "training": {**training, "learning_rate": rate}, "weights": None}
    threads = options.pop("threads", study.threads)
    return {
        "purpose": MEASURE,
        "study": study.name,
        "cell_id": cell.id,
        "cell": cell.to_dict(),
        "phase": cell.phase,
        "engine": cell.engine,
        "model": cell.workload,
        "provider": cell.provider,
        "batch_size": cell.batch_size,
        "repetition": repetition,
        "attempt": attempt,
        "device": study.device,
        "threads": threads,
        # Every repetition trains from other initial weights, which a rerun reproduces.
        "seed": settings["seed"] + repetition,
        "instruments": settings["instruments"],
        "cool_down": settings["cool_down"],
        "preflight": settings["preflight"],
        "timeout_s": settings["timeout_s"],
        **phase,
        # Left out where all options are at their defaults, so that a new option keeps finished runs valid.
        **({"options": options} if options else {}),
        "disturbance": settings["disturbance"],
        **_own(study, cell, cell.engine),
        **_on(node),
    }


_UNMEASURED = ("instruments", "cool_down", "preflight", "disturbance")
"""Fields of a measured run's job that say how it is measured, and in which state of the machine."""


def profiled_cells_of(study: Study) -> dict[str, Cell]:
    """The cells that are profiled, by name."""
    return profiled_cells(study.settings, study.measured_cells)


def profile_job(study: MeasuredStudy, cell: Cell, attempt: int, node: str = NOWHERE) -> dict[str, Any]:
    """The profiled run of a cell: the work of its first repetition, and `profile`, the part that is profiled."""
    measured = measure_job(study, cell, 1, attempt, node)
    work = {name: value for name, value in measured.items() if name not in _UNMEASURED}
    return {**work, "purpose": PROFILE, "profile": study.settings["profile"]}


def timeline_cells_of(study: Study) -> dict[str, Cell]:
    """The cells that have a timeline, by name."""
    return timeline_cells(study.settings, study.measured_cells)


def timeline_job(study: MeasuredStudy, cell: Cell, attempt: int, node: str = NOWHERE) -> dict[str, Any]:
    """The timeline of a cell: the work of its first repetition, and the instruments that are read meanwhile."""
    measured = measure_job(study, cell, 1, attempt, node)
    work = {name: value for name, value in measured.items() if name not in _UNMEASURED}
    return {**work, "purpose": TIMELINE, "instruments": measured["instruments"]}


def repeated_cells_of(study: Study) -> dict[str, Cell]:
    """Return the cells with operators that are repeated alone, by name."""
    return repeated_cells(study.settings, study.measured_cells)


def repeated_job(study: MeasuredStudy, cell: Cell, attempt: int, node: str = NOWHERE) -> dict[str, Any]:
    """Repeating a cell's operators: the program of its timeline, and `operators`, how many of them."""
    return {
        **timeline_job(study, cell, attempt, node),
        "purpose": REPEAT,
        "operators": study.settings["repeated_operators"],
    }


def environments_of(study: Study) -> Iterable[str]:
    """Return the names of the environments that the study needs."""
    needed = {cell.environment(study.device) for cell in study.measured_cells}
    needed |= {environment_of(cell.framework, study.device) for cell in study.measured_cells}
    if exported_models_of(study):
        needed.add(environment_of(ONNX_RUNTIME, study.device, "cpu"))
    return sorted(needed)


_LEVELS = ("workload", "batch_size")


def detects(study: Study) -> bool:
    """Whether a study trains the weights of a detector, not measured: measured runs do not store what they train."""
    detectors = {cell.workload for cell in trained_models_of(study).values()} & {*DETECTORS}
    return any(weights_of(study.settings, workload) in (TRAINED, FINE_TUNED) for workload in detectors)


def shows_training(study: Study) -> bool:
    """Whether a study trains several models, or one at several batch sizes; of files, whether they hold epochs."""
    if isinstance(study, FileStudy):
        return study.trains
    trained = [levels for cell in study.cells if (levels := cell.to_dict())["phase"] == "train"]
    return any(len({cell[name] for cell in trained}) > 1 for name in _LEVELS)
