"""The target folder of a rebuild, checked before the package is."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from framewatt.base.errors import FramewattError

PARTS = ("package", "rebuilt")
"""Subfolders that a rebuild makes in the target."""


@contextlib.contextmanager
def empty_folder(target: Path) -> Iterator[None]:
    """Make sure that a folder exists, is empty and writable; it is removed at the end if it is still empty.

    Raises:
        FramewattError: it holds files, is not writable, or cannot be made.
    """
    allowed = "allowed: an empty folder, or a new one, where you may write (TARGET=…)"
    there = target.is_dir()
    try:
        found = sorted(path.name for path in target.iterdir()) if there else []
        if not found:
            target.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=target):
                pass
    except OSError as error:
        _remove(target, there)
        raise FramewattError(f"{target}: found that it cannot be written ({error.strerror}); {allowed}") from error
    if found:
        earlier = set(found) <= set(PARTS)
        what = "what an earlier make rebuild left, finished or not" if earlier else "files in it"
        mend = f"; mend: remove {target}, and start again as before" if earlier else ""
        raise FramewattError(f"{target}: found {what}; {allowed}{mend}")
    try:
        yield
    finally:
        _remove(target, there)


def _remove(target: Path, there: bool) -> None:
    if not there:
        with contextlib.suppress(OSError):  # not empty: it holds the rebuilt files
            target.rmdir()
