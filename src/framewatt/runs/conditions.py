"""The conditions of a run, as requested and as in force: its options, caches, and environment variables.

Options: an engine reads back the levels that are in force, and a run is invalid where they are not the requested ones.

Caches: the option `caches` names the state in which a run starts. In georgiou2022 each run had the caches that the run
before it had left: its runs of NCF inference in TensorFlow took 336 s, and ten runs later 20 s.

Variables: by variables of the environment a user changes how libraries compute, so a record has those that were set.
"""

import math
import sysconfig
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from framewatt.host.memory import files_below, forget, in_memory_b
from framewatt.study.options import COLD, OPTIONS, WARM, Level
from framewatt.study.runtimes import runtime_of

RECORDED_SINCE = 6
"""The schema version of records that have `workload.options`."""

_CACHES = "caches"
"""The option that is in force before a run's process starts; the record has its state apart, see `prepared`."""

_UNREAD_BY_NODE = ("threads", "graph_optimization")
"""Options with a level that ONNX Runtime for Node.js cannot report. Every other library must report all levels."""

_SAME = 1e-6
"""How far a number may be off, relative to it: frameworks store learning rates in single precision."""

Levels = Mapping[str, Mapping[str, Level | None]]
"""By option, the level `requested` and the one `in_force`, None where the engine does not report it."""


def requested(job: Mapping[str, Any]) -> dict[str, Level]:
    """Return the requested level of every option of a run.

    These are the options that its engine acts on in that phase, and those that its cell names. Not among them are
    defaults that leave the matter to the framework, and a learning rate that follows a schedule: the rates of a
    schedule are in `workload.in_force.schedule`.

    Args:
        job: `engine`, `phase`, `options` other than the default, `threads`, and `training`, see planning.jobs.
    """
    named, training = job.get("options", {}), job["training"] or {}
    rate = None if training.get("schedule") else training.get("learning_rate")
    elsewhere = {"threads": job["threads"], "learning_rate": rate}
    levels = {}
    for name, option in OPTIONS.items():
        acted_on = option.is_of(job["phase"]) and name in runtime_of(job["engine"]).honours and not option.leaves_open
        level = named.get(name, elsewhere.get(name, option.default) if acted_on else None)
        if level is not None and name != _CACHES:
            levels[name] = level
    return levels


def in_force(wanted: Mapping[str, Level], reported: Mapping[str, Level | None]) -> dict[str, dict[str, Level | None]]:
    """Return what a record has of its options.

    Args:
        wanted: see `requested`.
        reported: levels in force by option; None where a library has no way to report it.

    Returns:
        By option, `requested` and `in_force`; without the latter where nothing was reported.
    """
    return {
        name: {"requested": level, **({"in_force": reported[name]} if name in reported else {})}
        for name, level in wanted.items()
    }


def ignored(levels: Levels) -> Iterator[str]:
    """Yield for every option that was not in force as requested why the run is invalid.

    Args:
        levels: `workload.options` of a record.
    """
    unread = _UNREAD_BY_NODE if levels.get("client", {}).get("requested") == "node" else ()
    for name, level in levels.items():
        wanted, reported = level["requested"], level.get("in_force")
        if reported is None:
            if name not in unread and ("in_force" in level or wanted != OPTIONS[name].default):
                yield f"option {name}: {wanted} was requested, and the engine does not report what was in force"
        elif not _same(wanted, reported):
            yield f"option {name}: {wanted} was requested, {reported} was in force"


def unconfirmed(levels: Levels) -> Iterator[str]:
    """Yield a flag for every option with a level other than the default that a library has no way to report.

    Args:
        levels: `workload.options` of a record.
    """
    for name, level in levels.items():
        if level.get("in_force", "") is None and level["requested"] != OPTIONS[name].default:
            yield f"option {name}: {level['requested']} was requested; the library does not report what was in force"


def _same(one: Level | None, other: Level | None) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_SAME)
    return one == other


MOST_LEFT_B = 64 << 20
"""Bytes of a run's files that may still be in memory where its caches are called cold: what other processes hold, such
as this one. They are read within a second even from a slow disk."""

_OWN_ALONE = (
    "this user may have only the run's own files forgotten (data, weights, libraries of its environment); others that "
    "it reads may have been in memory"
)

_ONE_PASS_S = 1e-9


def prepared(
    job: Mapping[str, Any], python: Path, pass_over: Callable[[Mapping[str, Any]], str | None]
) -> dict[str, Any] | None:
    """Put the caches into the state that a job names.

    Args:
        job: of the run.
        python: the interpreter of the engine's environment.
        pass_over: runs a job without measuring it; returns why it failed, or None.

    Returns:
        For the record: `state`; when cold, the files that the run may read (`files_b`), what of them was in memory
        before (`found_b`) and after (`left_b`), and whether the kernel had a request to forget all other files, too
        (`all_files`); when warm, `failed`, why the pass failed, or None. None where the job names no state.
    """
    state = job.get("options", {}).get("caches")
    if state == WARM:
        return {"state": WARM, "failed": pass_over(once(job))}
    if state == COLD:
        paths = sorted(set(files_below(files_of(job, python))))
        before_b, files_b = in_memory_b(paths)
        all_files = forget(paths)
        left_b, _ = in_memory_b(paths)
        return {"state": COLD, "files_b": files_b, "found_b": before_b, "left_b": left_b, "all_files": all_files}
    return None


def once(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job of an unmeasured pass: the test set once, at no rate of requests, or one epoch."""
    options = {name: level for name, level in job.get("options", {}).items() if name != "load"}
    changed: dict[str, Any] = {"options": options}
    if job["phase"] == "train":
        # A schedule may not fit into an epoch, and no step takes longer by another rate.
        training = {name: value for name, value in job["training"].items() if name != "schedule"}
        changed["training"] = {**training, "epochs": 1}
    else:
        window = {name: value for name, value in job["window"].items() if name != "passes"}
        changed["window"] = {**window, "minimum_s": _ONE_PASS_S}
    return {**job, **changed}


def files_of(job: Mapping[str, Any], python: Path) -> list[Path]:
    """Return the files and folders that a run reads: its data, its weights, and the libraries of its environment."""
    named = [Path(job["data"]), *([Path(job["artefact"])] if job["artefact"] else [])]
    # A virtual environment has the standard library of the interpreter that it was made with, as this one does.
    return [*named, python.parents[1] / "lib", Path(sysconfig.get_path("stdlib"))]


def cache_flags(caches: Mapping[str, Any] | None) -> list[str]:
    """Return the flags of a run with caches that may not be in the state that its cell names.

    Args:
        caches: of its record; None where the cell names no state.
    """
    if caches is None:
        return []
    if caches["state"] == WARM:
        return [f"caches: the pass that was to warm them failed: {caches['failed']}"] if caches["failed"] else []
    if caches["left_b"] <= MOST_LEFT_B:
        # Libraries of a host's interpreter may be in other folders, such as those that a user installed for himself.
        return [] if caches["all_files"] else [f"caches: {_OWN_ALONE}"]
    left, before = (round(caches[name] / 2**20) for name in ("left_b", "found_b"))
    return [
        f"caches: {left} MiB of the files that it may read were still in memory, of {before}; it did not begin cold"
    ]


COMPUTING = (
    "ATEN_CPU_CAPABILITY",
    "CUDA_LAUNCH_BLOCKING",
    "DNNL_MAX_CPU_ISA",
    "GLIBC_TUNABLES",
    "GOMP_CPU_AFFINITY",
    "GOMP_SPINCOUNT",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "MALLOC_CONF",
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MKL_CBWR",
    "MKL_DYNAMIC",
    "MKL_ENABLE_INSTRUCTIONS",
    "MXNET_ENGINE_TYPE",
    "MXNET_ONEDNN_ENABLED",
    "MXNET_SUBGRAPH_BACKEND",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_DYNAMIC",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OMP_SCHEDULE",
    "OMP_WAIT_POLICY",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "ONEDNN_MAX_CPU_ISA",
    "OPENBLAS_CORETYPE",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TF_CUDNN_USE_AUTOTUNE",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_GPU_ALLOCATOR",
    "TF_XLA_FLAGS",
    "TORCHINDUCTOR_FREEZING",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "XLA_FLAGS",
)
"""Names from the manuals of glibc, GCC's and LLVM's OpenMP, oneDNN, MKL, OpenBLAS, CUDA, PyTorch, TensorFlow and MXNet.

Numbers of threads are not among them, since framewatt sets those itself. Variables that a run's cell sets are not
recorded either.
"""

_PATH = "/"


def set_in(environment: Mapping[str, str], by_cell: Collection[str] = ()) -> dict[str, str]:
    """Return those of COMPUTING that are set, with their values; a value that holds a path is recorded as `set`.

    Args:
        environment: of the measured process.
        by_cell: names of the variables that framewatt set for the cell.
    """
    values = {name: environment[name] for name in COMPUTING if environment.get(name) and name not in by_cell}
    return {name: "set" if _PATH in value else value for name, value in values.items()}


def variable_flags(variables: Mapping[str, str]) -> list[str]:
    """Return the flag of the variables of a run; an empty list where none was set.

    Args:
        variables: of `set_in`.
    """
    values = ", ".join(f"{name}={value}" for name, value in variables.items())
    return [f"variables that change how libraries compute were set: {values}"] if values else []
