"""The original files of data sets: downloaded, checked by checksum and unpacked, unless the user names a folder.

Of archives, anything but plain files and folders is refused.
"""

import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_json
from framewatt.base.paths import problem_of_name, usable, write_entry
from framewatt.base.schema import unseen
from framewatt.datasets.download import Checksum, download

RECORD = "source.json"
_DOWNLOADED = "resources/sources"


def config_key(source: str) -> str:
    """Return the configuration's key for the user's own folder of a source."""
    return f"data_{source}"


def folder_of(source: str, config: Mapping[str, Any]) -> str:
    """Folder of a source's original files: the user's folder, or the download folder.

    Args:
        source: its name.
        config: the configuration.

    Raises:
        FramewattError: the user's folder is missing, or Snakemake cannot use its name.
    """
    folder = str(config[config_key(source)])
    if folder and not Path(folder).is_dir():
        raise FramewattError(
            f"{config_key(source)}: there is no folder {folder}. Use the folder of the original files."
        )
    return str(usable(Path(folder))) if folder else f"{_DOWNLOADED}/{source}"


def fetch_source(name: str, source: Mapping[str, Any], folder: Path) -> None:
    """Download a source's files, unpack archives, and write the record of where they come from.

    Args:
        name: the source's, in config/datasets.yaml.
        source: its entry there.
        folder: where the files end up, all or none. Until all are complete, downloads are stored next to it, also
            between calls.

    Raises:
        FramewattError: there is nothing to download, or a file cannot be downloaded.
    """
    if not source["files"]:
        raise FramewattError(
            f"{name}: it cannot be downloaded. Get the files from {source['page']} and use "
            f"--config {config_key(name)}=<folder>."
        )
    waiting = folder.with_name(f".{folder.name}.downloads")
    names = [name_of(file) for file in source["files"]]
    if twice := [one for one in names if names.count(one) > 1]:
        raise FramewattError(f"{name}: two files are called {twice[0]}. Use URLs that end in different names.")
    for file in source["files"]:
        download(file["url"], waiting / name_of(file), Checksum.parse(file["checksum"]), file["size_b"])
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        unpacked = Path(scratch) / "unpacked"
        unpacked.mkdir()
        for file in source["files"]:
            _put(waiting / name_of(file), unpacked)
        write_json(unpacked / RECORD, {"source": name, **source})
        if folder.exists():
            shutil.rmtree(folder)
        unpacked.rename(folder)
    shutil.rmtree(waiting)


def origin_of(source: str, folder: Path) -> dict[str, Any]:
    """Return where a source's files come from; the name of a user's folder is left out, since the record is published.

    Args:
        source: its name.
        folder: its files.
    """
    record = folder / RECORD
    if record.is_file():
        return {"from": "download", **read_json(record)}
    return {"from": "local folder", "source": source, "files": None, "files_reason": "handed over by the user"}


def name_of(file: Mapping[str, Any]) -> str:
    """Return the name of a source's file: the last part of its URL's path, or the archive's in `…/x.zip/content`.

    Raises:
        FramewattError: there is none.
    """
    parts = [unquote(part) for part in urlsplit(str(file["url"])).path.split("/") if part]
    name = parts[-1] if parts else ""
    if "." not in name:
        name = next((part for part in reversed(parts) if is_archive(part)), name)
    if not name or name.startswith(".") or "/" in name or unseen(name) or problem_of_name(name):
        raise FramewattError(f"{file['url']}: {name!r} cannot be a file's name. Use a URL that ends in one.")
    return name


def _put(path: Path, folder: Path) -> None:
    """Put a downloaded file, or the content of a downloaded archive, into a folder."""
    if is_archive(path.name):
        unpack_archive(path, folder)
    else:
        path.rename(folder / path.name)


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
    """Return whether a file of that name is unpacked."""
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
                    f"{archive}: {entry.name!r}: it has {problem}. Use plain files in folders; get it again."
                )
    except (tarfile.TarError, zipfile.BadZipFile, RuntimeError, EOFError, zlib.error, OSError) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise FramewattError(f"{archive}: it is not a readable archive: {error}. Get it again.") from error
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
    return None if write_entry(entry.content, path, entry.size_b) else "more bytes than it states"
