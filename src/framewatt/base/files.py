"""Files that are either complete or absent: written under a temporary name, synced, renamed."""

import contextlib
import fcntl
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Never

_LARGEST_WHOLE = 2**64 - 1
"""Largest integer allowed in a file: counters of bytes and nanoseconds have 64 bits."""

PARTIAL = ".*.partial"
"""Glob pattern of the temporary names of files being written."""


def partial_suffix() -> str:
    """Return the end of this process's temporary names; two processes that write the same file do not collide."""
    return f".{os.getpid()}.partial"


@contextlib.contextmanager
def in_work(path: Path) -> Iterator[None]:
    """Lock a file or folder while it is being written: an unlocked one was left by a killed process."""
    file = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # not every file system has locks; without them nothing is swept
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file next to `path`, sync it and rename it into place.

    Raises:
        OSError: the disk is full or the folder cannot be written; `path` is then as it was before.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}{partial_suffix()}")
    try:
        temporary.touch()
        with in_work(temporary):
            write(temporary)
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, atomically."""

    def write(partial: Path) -> None:
        partial.write_text(text, encoding="utf-8")

    write_atomically(path, write)


def write_json(path: Path, content: Any) -> None:
    """Write JSON, indented, keys as given, NaN refused, atomically."""
    write_text(path, json_text(content))


def json_text(content: Any) -> str:
    """Return JSON text as `write_json` writes it."""
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        ValueError: it is not UTF-8, not JSON, nested too deeply, has a duplicate key, or holds a number that no column
            can hold.
        OSError: it cannot be read.
    """
    return parse_json(path.read_text(encoding="utf-8"))


def parse_json(text: str, *, any_number: bool = False) -> Any:
    """Parse JSON text as strictly as `read_json`.

    Args:
        text: the JSON.
        any_number: True accepts NaN, infinity and whole numbers of more than 64 bits; the caller checks numbers then,
            and can name their place.

    Raises:
        ValueError: see read_json.
    """
    try:
        if any_number:
            return json.loads(text, object_pairs_hook=_each_once)
        return json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole, object_pairs_hook=_each_once
        )
    except RecursionError:
        raise ValueError("nested too deep") from None


def _refuse_constant(name: str) -> Never:
    # Python's reader accepts NaN and Infinity, which JSON does not have; NaN would pass range checks.
    raise ValueError(f"{name} is not a number in JSON. Write a finite number or null.")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python's reader keeps the last duplicate; another reader, or a person, may take the first.
    content = dict(pairs)
    if len(content) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                break
            seen.add(key)
        raise ValueError(f"the key {key!r:.60} occurs twice. Keep one of them.")
    return content


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large for a float. Write a number below 1.8e308.")
    return value


def _whole(text: str) -> int:
    value = int(text) if len(text) <= len(str(-_LARGEST_WHOLE)) else _LARGEST_WHOLE + 1
    if abs(value) > _LARGEST_WHOLE:
        raise ValueError(f"{text[:20]}… of {len(text)} digits does not fit into 64 bits. Write a smaller whole number.")
    return value


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal text."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_files(paths: Iterable[Path], root: Path) -> str:
    """Return the SHA-256 over the names (relative to `root`) and hashes of files, in order of name."""
    return sha256_of_names({path.relative_to(root).as_posix(): sha256_of(path) for path in paths})


def sha256_of_names(hashes: Mapping[str, str]) -> str:
    """Return the SHA-256 over names and hashes of files, in order of name.

    Args:
        hashes: of each file, by its name.
    """
    lines = sorted(f"{name} {digest}" for name, digest in hashes.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
