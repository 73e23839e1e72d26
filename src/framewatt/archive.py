"""One zip that holds a study: raw traces and records up to the report, with what is needed to make them again.

The same results give the same bytes: entries in order of name, one fixed date, one compression level.
"""

import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from framewatt.files import write_atomically

_LEFT_OUT = ("weights.pt", "weights.weights.h5", "weights.params", "model.onnx", "reference.npy")
"""Large things that the workflow makes again from what is in the package; their hashes are in the records."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date a zip entry can have; the real dates are in the records."""

MANIFEST = "manifest-sha256.txt"


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


def project_files(root: Path, study: Path, environments: Iterable[str]) -> dict[str, Path]:
    """Study file, configuration, locks and code that made the results, by name in the package.

    Args:
        root: the project's folder.
        study: the study file.
        environments: names of the environments that the study used.
    """
    patterns = ["workflow/Snakefile", "workflow/profiles/**/*.yaml", "rules/*.smk", "scripts/*.py", "src/**/*.py"]
    patterns += ["src/**/*.j2", "config/*.yaml", "config/schemas/*", "LICENSE", "CITATION.cff", "README.md"]
    patterns += [f"envs/{name}/{file}" for name in environments for file in ("pyproject.toml", "requirements.txt")]
    files = {path.relative_to(root).as_posix(): path for pattern in patterns for path in sorted(root.glob(pattern))}
    return {**files, f"config/studies/{study.name}": study}


def write_package(path: Path, files: Mapping[str, Path], texts: Mapping[str, str]) -> int:
    """Write a package with a manifest of SHA-256 hashes, atomically.

    Args:
        path: the zip file.
        files: files by their name in the package.
        texts: further entries by name, as text.

    Returns:
        how many entries it holds, the manifest included.
    """
    count = 0

    def write(partial: Path) -> None:
        nonlocal count
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as package:
            hashes = []
            for name in sorted({*files, *texts}):
                content = texts[name].encode() if name in texts else files[name].read_bytes()
                hashes.append(f"{hashlib.sha256(content).hexdigest()}  {name}")
                _add(package, name, content)
            _add(package, MANIFEST, ("\n".join(hashes) + "\n").encode())
            count = len(hashes) + 1

    write_atomically(path, write)
    return count


def _add(package: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=_EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    package.writestr(entry, content)
