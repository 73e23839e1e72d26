"""Unpacks the archives in which data sets are published; anything but plain files and folders is refused."""

import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from framewatt.base.errors import FramewattError
from framewatt.base.paths import problem_of_name, write_entry

ENDINGS = (".tar.gz", ".tgz", ".zip")
"""File name endings of supported archives."""

LARGEST_B = 200 * 2**30
"""Largest unpacked size of an archive in bytes."""


@dataclass(frozen=True)
class _Entry:
    """An entry of an archive.

    Attributes:
        name: as in the archive.
        size_b: its unpacked size in bytes, as declared by the archive.
        folder: whether it is a folder.
        content: its bytes; None where it is neither a plain file nor a folder.
    """

    name: str
    size_b: int
    folder: bool
    content: IO[bytes] | None


def is_archive(name: str) -> bool:
    """Whether a file of that name is unpacked."""
    return name.lower().endswith(ENDINGS)


def unpack_archive(archive: Path, target: Path, largest_b: int = LARGEST_B) -> None:
    """Unpack an archive below a folder.

    Args:
        archive: a compressed tar file, or a zip.
        target: an empty folder, or one that does not exist yet.
        largest_b: largest unpacked size in bytes.

    Raises:
        FramewattError: it is damaged, an entry leaves the folder, is a link or a device, or occurs twice, or the
            entries exceed `largest_b`. Nothing is left in the target then.
    """
    entries = _zip_entries(archive) if archive.name.lower().endswith(".zip") else _tar_entries(archive)
    try:
        for entry in entries:
            largest_b -= entry.size_b
            problem = "too many bytes" if largest_b < 0 else _unpack_entry(entry, target)
            if problem:
                raise FramewattError(
                    f"{archive}: {entry.name!r}: found {problem}; allowed: plain files in folders; get it again"
                )
    except (tarfile.TarError, zipfile.BadZipFile, RuntimeError, EOFError, zlib.error, OSError) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise FramewattError(f"{archive}: found no readable archive: {error}; get it again") from error
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


def _tar_entries(archive: Path) -> Iterator[_Entry]:
    with tarfile.open(archive, "r:gz") as tar:
        for entry in tar:
            content = tar.extractfile(entry) if entry.isreg() else None
            yield _Entry(entry.name, entry.size, entry.isdir(), content)


def _zip_entries(archive: Path) -> Iterator[_Entry]:
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if entry.is_dir() or kind not in (0, stat.S_IFREG):
                yield _Entry(entry.filename, entry.file_size, entry.is_dir(), None)
                continue
            with packed.open(entry) as content:
                yield _Entry(entry.filename, entry.file_size, False, content)


def _unpack_entry(entry: _Entry, target: Path) -> str | None:
    """Write an entry; returns what is wrong with it, or None."""
    path = target / entry.name
    problem = problem_of_name(entry.name)
    if problem or entry.folder:
        return problem
    if entry.content is None:
        return "something other than a plain file"
    if path.exists():
        return "the name twice"
    return None if write_entry(entry.content, path, entry.size_b) else "more bytes than it says"
