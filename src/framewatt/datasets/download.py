"""Downloads a file with a known checksum; an interrupted download is resumed."""

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
"""Bytes per chunk; a lost connection loses less than this."""
_TIMEOUT_S = (30, 60)
"""Timeouts for connecting, and between two chunks."""

_LEAST_S = 600
_SLOWEST_B_PER_S = 2**15
"""Slowest accepted rate: a file may take ten minutes plus its size at this rate, so that a trickling server is given
up."""

_FORM = re.compile(r"sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}")

_LOST = 500
"""HTTP status from which the error is the server's, and a retry may help."""


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
            FramewattError: the text has another form.
        """
        if not _FORM.fullmatch(text.lower()):
            raise FramewattError(
                f"checksum: {text!r} is not possible. Use sha256:<64 hexadecimal digits>, or md5:<32 of them>."
            )
        algorithm, _, digest = text.lower().partition(":")
        return cls(algorithm, digest)

    def compute(self, path: Path) -> "Checksum":
        """Return the checksum of a file by the same algorithm."""
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
    """Download a file; `target` exists only once it is complete and has the checksum.

    If the connection is lost, the partial file stays next to `target` for the next retry or call. An existing file is
    accepted only with the right checksum.

    Args:
        url: http or https.
        target: the file.
        checksum: of the whole file.
        size_b: its size in bytes; no more are read.
        attempts: number of attempts in all.
        pause_s: seconds between two attempts.
        limit_s: seconds for the whole download; None is ten minutes plus the time at 32 KiB/s.

    Raises:
        FramewattError: the server has no such file, cannot be reached, takes too long, or sends another file, which is
            removed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() or target.exists():
        if not target.is_symlink() and checksum.compute(target) == checksum:
            return
        print(f"{target.name} is not the file with {checksum}; it is downloaded again", flush=True)
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
            f"{url}: only {_size_of(partial)} of {size_b} bytes came in {limit_s:.0f} s. Run again to go on from "
            "there, or use a faster server."
        ) from None
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    partial.replace(target)


def _fetch(url: str, partial: Path, checksum: Checksum, size_b: int, attempts: int, pause_s: float) -> None:
    """Complete `partial`; restart from the first byte once if an earlier call left a part of another file."""
    went_on = _size_of(partial) > 0
    _come_whole(url, partial, size_b, attempts, pause_s)
    digest = checksum.compute(partial)
    if digest != checksum and went_on:
        print(f"{url}: the part from before is of another file; the download starts again", flush=True)
        partial.unlink()
        _come_whole(url, partial, size_b, attempts, pause_s)
        digest = checksum.compute(partial)
    if digest != checksum:
        came_b = _size_of(partial)
        partial.unlink()
        raise FramewattError(
            f"{url}: the file has {digest} ({came_b} bytes), not {checksum} ({size_b} bytes). "
            "It is deleted. Check the URL and the checksum."
        )


def _come_whole(url: str, partial: Path, size_b: int, attempts: int, pause_s: float) -> None:
    for left in reversed(range(attempts)):
        reason = _continue(url, partial, size_b)
        if reason is None:
            return
        print(f"{url}: {reason}; {_size_of(partial)} of {size_b} bytes are here", flush=True)
        if not left:
            raise FramewattError(
                f"{url}: the connection is lost ({reason}); {_size_of(partial)} of {size_b} bytes are stored. "
                "Run again to go on."
            )
        time.sleep(pause_s)


class _LateError(Exception):
    """The time limit is exceeded."""


@contextmanager
def _at_most(limit_s: float) -> Iterator[None]:
    """Raise _LateError after `limit_s`, even within a name lookup, a response or a read.

    This works in the main thread only, which is where scripts run.
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
    """Resume from the end of `partial`; returns why a retry is worthwhile, or None when all bytes are there."""
    came_b = _size_of(partial)
    if came_b >= size_b:
        return None
    # Without HTTP compression, bytes of the response are bytes of the file.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={came_b}-"} if came_b else {})
    try:
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT_S) as answer:
            if answer.status_code >= _LOST:
                return f"the server answers {answer.status_code}"
            if not answer.ok:
                raise FramewattError(
                    f"{url}: the server answers {answer.status_code}. Name a folder that has the file."
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
                # Another file; the checksum will show it.
                return
