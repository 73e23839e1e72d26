"""Identity of the measuring code: the commit, and a hash of the files that run, committed or not."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framewatt.base.files import sha256_of, sha256_of_names

ROOT = Path(__file__).parents[3]


def code_identity(root: Path = ROOT) -> dict[str, Any]:
    """Return the commit, whether the checkout differs from it, and a SHA-256 over the library and the scripts.

    Args:
        root: the project's folder. Outside a git checkout commit and difference are None.
    """
    commit = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    return {
        "commit": commit,
        "modified": None if changes is None else bool(changes),
        "sha256": code_sha256(root),
    }


def code_files(root: Path) -> list[Path]:
    """Return the files that identify the code: all Python and JavaScript files of the library and the scripts."""
    return [
        path for folder in ("src", "scripts") for kind in ("py", "js") for path in (root / folder).rglob(f"*.{kind}")
    ]


def code_sha256(root: Path, more: Mapping[str, str] | None = None) -> str:
    """Return the SHA-256 over the names and contents of the files of `code_files`.

    Args:
        root: the project's folder, or a package's content.
        more: hashes of further files to include, by their names relative to `root`.
    """
    hashes = {path.relative_to(root).as_posix(): sha256_of(path) for path in code_files(root)}
    return sha256_of_names({**hashes, **(more or {})})


def _git(root: Path, *words: str) -> str | None:
    try:
        answer = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()
