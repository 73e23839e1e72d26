"""Downloads a file whose checksum is known; an interrupted download goes on where it stopped."""

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

import requests

from framewatt.errors import FramewattError

_CHUNK_B = 2**14
"""What is lost with a connection is less than this."""
_TIMEOUT_S = (30, 60)
"""To connect, and between two pieces."""

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
        """From `<algorithm>:<digest>`."""
        algorithm, _, digest = text.partition(":")
        return cls(algorithm, digest)

    def of(self, path: Path) -> "Checksum":
        """The same algorithm's checksum of a file."""
        with path.open("rb") as file:
            return Checksum(self.algorithm, hashlib.file_digest(file, self.algorithm).hexdigest())

    def __str__(self) -> str:
        return f"{self.algorithm}:{self.digest}"


def download(
    url: str, target: Path, checksum: Checksum, size_b: int, *, attempts: int = 5, pause_s: float = 5.0
) -> None:
    """Download a file; `target` is there only when it is whole and has the checksum.

    What has come stays beside `target` when the connection is lost, for the next attempt and the next call.

    Args:
        url: http or https.
        target: the file.
        checksum: of the whole file.
        size_b: its bytes; no more are read.
        attempts: how often to ask, in all.
        pause_s: rest between two attempts.

    Raises:
        FramewattError: the server has no such file, is not reached, or sends another file. What came of another file
            is removed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    for left in reversed(range(attempts)):
        reason = _continue(url, partial, size_b)
        if reason is None:
            break
        print(f"{url}: {reason}; {_size_of(partial)} of {size_b} bytes are here", flush=True)
        if not left:
            raise FramewattError(
                f"{url}: found no connection that lasts ({reason}); {_size_of(partial)} of {size_b} bytes are kept; "
                "run again"
            )
        time.sleep(pause_s)
    found = checksum.of(partial)
    if found != checksum:
        came_b = _size_of(partial)
        partial.unlink()
        raise FramewattError(
            f"{url}: found {found} ({came_b} bytes); allowed: {checksum} ({size_b} bytes); nothing is kept"
        )
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    partial.replace(target)


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
