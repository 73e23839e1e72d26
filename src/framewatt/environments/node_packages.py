"""Packages for Node.js, from package-lock.json with hashes; Node.js itself is a wheel of the environment."""

import os
import shutil
from pathlib import Path

from framewatt.host.supervision import supervise

NODE_LOCK = "package-lock.json"
_MODULES = "node_modules"
_TIMEOUT_S = 3600


def node_lock(folder: Path) -> Path | None:
    """Return the lock of an environment's packages for Node.js, None where it has none.

    Args:
        folder: of the environment, below envs/.
    """
    path = folder / NODE_LOCK
    return path if path.exists() else None


def install_node_packages(source: Path, programs: Path, folder: Path, log: Path) -> str | None:
    """Install what a lock names into `folder`/node_modules, each package checked against its hash.

    Install scripts of packages are not run, and the packages' download addresses are not kept.

    Args:
        source: folder of the lock.
        programs: folder of the programs node and npm.
        folder: where the packages go.
        log: file for npm's output.

    Returns:
        why it failed, or None.
    """
    for name in ("package.json", NODE_LOCK):
        shutil.copy(source / name, folder / name)
    options = ["--ignore-scripts", "--no-audit", "--no-fund"]
    command: list[str | Path] = [programs / "npm", "ci", *options, "--prefix", folder]
    # npm uses the first node on PATH.
    path = f"{programs.absolute()}{os.pathsep}{os.environ['PATH']}"
    reason = supervise(command, log=log, timeout_s=_TIMEOUT_S, environment={"PATH": path}).reason
    (folder / _MODULES / ".package-lock.json").unlink(missing_ok=True)
    return reason
