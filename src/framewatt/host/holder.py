"""Who holds a lock: written into its file by the holder, read by those who wait."""

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
        study: what it holds it for.
        pid: its process.
        since: when it began, UTC.
    """

    study: str
    pid: int
    since: datetime

    def __str__(self) -> str:
        return f"process {self.pid}, study {self.study}, since {self.since:%Y-%m-%d %H:%M:%S} UTC"


def tell(file: int, study: str) -> None:
    """Write into a lock's file that this process holds it. A full disk takes only that away."""
    told = {"study": study, "pid": os.getpid(), "since_utc": datetime.now(UTC).isoformat(timespec="seconds")}
    line = f"{json.dumps(told)}\n".encode()
    with contextlib.suppress(OSError):
        os.pwrite(file, line, 0)
        os.ftruncate(file, len(line))


def told(file: int) -> Holder | None:
    """Who holds it, by what it wrote. Anybody may write there, so nothing else of it is believed or shown."""
    try:
        said = json.loads(os.pread(file, _TOLD_B, 0).splitlines()[0])
        study, since = str(said["study"]), datetime.fromisoformat(said["since_utc"]).astimezone(UTC)
        return Holder(study, int(said["pid"]), since) if _STUDY.fullmatch(study) else None
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError, OverflowError):
        return None
