"""What `make merge` and `make compare` are asked for, as their arguments have it."""

import re
import shlex
from pathlib import Path

from framewatt.base.errors import FramewattError


def archives_of(text: str) -> list[Path]:
    """The packages that ARCHIVES names, between blanks; one whose path has blanks stands between quotes.

    Raises:
        FramewattError: quotes are not closed, a file is named twice or is not there, or there are fewer than two.
    """
    try:
        paths = [Path(word) for word in shlex.split(text)]
    except ValueError as error:
        raise FramewattError(f"ARCHIVES: found {text!r} ({error}); allowed: paths between blanks") from error
    if len(paths) < 2:
        raise FramewattError(f'ARCHIVES: found {len(paths)}; allowed: two packages or more, as ARCHIVES="a.zip b.zip"')
    seen: dict[Path, Path] = {}
    for path in paths:
        if not path.is_file():
            raise FramewattError(f"{path}: found no file; allowed: a package")
        if (other := seen.setdefault(path.resolve(), path)) is not path:
            raise FramewattError(f"ARCHIVES: found {other} and {path}, which are one file; allowed: each once")
    return paths


def name_of(text: str) -> str:
    """The name of a study that STUDY gives; empty where it gives none.

    Raises:
        FramewattError: it is no name.
    """
    if text and not re.fullmatch("[a-z0-9][a-z0-9-]*", text):
        raise FramewattError(f"STUDY: found {text!r}; allowed: a name of a-z, 0-9 and -")
    return text
