"""The package to deposit: verified as by `make verify`, and identified by its checksums."""

import hashlib
import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.package.checking import check
from framewatt.package.confined import Limits

_LARGEST_METADATA_B = 1 << 20
_TOLD = 3


@dataclass(frozen=True)
class Package:
    """A package that was verified.

    Attributes:
        path: the zip file.
        md5: the checksum that Zenodo reports for files; it detects accidents only, not tampering, unlike SHA-256.
        sha256: identifies its draft.
        metadata: content of its .zenodo.json.
    """

    path: Path
    md5: str
    sha256: str
    metadata: dict[str, Any]

    @property
    def mark(self) -> str:
        """Text in a draft that identifies its package."""
        return f"framewatt package, SHA-256 {self.sha256}"


def verified(path: Path, limits: Limits | None = None) -> Package:
    """Verify a package as `make verify` does; its checksums are taken before, so that later changes show.

    Raises:
        FramewattError: it is no package, or something in it is wrong.
    """
    try:
        with path.open("rb") as file:
            md5 = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FramewattError(f"{path}: found nothing to read ({error.strerror}); allowed: a package") from error
    with scratch_folder() as scratch:
        problems = check(path, scratch, limits or Limits(), rebuild=False)["problems"]
    if problems:
        raise FramewattError(
            f"{path}: found {problems[-1]}: {'; '.join(problems[:-1][:_TOLD])}; allowed: a package that `make verify` "
            "finds nothing wrong with; nothing was sent"
        )
    return Package(path, md5, sha256, metadata_of(path))


def metadata_of(package: Path) -> dict[str, Any]:
    """Content of the package's .zenodo.json, which becomes the draft's metadata.

    Raises:
        FramewattError: the file is no package.
    """
    try:
        with zipfile.ZipFile(package) as archive:
            name = next(name for name in archive.namelist() if re.fullmatch(r"[^/]+/data/\.zenodo\.json", name))
            with archive.open(name) as file:
                metadata = dict(json.loads(file.read(_LARGEST_METADATA_B)))
            return {**metadata, "title": str(metadata["title"])}
    except (OSError, StopIteration, ValueError, TypeError, KeyError, RecursionError, zipfile.BadZipFile) as error:
        raise FramewattError(f"{package}: found no .zenodo.json in it; allowed: a package of framewatt's") from error
