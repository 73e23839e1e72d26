"""Hashes of what a study's jobs start from and do not hold: locks, and the files of the user's own models."""

from collections.abc import Callable
from pathlib import Path

from framewatt.environments import LOCK, lock_sha256
from framewatt.files import sha256_of, sha256_of_files
from framewatt.flow.job_hashes import Sources
from framewatt.jobs import environments_of
from framewatt.own_models import OwnModel
from framewatt.study import Study


def sources_of(study: Study, mode: str, root: Path) -> Sources:
    """Read them.

    Args:
        study: a study that measures.
        mode: `locked`, `host` or `container`.
        root: the project's folder, in which envs/ is.

    Raises:
        FramewattError: a file of an own model is not there.
    """
    environments: dict[str, dict[str, str | None]] = {name: {"mode": mode} for name in environments_of(study)}
    if mode != "host":
        for name, about in environments.items():
            about["lock_sha256"] = lock_sha256(root / "envs" / name / LOCK)
    used = {cell.workload for cell in study.cells}
    return Sources(environments, {name: _files_of(model) for name, model in study.own.items() if name in used})


def _files_of(model: OwnModel) -> dict[str, str | None]:
    def of(wanted: object, files: Callable[[], list[Path]], folder: Path) -> str | None:
        return sha256_of_files(files(), folder) if wanted else None

    return {
        "code": of(model.settings["factory"], model.code_files, model.folder),
        "onnx": sha256_of(model.onnx_file()) if model.settings["onnx"] else None,
        "arrays": sha256_of(model.arrays_files()[0]) if model.settings["arrays"] else None,
    }
