"""Hashes of what a study's jobs refer to by name: locks, and the files of the user's own models."""

from collections.abc import Callable
from pathlib import Path

from framewatt.base.files import sha256_of, sha256_of_files, sha256_of_names
from framewatt.environments.framework import LOCK, describe_host, lock_sha256, packages_sha256
from framewatt.planning.job_hashes import Sources
from framewatt.planning.jobs import environments_of
from framewatt.study.own_models import OwnModel
from framewatt.study.study import MeasuredStudy


def host_packages(mode: str, python: str) -> str | None:
    """Hash of the packages that the host's interpreter has now; None unless the mode is `host`.

    Args:
        mode: `locked`, `host` or `container`.
        python: path or name of the interpreter; empty is this process's own.
    """
    return packages_sha256(describe_host("host", python)) if mode == "host" else None


def sources_of(study: MeasuredStudy, mode: str, root: Path, packages: str | None = None) -> Sources:
    """Hash the locks and files.

    Args:
        study: a study that measures.
        mode: `locked`, `host` or `container`.
        root: the project's folder, in which envs/ is.
        packages: of a host's interpreter, see host_packages.

    Raises:
        FramewattError: a file of an own model is missing.
    """
    environments: dict[str, dict[str, str | None]] = {name: {"mode": mode} for name in environments_of(study)}
    for name, about in environments.items():
        if mode == "host":
            about["packages_sha256"] = packages
        else:
            about["lock_sha256"] = lock_sha256(root / "envs" / name / LOCK)
    trace = root / study.settings["instruments"]["replay_trace"]
    used = {cell.workload for cell in study.cells}
    own = {name: _files_of(model) for name, model in study.own.items() if name in used}
    return Sources(environments, own, sha256_of(trace) if trace.is_file() else None)


def _files_of(model: OwnModel) -> dict[str, str | None]:
    def of(wanted: object, files: Callable[[], list[Path]], folder: Path) -> str | None:
        return sha256_of_files(files(), folder) if wanted else None

    return {
        "code": of(model.settings["factory"], model.code_files, model.folder),
        "onnx": sha256_of(model.onnx_file()) if model.settings["onnx"] else None,
        "arrays": _samples_of(model),
    }


def _samples_of(model: OwnModel) -> str | None:
    files = model.arrays_files()
    if model.settings["images"]:
        folder, annotations = files
        images = sha256_of_files(model.image_files(), folder)
        return sha256_of_names({"images": images, "annotations": sha256_of(annotations)})
    return sha256_of(files[0]) if files else None
