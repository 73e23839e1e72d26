"""The folder in which a package is made again: whether it can be, told before anything is checked."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from framewatt.base.errors import FramewattError

PARTS = ("package", "rebuilt")
"""What a rebuilt package leaves there."""


@contextlib.contextmanager
def empty_folder(target: Path) -> Iterator[None]:
    """Make sure that a folder is there, is empty and can be written; where it is left empty, it goes again.

    Raises:
        FramewattError: it holds files, or cannot be written, or cannot be made.
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
        with contextlib.suppress(OSError):  # it holds what was made
            target.rmdir()
