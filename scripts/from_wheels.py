"""What `make gpu WHEELS=…` does first: make .venv of carried wheels, on top of the interpreter at hand, offline.

It runs in that interpreter before anything is installed, so it needs Python 3.11 or newer with pip, and nothing else.
"""

import argparse
import hashlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SUMS, NEEDED = "SHA256SUMS", "NEEDED"
"""Files of a part: the hashes of all wheels, and the names of the packages that the workflow needs."""

SITES = "import json, site; print('\\n'.join(site.getsitepackages()))"
NAMES = "import importlib.metadata as m; print('\\n'.join(d.metadata['Name'] or '' for d in m.distributions()))"


def main() -> None:
    """Join, check, install, and see whether anything is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheels", required=True, help="folders that make wheels filled")
    parser.add_argument("--venv", type=Path, required=True)
    args = parser.parse_args()
    origin = f"{args.wheels}\n{sys.executable}\n"
    marker = args.venv / "from-wheels"
    if marker.is_file() and marker.read_text() == origin:
        return
    if args.venv.exists():
        stop(f"WHEELS: {args.venv} is not made of these wheels and {sys.executable}. Delete it, and try again.")
    folders = [Path(name) for name in shlex.split(args.wheels)]
    with tempfile.TemporaryDirectory(prefix="framewatt-") as scratch:
        wheels = joined(folders, Path(scratch))
        try:
            install(wheels, next(folders[0].rglob(NEEDED)).read_text().split(), args.venv)
        except BaseException:
            # Half of it would look like all of it.
            shutil.rmtree(args.venv, ignore_errors=True)
            raise
    marker.write_text(origin)
    print(f"{args.venv}: {len(wheels)} wheels on top of Python {sys.version.split()[0]}")


def joined(folders: list[Path], scratch: Path) -> list[Path]:
    """Put the wheels of some folders together, each checked against its hash."""
    # A folder may be named next to one that is in it.
    files = {path.resolve() for folder in folders for path in folder.rglob("*") if path.is_file()}
    lists = {path.read_text() for path in files if path.name == SUMS}
    if len(lists) != 1:
        names = ", ".join(map(str, folders))
        stop(f"WHEELS: {names} hold {len(lists)} different lists {SUMS}. Name the parts that one make wheels filled.")
    wheels = []
    for line in lists.pop().splitlines():
        digest, _, name = line.partition("  ")
        if not re.fullmatch(r"[A-Za-z0-9_.+-]+\.whl", name):
            stop(f"WHEELS: {SUMS} lists {name!r}, which is not a wheel. Fill the folder anew with make wheels.")
        pieces = sorted((path for path in files if path.name == name or path.name.startswith(f"{name}.")), key=by_name)
        wheel = scratch / name
        with wheel.open("wb") as sink:
            for piece in pieces:
                sink.write(piece.read_bytes())
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != digest:
            what = f"the checksum of the {len(pieces)} pieces that are here differs" if pieces else "it is missing"
            stop(f"WHEELS: {name}: {what}. Carry every part that make wheels filled.")
        wheels.append(wheel)
    return wheels


def by_name(path: Path) -> str:
    """Order the pieces of a wheel, which are numbered, whatever folders they are in."""
    return path.name


def install(wheels: list[Path], needed: list[str], venv: Path) -> None:
    """Make a virtual environment of these wheels; what it lacks is the interpreter's."""
    call([sys.executable, "-m", "venv", "--without-pip", venv], "cannot make a virtual environment")
    python = venv / "bin" / "python"
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    call([*pip, "--no-index", "--no-deps", *wheels], "cannot install the wheels")
    # Not --system-site-packages, which would not show packages of an interpreter that is a virtual environment itself.
    own = call([python, "-c", SITES], "does not run").splitlines()
    packages = call([sys.executable, "-c", SITES], "does not run").splitlines()
    Path(own[0], "interpreter.pth").write_text("\n".join(packages) + "\n")
    there = {plain(name) for name in call([python, "-c", NAMES], "does not run").splitlines()}
    if missing := sorted({plain(name) for name in needed} - there):
        stop(f"WHEELS: neither the wheels nor {sys.executable} have {', '.join(missing)}. Add them with make wheels.")
    (venv / "ready").touch()


def call(words: Sequence[str | Path], problem: str) -> str:
    """Run a program and return what it printed, or end with its last line."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        stop(f"GPU_PYTHON: {words[0]} {problem} ({last}). Name another interpreter.")
    return done.stdout


def plain(name: str) -> str:
    """Spell a distribution's name in the one way that compares."""
    return re.sub(r"[-_.]+", "-", name).lower()


def stop(line: str) -> None:
    """End with an error."""
    sys.exit(f"framewatt: {line}")


if __name__ == "__main__":
    main()
