"""Downloads a file whose checksum is known; an interrupted download goes on where it stopped."""

import hashlib
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Never

import requests

from framewatt.base.errors import FramewattError

_CHUNK_B = 2**14
"""What is lost with a connection is less than this."""
_TIMEOUT_S = (30, 60)
"""To connect, and between two pieces."""

_LEAST_S = 600
_SLOWEST_B_PER_S = 2**15
"""A file may take ten minutes, and as long as this speed needs for it: who drips is not waited for without end."""

_FORM = re.compile(r"sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}")

_LOST = 500
"""Status from which on the fault is the server's and may pass."""


@dataclass(frozen=True)
class Checksum:
    """A published checksum.

    Attributes:
        algorithm: `sha256`, or `md5` where the authors publish no other: it shows damage, but not an attack.
        digest: hexadecimal text.
    """

    algorithm: str
    digest: str

    @classmethod
    def parse(cls, text: str) -> "Checksum":
        """From `<algorithm>:<digest>`.

        Raises:
            FramewattError: it is none of these.
        """
        if not _FORM.fullmatch(text.lower()):
            raise FramewattError(
                f"checksum: found {text!r}; allowed: sha256:<64 hexadecimal digits>, or md5:<32 of them>"
            )
        algorithm, _, digest = text.lower().partition(":")
        return cls(algorithm, digest)

    def of(self, path: Path) -> "Checksum":
        """The same algorithm's checksum of a file."""
        with path.open("rb") as file:
            return Checksum(self.algorithm, hashlib.file_digest(file, self.algorithm).hexdigest())

    def __str__(self) -> str:
        return f"{self.algorithm}:{self.digest}"


def download(
    url: str,
    target: Path,
    checksum: Checksum,
    size_b: int,
    *,
    attempts: int = 5,
    pause_s: float = 5.0,
    limit_s: float | None = None,
) -> None:
    """Download a file; `target` is there only when it is whole and has the checksum.

    What has come stays beside `target` when the connection is lost, for the next attempt and the next call. What is
    there already is taken only with the checksum.

    Args:
        url: http or https.
        target: the file.
        checksum: of the whole file.
        size_b: its bytes; no more are read.
        attempts: how often to ask, in all.
        pause_s: rest between two attempts.
        limit_s: seconds for all of it; None is ten minutes and what 32 KiB a second take.

    Raises:
        FramewattError: the server has no such file, is not reached, takes too long, or sends another file. What came of
            another file is removed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() or target.exists():
        if not target.is_symlink() and checksum.of(target) == checksum:
            return
        print(f"{target.name}: found another file than {checksum}; it is downloaded anew", flush=True)
        target.unlink()
    partial = target.with_name(f".{target.name}.partial")
    if partial.is_symlink():
        partial.unlink()
    if limit_s is None:
        limit_s = _LEAST_S + size_b / _SLOWEST_B_PER_S
    try:
        with _at_most(limit_s):
            _fetch(url, partial, checksum, size_b, attempts, pause_s)
    except _LateError:
        raise FramewattError(
            f"{url}: found {_size_of(partial)} of {size_b} bytes after {limit_s:.0f} s; allowed: a server that is "
            "quicker; what came is kept; run again"
        ) from None
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    partial.replace(target)


def _fetch(url: str, partial: Path, checksum: Checksum, size_b: int, attempts: int, pause_s: float) -> None:
    """Have the whole file in `partial`; once from its first byte, where what an earlier call left is of another."""
    went_on = _size_of(partial) > 0
    _come_whole(url, partial, size_b, attempts, pause_s)
    found = checksum.of(partial)
    if found != checksum and went_on:
        print(f"{url}: what had come before is of another file; it starts anew", flush=True)
        partial.unlink()
        _come_whole(url, partial, size_b, attempts, pause_s)
        found = checksum.of(partial)
    if found != checksum:
        came_b = _size_of(partial)
        partial.unlink()
        raise FramewattError(
            f"{url}: found {found} ({came_b} bytes); allowed: {checksum} ({size_b} bytes); nothing is kept"
        )


def _come_whole(url: str, partial: Path, size_b: int, attempts: int, pause_s: float) -> None:
    for left in reversed(range(attempts)):
        reason = _continue(url, partial, size_b)
        if reason is None:
            return
        print(f"{url}: {reason}; {_size_of(partial)} of {size_b} bytes are here", flush=True)
        if not left:
            raise FramewattError(
                f"{url}: found no connection that lasts ({reason}); {_size_of(partial)} of {size_b} bytes are kept; "
                "run again"
            )
        time.sleep(pause_s)


class _LateError(Exception):
    """Time is over."""


@contextmanager
def _at_most(limit_s: float) -> Iterator[None]:
    """Raise _LateError some seconds later, wherever this process is then: asking for a name, in an answer, reading.

    Only the main thread can; a script's is.
    """

    def late(_number: int, _frame: FrameType | None) -> Never:
        raise _LateError

    previous = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _continue(url: str, partial: Path, size_b: int) -> str | None:
    """Read on from where `partial` ends; why it is worth another attempt, or None when all bytes are there."""
    came_b = _size_of(partial)
    if came_b >= size_b:
        return None
    # Without compression on the way, bytes of the file are bytes of the answer.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={came_b}-"} if came_b else {})
    try:
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT_S) as answer:
            if answer.status_code >= _LOST:
                return f"the server says {answer.status_code}"
            if not answer.ok:
                raise FramewattError(
                    f"{url}: found status {answer.status_code}; allowed: a file; name a folder that has it"
                )
            goes_on = answer.headers.get("Content-Range", "").startswith(f"bytes {came_b}-")
            _write(answer, partial, came_b if goes_on else 0, size_b)
    except requests.RequestException as error:
        return " ".join(str(error).split())
    return None if _size_of(partial) >= size_b else "the answer ended early"


def _write(answer: requests.Response, partial: Path, start_b: int, size_b: int) -> None:
    with partial.open("ab" if start_b else "wb") as file:
        for chunk in answer.iter_content(_CHUNK_B):
            start_b += len(chunk)
            file.write(chunk)
            if start_b > size_b:
                # Another file, as its checksum will tell.
                return
