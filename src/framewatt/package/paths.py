"""Check the paths that commands get: packages to read, and the empty folder to rebuild in."""

import contextlib
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from framewatt.base.errors import FramewattError


def archives_of(text: str) -> list[Path]:
    """Return the packages that ARCHIVES names, with blanks between them; a path with blanks needs quotes.

    Raises:
        FramewattError: quotes are not closed, a file is named twice or is not there, or there are fewer than two.
    """
    try:
        paths = [Path(word) for word in shlex.split(text)]
    except ValueError as error:
        raise FramewattError(
            f"ARCHIVES={text!r} is not a list of paths ({error}). Put blanks between paths."
        ) from error
    if len(paths) < 2:
        raise FramewattError(f'ARCHIVES names {len(paths) or "no"} package. Name two or more: ARCHIVES="a.zip b.zip".')
    seen: dict[Path, Path] = {}
    for path in paths:
        if not path.is_file():
            raise FramewattError(f"{path} is not a file. Use the path of a package.")
        if (other := seen.setdefault(path.resolve(), path)) is not path:
            raise FramewattError(f"ARCHIVES names {other} and {path}, which are one file. Name each file once.")
    return paths


def name_of(text: str) -> str:
    """Return the name of a study that STUDY gives; empty if it gives none.

    Raises:
        FramewattError: it is no name.
    """
    if text and not re.fullmatch("[a-z0-9][a-z0-9-]*", text):
        raise FramewattError(f"STUDY: {text!r} is not a name. Use a-z, 0-9 and -.")
    return text


PARTS = ("package", "rebuilt")
"""Subfolders that a rebuild makes in the target."""


@contextlib.contextmanager
def empty_folder(target: Path) -> Iterator[None]:
    """Make sure that a folder exists, is empty and writable; it is removed at the end if it is still empty.

    Raises:
        FramewattError: it holds files, is not writable, or cannot be made.
    """
    advice = "an empty folder, or a new one, where you may write (TARGET=…)."
    there = target.is_dir()
    try:
        names = sorted(path.name for path in target.iterdir()) if there else []
        if not names:
            target.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=target):
                pass
    except OSError as error:
        _remove(target, there)
        raise FramewattError(f"{target} cannot be written ({error.strerror}). Use {advice}") from error
    if names:
        earlier = set(names) <= set(PARTS)
        what = "what an earlier make rebuild left, finished or not" if earlier else "files"
        repair = f"Remove {target} and run it again, or use" if earlier else "Use"
        raise FramewattError(f"{target} holds {what}. {repair} {advice}")
    try:
        yield
    finally:
        _remove(target, there)


def _remove(target: Path, there: bool) -> None:
    if not there:
        with contextlib.suppress(OSError):  # not empty: it holds the rebuilt files
            target.rmdir()
