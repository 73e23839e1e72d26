"""Unpack a package: only plain files below its one folder, up to a size."""

import errno
import shutil
import stat
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from framewatt.base.errors import FramewattError
from framewatt.base.paths import problem_of_name, write_entry

_LOCAL = struct.Struct("<4s22xHH")
_LOCAL_MARK = b"PK\x03\x04"
_ENTRY_B, _END_B, _LARGE_END_B = 46, 22, 76
"""Bytes of a central directory entry without its name; of the end record; of the zip64 end record and locator."""

_MOST_ENTRIES, _LARGE_B = (1 << 16) - 1, (1 << 31) - 1
"""Limits above which a zip needs the larger fields of zip64."""

_LARGE_EXTRA_B = 20
"""Bytes of the zip64 sizes before the content of an entry that may grow beyond _LARGE_B."""


def problem_of_form(package: Path, archive: zipfile.ZipFile) -> str | None:
    """Return how a zip deviates from the form of packages, in words; None if it does not.

    Args:
        package: the file.
        archive: the same, open.

    Raises:
        struct.error: the file ends within an entry.
    """
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    if archive.comment or any(entry.comment or entry.extra for entry in entries):
        return "a comment or another field that nothing reads"
    free_from = list_b = 0
    with package.open("rb") as file:
        for entry in entries:
            if entry.header_offset != free_from:
                return f"{entry.header_offset - free_from} bytes before {entry.filename!r:.80} that are no entry's"
            file.seek(entry.header_offset)
            mark, name_b, extra_b = _LOCAL.unpack(file.read(_LOCAL.size))
            large = entry.file_size * 1.05 > _LARGE_B
            if mark != _LOCAL_MARK or file.read(name_b) != entry.filename.encode():
                return f"another name at {entry.filename!r:.80} than in the list of entries"
            if extra_b != (_LARGE_EXTRA_B if large else 0) or entry.flag_bits & 8:
                return f"another field at {entry.filename!r:.80} that nothing reads"
            free_from += _LOCAL.size + name_b + extra_b + entry.compress_size
            list_b += _ENTRY_B + name_b
    large = len(entries) > _MOST_ENTRIES or free_from > _LARGE_B
    behind_b = package.stat().st_size - free_from - list_b - _END_B - (_LARGE_END_B if large else 0)
    if archive.start_dir != free_from or behind_b:
        return f"{max(behind_b, 0) or 'some'} bytes behind its entries that are no entry's"
    return None


_SUFFIXES = {
    *(
        ".json",
        ".csv",
        ".md",
        ".tex",
        ".html",
        ".svg",
        ".png",
        ".pdf",
        ".parquet",
        ".bits",
        ".yaml",
        ".yml",
        ".py",
        ".js",
    ),
    *(".smk", ".txt", ".jsonl", ".j2", ".rst", ".toml", ".cff", ".def", ".diff", ""),
}
"""Allowed types of files in a package; none of them is ever executed or unpickled."""

LARGEST_B = 2 * 2**30
"""Bytes that a package may take on the disk."""

MOST_ENTRIES = 200_000
"""Largest number of files in a package: a study of 10,000 runs has 40,000."""

_BLOCK_B = 4096
"""Least disk space of a file, so that a million empty files count as large."""

_PACKED_BY = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Allowed compression methods; with the others a few bytes can demand gigabytes of memory."""

_HEADER_B = 30
"""Bytes of an entry's local header, before its name."""

_LARGEST_RATIO = 200
_RATIO_FROM_B = 2**20
_DEEPEST = 20

_UNREADABLE = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError),
    *(ValueError, struct.error, IndexError, OverflowError),
)
"""Exceptions of zipfile: for a damaged file and its streams, an unknown compression method, an encrypted entry
(RuntimeError), names that are not UTF-8 (ValueError) and offsets beyond the file."""

_UNWRITABLE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM),
    *(errno.EEXIST, errno.ENOTDIR, errno.ENOENT),
}
"""Errors of the target folder, not of the package."""


def unpack(package: Path, target: Path, largest_b: int = LARGEST_B) -> Path:
    """Unpack a package below a folder.

    Args:
        package: the zip file.
        target: an empty folder, or one that does not exist yet.
        largest_b: bytes that it may unpack to.

    Returns:
        the folder of the package in the target.

    Raises:
        FramewattError: it is no file, or no zip, or an entry leaves its folder, is a link, is there twice, is of a
            type that no package holds, or unpacks to more than it declares or than the limit. Nothing is left in the
            target then.
    """
    if target.exists() and any(target.iterdir()):
        raise FramewattError(f"{target} is not empty. Use an empty folder.")
    if not package.is_file():
        raise FramewattError(f"{package} is not a file. Use the path of a package.")
    try:
        with zipfile.ZipFile(package) as archive:
            tops = _judge(package, archive.infolist(), largest_b)
            if problem := problem_of_form(package, archive):
                raise FramewattError(
                    f"{package} has {problem}. A package has entries, one after the other, and their list."
                )
            target.mkdir(parents=True, exist_ok=True)
            try:
                for entry in archive.infolist():
                    _write(package, archive, entry, target)
            except BaseException:
                for top in tops:
                    shutil.rmtree(target / top, ignore_errors=True)
                raise
    except _UNREADABLE as error:
        if isinstance(error, OSError) and error.errno in _UNWRITABLE:
            raise _unwritable(target, error) from error
        raise FramewattError(
            f"{package} is not a readable zip file ({error}). Use the package as it was written."
        ) from error
    return target / tops[0]


def _unwritable(target: Path, error: OSError) -> FramewattError:
    return FramewattError(
        f"{target} cannot be written ({error.strerror}). Use a folder with free space where you may write."
    )


def _judge(package: Path, entries: list[zipfile.ZipInfo], largest_b: int) -> list[str]:
    """Return the name of the top folder, as a list; raise for an entry that does not belong into a package."""
    if not entries:
        raise FramewattError(f"{package} is an empty zip file. Use a package.")
    if len(entries) > MOST_ENTRIES:
        raise FramewattError(f"{package} has {len(entries)} files. A package has at most {MOST_ENTRIES}.")
    names: set[str] = set()
    for entry in entries:
        name = PurePosixPath(entry.filename)
        problem = _problem(entry, name)
        if entry.filename in names:
            problem = "the name twice"
        if problem:
            raise FramewattError(f"{package}: {entry.filename!r}: {problem}. A package has plain files in one folder.")
        names.add(entry.filename)
    _check_places(package, entries)
    total_b = sum(-(-max(entry.file_size, 1) // _BLOCK_B) * _BLOCK_B for entry in entries)
    if total_b > largest_b:
        raise FramewattError(f"{package} unpacks to {total_b} bytes. The limit is {largest_b} bytes.")
    tops = sorted({PurePosixPath(name).parts[0] for name in names})
    if len(tops) != 1 or any(len(PurePosixPath(name).parts) == 1 for name in names):
        raise FramewattError(f"{package} has {len(tops)} names at its top. A package has one folder that holds all.")
    return tops


def _check_places(package: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse entries that overlap in the zip file, as in a zip bomb."""
    size_b, free_from = package.stat().st_size, 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        end = entry.header_offset + _HEADER_B + len(entry.orig_filename) + entry.compress_size
        if entry.header_offset < free_from or end > size_b:
            raise FramewattError(
                f"{package}: {entry.filename!r} overlaps another entry. Use the package as it was written."
            )
        free_from = end


def _problem(entry: zipfile.ZipInfo, name: PurePosixPath) -> str | None:
    """Return what is wrong with an entry, or None."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    swollen = entry.file_size > max(_RATIO_FROM_B, _LARGEST_RATIO * entry.compress_size)
    wrong = (
        (kind not in (0, stat.S_IFREG), "something other than a plain file"),
        (entry.is_dir() or not name.parts, "a folder of its own"),
        (entry.compress_type not in _PACKED_BY, "a way of packing other than deflate"),
        (not entry.filename.isprintable(), "a name with characters that are not seen"),
        (len(name.parts) > _DEEPEST, f"a name of {len(name.parts)} folders"),
        (name.suffix.lower() not in _SUFFIXES, f"a file of a kind that no package holds ({name.suffix})"),
        (swollen, f"{entry.file_size} bytes packed into {entry.compress_size}"),
    )
    return problem_of_name(entry.filename) or next((problem for is_wrong, problem in wrong if is_wrong), None)


def _write(package: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    with archive.open(entry) as source:
        if not write_entry(source, target / entry.filename, entry.file_size):
            raise FramewattError(
                f"{package}: {entry.filename!r} has more bytes than it states. Use the package as it was written."
            )
