"""Write the package of a study: choose its files, and pack them without personal data of its owner."""

import itertools
import json
import subprocess
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from framewatt import __version__
from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of, sha256_of_files
from framewatt.base.identity import code_files
from framewatt.imports.merged_study import FOLDER
from framewatt.package.bag import write_bag
from framewatt.package.crate import (
    METADATA,
    Description,
    authors_of,
    citation_cff,
    crate_metadata,
    span_utc,
    zenodo_json,
)
from framewatt.package.private import secrets_in, versions_in
from framewatt.prepare.stage import REPRODUCIBLE_FILES
from framewatt.privacy.secrets import Secrets
from framewatt.study.own_models import OwnModel
from framewatt.study.study import Study

_SHOWN = 8


def write_package(
    path: Path,
    files: Mapping[str, Path],
    texts: Mapping[str, str],
    records: Collection[Mapping[str, Any]],
    settings: Mapping[str, Any],
    secrets: Secrets,
) -> int:
    """Write a package, atomically; the same results give the same bytes.

    Args:
        path: the zip file.
        files: files by their name in the package.
        texts: further entries by name, as text.
        records: run records, schema-checked, in measured order.
        settings: the study's, with defaults filled in.
        secrets: texts that must not be in it.

    Returns:
        number of files in it.

    Raises:
        FramewattError: some file names its owner; nothing is written then.
    """
    released = (span_utc(records)[1] or "1980-01-01")[:10]
    payload: dict[str, bytes | Path] = {**files, **{name: text.encode() for name, text in texts.items()}}
    payload["CITATION.cff"] = citation_cff(settings, __version__, released).encode()
    payload[".zenodo.json"] = zenodo_json(settings, __version__, released).encode()
    payload[METADATA] = crate_metadata(payload, records, description_of(settings, __version__)).encode()
    if places := list(secrets_in(secrets, payload)):
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        raise FramewattError(
            f"{path} would name its owner: {'; '.join(places[:_SHOWN])}{more}. Remove that. If it is harmless, "
            "list it in the study under archive.harmless: host or user if that name is a common word, or an address."
        )
    info = {
        "Bag-Software-Agent": f"framewatt {__version__}",
        "Bagging-Date": released,
        "External-Description": settings["title"],
        "External-Identifier": path.stem,
    }
    return write_bag(path, payload, info)


def description_of(settings: Mapping[str, Any], version: str) -> Description:
    """Return title, licence and authors of a study's package.

    Args:
        settings: the study's, with defaults filled in.
        version: framewatt's.
    """
    return Description(
        name=settings["title"],
        text=settings["description"] or settings["title"],
        license=settings["archive"]["license"],
        authors=authors_of(settings),
        version=version,
    )


_LEFT_OUT = (*REPRODUCIBLE_FILES, "profile.prof")
"""Large files that the workflow can make again from the package; their hashes are in the records."""

_PROJECT = (
    "workflow/Snakefile",
    "workflow/*.smk",
    "workflow/profiles/**/*.yaml",
    "rules/*.smk",
    "src/**/*.j2",
    "config/*.yaml",
    "config/*.csv",
    "config/schemas/*",
    "resources/published/*",
    "docs/captions/*.rst",
    "envs/orchestrator/*",
    "LICENSE",
    "CITATION.cff",
    "README.md",
)


_REGROWN = (
    "measure",
    "stopping",
    "train",
    "export",
    "parity",
    "profiled",
    "timelines",
    "repeated",
    "figures",
    "replication",
    "authors",
)
"""Folders of a results tree in which obsolete files stay behind when a study changes."""

_PASSING = ("complete.txt", "live.html")
"""Files about the last call of the workflow: how it ended, or its progress. They have no results."""


def study_files(results: Path, present: Iterable[Path] | None = None) -> dict[str, Path]:
    """Return the files of a results tree that belong into its package, by name in the package.

    Args:
        results: results/<study>.
        present: files and folders that the study has now. Below `measure`, `stopping`, `train`, `export`, `parity`,
            `profiled`, `timelines`, `repeated`, `figures`, `replication` and `authors` only these are taken; a figure
            is named by any of its files. None takes all.
    """
    now = None if present is None else {_stem(path.relative_to(results)) for path in present}
    chosen = {}
    for path in sorted(results.rglob("*")):
        inside = path.relative_to(results)
        if inside.parts[0] == FOLDER and path.is_file():
            # A machine's package stays unchanged.
            chosen[f"results/{results.name}/{inside.as_posix()}"] = path
            continue
        left_out = inside.parts[0] == "archive" or path.name in (*_LEFT_OUT, *_PASSING)
        if any(part.startswith(".") for part in inside.parts) or left_out or not path.is_file():
            continue
        left_behind = now is not None and inside.parts[0] in _REGROWN and now.isdisjoint(_at_or_above(inside))
        if not left_behind:
            chosen[f"results/{results.name}/{inside.as_posix()}"] = path
    return chosen


def _stem(inside: Path) -> Path:
    return inside.with_name(inside.name.partition(".")[0])


def _at_or_above(inside: Path) -> set[Path]:
    return {_stem(inside), *inside.parents}


def project_files(root: Path, study: Path, name: str, environments: Iterable[str]) -> dict[str, Path]:
    """Return study file, configuration, locks and code that made the results, by name in the package.

    Args:
        root: the project's folder.
        study: the study file, at any path.
        name: the study's, under which its file is in the package.
        environments: names of the environments that the study used.
    """
    patterns = [*_PROJECT, *(f"envs/{environment}/[!.]*" for environment in environments)]
    matches = (path for pattern in patterns for path in sorted(root.glob(pattern)) if path.is_file())
    paths = itertools.chain(code_files(root), matches)
    files = {path.relative_to(root).as_posix(): path for path in paths if "__pycache__" not in path.parts}
    return {**files, f"config/studies/{name}.yaml": study}


def source_files(study: Study) -> dict[str, Path]:
    """Return the logs that a study's runs were read from, by name in the package; none unless the study allows it.

    Logs of runs that the study leaves out are included, so that readers can judge that choice.

    Args:
        study: measured, or of files.
    """
    return study.packaged_logs()


def own_model_texts(study: Study) -> dict[str, str]:
    """Return names, hashes and sizes of the files of a study's own models, by name in the package.

    The files themselves are not in the package.

    Args:
        study: any.
    """
    texts = {f"own-models/{name}.json": _about(model) for name, model in study.own.items()}
    return {name: json.dumps(about, indent=1, ensure_ascii=False) + "\n" for name, about in texts.items()}


def _about(model: OwnModel) -> dict[str, Any]:
    about = {"model": model.name, "frameworks": model.frameworks, "dataset": model.dataset}
    try:
        given = [model.onnx_file()] if model.settings["onnx"] else []
        code = model.code_files() if model.settings["factory"] else []
        images = model.image_files()
        named = {path: path.name for path in [*given, *model.arrays_files()] if path.is_file()}
        named |= {path: path.relative_to(model.folder).as_posix() for path in code if path not in named}
    except FramewattError:
        return {**about, "files": None, "files_reason": "they were not there any more when the package was written"}
    files = [{"name": name, "size_b": path.stat().st_size, "sha256": sha256_of(path)} for path, name in named.items()]
    if images:
        # One entry for all: names of photographs may identify persons.
        folder = model.arrays_files()[0]
        size, sha256 = sum(path.stat().st_size for path in images), sha256_of_files(images, folder)
        files.append({"name": f"{folder.name}/", "images": len(images), "size_b": size, "sha256": sha256})
    return {**about, "files": files, "files_reason": None}


def environment_texts(records: Iterable[Path], secrets: Secrets) -> dict[str, str]:
    """Return the records of the environments, by name in the package, without this machine's paths.

    Args:
        records: paths of environment.json, relative to the project's folder.
        secrets: texts to redact.
    """
    texts = {path.as_posix(): path.read_text(encoding="utf-8") for path in records}
    knowing = replace(secrets, allowed=secrets.allowed | versions_in(text.encode() for text in texts.values()))
    return {name: knowing.redact(text) for name, text in texts.items()}


def changes(root: Path) -> str | None:
    """Return the uncommitted changes of the code, as a diff; None if there are none, or if that is unknown.

    Args:
        root: the project's folder.
    """
    try:
        answer = subprocess.run(
            [
                "git",
                "-C",
                root,
                "diff",
                "HEAD",
                "--",
                "workflow",
                "rules",
                "scripts",
                "src",
                "config",
                "envs",
                "resources/published",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout or None
