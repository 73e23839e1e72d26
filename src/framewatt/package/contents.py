"""Which files belong into the package of a study: raw traces and records up to the report, and what made them."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from framewatt.file_study import FileStudy
from framewatt.privacy import Secrets
from framewatt.study import Study

_LEFT_OUT = ("weights.pt", "weights.weights.h5", "weights.params", "model.onnx", "model.onnx.data", "reference.npy")
"""Large things that the workflow makes again from what is in the package; their hashes are in the records."""

_PROJECT = (
    "workflow/Snakefile",
    "workflow/profiles/**/*.yaml",
    "rules/*.smk",
    "scripts/*.py",
    "src/**/*.py",
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


def study_files(results: Path) -> dict[str, Path]:
    """The files of a results tree that belong into its package, by name in the package.

    Args:
        results: results/<study>.
    """
    chosen = {}
    for path in sorted(results.rglob("*")):
        inside = path.relative_to(results)
        hidden = any(part.startswith(".") for part in inside.parts)
        if path.is_file() and not hidden and inside.parts[0] != "archive" and path.name not in _LEFT_OUT:
            chosen[f"results/{results.name}/{inside.as_posix()}"] = path
    return chosen


def project_files(root: Path, study: Path, name: str, environments: Iterable[str]) -> dict[str, Path]:
    """Study file, configuration, locks and code that made the results, by name in the package.

    Args:
        root: the project's folder.
        study: the study file, wherever it lies.
        name: the study's, under which its file is in the package.
        environments: names of the environments that the study used.
    """
    patterns = [*_PROJECT, *(f"envs/{environment}/[!.]*" for environment in environments)]
    paths = (path for pattern in patterns for path in sorted(root.glob(pattern)) if path.is_file())
    files = {path.relative_to(root).as_posix(): path for path in paths if "__pycache__" not in path.parts}
    return {**files, f"config/studies/{name}.yaml": study}


def source_files(study: Study | FileStudy) -> dict[str, Path]:
    """The logs that a study's runs were read from, by name in the package; none unless the study says that they may.

    Args:
        study: measured, or of files.
    """
    if not isinstance(study, FileStudy) or study.root is None or study.settings["files"]["archive"] != "files":
        return {}
    paths = [file.path for run in study.found for file in run.files]
    return {f"logs/{study.name}/{path}": study.root / path for path in sorted(paths)}


def environment_texts(records: Iterable[Path], secrets: Secrets) -> dict[str, str]:
    """Records of the environments, by name in the package, without this machine's paths.

    Args:
        records: paths of environment.json, relative to the project's folder.
        secrets: what is taken out.
    """
    return {path.as_posix(): secrets.redact(path.read_text(encoding="utf-8")) for path in records}


def changes(root: Path) -> str | None:
    """How the code differs from what was committed, as a diff; None where it does not, or nothing is known of it.

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
