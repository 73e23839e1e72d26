"""Unpacks the archives in which data sets are published; what is not plainly files in folders is refused."""

import shutil
import tarfile
import zlib
from pathlib import Path

from framewatt.entries import problem_of_name, write_entry
from framewatt.errors import FramewattError

ENDINGS = (".tar.gz", ".tgz")
"""How the names of such archives end."""

LARGEST_B = 200 * 2**30
"""Bytes that an archive may unpack to."""


def unpack_archive(archive: Path, target: Path, largest_b: int = LARGEST_B) -> None:
    """Unpack an archive below a folder.

    Args:
        archive: a compressed tar file.
        target: an empty folder, or one that is not there yet.
        largest_b: bytes that it may unpack to.

    Raises:
        FramewattError: it is damaged, or an entry leaves the folder, is a link or a device, is there twice, or all
            unpack to more than is sane. Nothing is left in the target then.
    """
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for entry in tar:
                largest_b -= entry.size
                problem = "too many bytes" if largest_b < 0 else _unpack_entry(tar, entry, target)
                if problem:
                    raise FramewattError(
                        f"{archive}: {entry.name!r}: found {problem}; allowed: plain files in folders; get it again"
                    )
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise FramewattError(f"{archive}: found no readable archive: {error}; get it again") from error
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


def _unpack_entry(tar: tarfile.TarFile, entry: tarfile.TarInfo, target: Path) -> str | None:
    """Write an entry; or what is wrong with it."""
    path = target / entry.name
    problem = problem_of_name(entry.name)
    if problem or entry.isdir():
        return problem
    source = tar.extractfile(entry) if entry.isreg() else None
    if source is None:
        return "something other than a plain file"
    if path.exists():
        return "the name twice"
    return None if write_entry(source, path, entry.size) else "more bytes than it says"
