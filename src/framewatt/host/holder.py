"""Who holds a lock: the holder writes it into the lock's file, and those who wait read it."""

import contextlib
import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime

_TOLD_B = 4096
_STUDY = re.compile(r"[\w.-]{1,100}", re.ASCII)


@dataclass(frozen=True)
class Holder:
    """Who holds a lock.

    Attributes:
        study: the study that it measures.
        pid: its process id.
        since: when it took the lock, UTC.
    """

    study: str
    pid: int
    since: datetime

    def __str__(self) -> str:
        return f"process {self.pid}, study {self.study}, since {self.since:%Y-%m-%d %H:%M:%S} UTC"


def tell(file: int, study: str) -> None:
    """Write into a lock's file that this process holds it. On a full disk, only this note is lost."""
    told = {"study": study, "pid": os.getpid(), "since_utc": datetime.now(UTC).isoformat(timespec="seconds")}
    line = f"{json.dumps(told)}\n".encode()
    with contextlib.suppress(OSError):
        os.pwrite(file, line, 0)
        os.ftruncate(file, len(line))


def told(file: int) -> Holder | None:
    """The holder according to the lock's file, or None. Anybody may write there, so anything unexpected is ignored."""
    try:
        said = json.loads(os.pread(file, _TOLD_B, 0).splitlines()[0])
        study, since = str(said["study"]), datetime.fromisoformat(said["since_utc"]).astimezone(UTC)
        return Holder(study, int(said["pid"]), since) if _STUDY.fullmatch(study) else None
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError, OverflowError):
        return None
