"""What code measured: the commit, and a hash of the files that run, committed or not."""

import subprocess
from pathlib import Path
from typing import Any

from framewatt.files import sha256_of_files

ROOT = Path(__file__).parents[2]


def code_identity(root: Path = ROOT) -> dict[str, Any]:
    """Commit, whether the checkout differs from it, and a SHA-256 over the library and the scripts.

    Args:
        root: the project's folder. Outside a git checkout commit and difference are None.
    """
    files = [
        path for folder in ("src", "scripts") for kind in ("py", "js") for path in (root / folder).rglob(f"*.{kind}")
    ]
    commit = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    return {
        "commit": commit,
        "modified": None if changes is None else bool(changes),
        "sha256": sha256_of_files(files, root),
    }


def _git(root: Path, *words: str) -> str | None:
    try:
        answer = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()
