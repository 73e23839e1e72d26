"""The state of the caches that a run begins with, which the option `caches` names: put into it, and told.

georgiou2022 let each run find what the one before had left: its runs of NCF inference in TensorFlow took 336 s, and ten
runs later 20 s.
"""

import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from framewatt.host.memory import files_below, forget, in_memory_b
from framewatt.study.options import COLD, WARM

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
        before (`found_b`) and after (`left_b`), and whether the kernel was asked to forget all other files, too
        (`all_files`); when warm, `failed`, why the pass failed, or None. None where the job names no state.
    """
    state = job.get("options", {}).get("caches")
    if state == WARM:
        return {"state": WARM, "failed": pass_over(once(job))}
    if state == COLD:
        paths = sorted(set(files_below(files_of(job, python))))
        found_b, files_b = in_memory_b(paths)
        all_files = forget(paths)
        left_b, _ = in_memory_b(paths)
        return {"state": COLD, "files_b": files_b, "found_b": found_b, "left_b": left_b, "all_files": all_files}
    return None


def once(job: Mapping[str, Any]) -> dict[str, Any]:
    """The job of an unmeasured pass: the test set once, at no rate of requests, or one epoch."""
    options = {name: level for name, level in job.get("options", {}).items() if name != "load"}
    changed: dict[str, Any] = {"options": options}
    if job["phase"] == "train":
        # A schedule may not fit into an epoch, and no step takes longer by another rate.
        told = {name: value for name, value in job["training"].items() if name != "schedule"}
        changed["training"] = {**told, "epochs": 1}
    else:
        window = {name: value for name, value in job["window"].items() if name != "passes"}
        changed["window"] = {**window, "minimum_s": _ONE_PASS_S}
    return {**job, **changed}


def files_of(job: Mapping[str, Any], python: Path) -> list[Path]:
    """The files and folders that a run reads: its data, its weights, and the libraries of its environment."""
    named = [Path(job["data"]), *([Path(job["artefact"])] if job["artefact"] else [])]
    # A virtual environment has the standard library of the interpreter that it was made with, as this one does.
    return [*named, python.parents[1] / "lib", Path(sysconfig.get_path("stdlib"))]


def flags_of(caches: Mapping[str, Any] | None) -> list[str]:
    """What a reader should know of a run whose caches may not be as its cell says.

    Args:
        caches: of its record; None where the cell names no state.
    """
    if caches is None:
        return []
    if caches["state"] == WARM:
        return [f"caches: the pass that was to warm them failed: {caches['failed']}"] if caches["failed"] else []
    if caches["left_b"] <= MOST_LEFT_B:
        # Libraries of a host's interpreter may lie elsewhere, as those that a user installed for himself.
        return [] if caches["all_files"] else [f"caches: {_OWN_ALONE}"]
    left, found = (round(caches[name] / 2**20) for name in ("left_b", "found_b"))
    return [f"caches: {left} MiB of the files that it may read were still in memory, of {found}; it did not begin cold"]
