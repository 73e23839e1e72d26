"""Sets the CPU frequency governor for a while and restores it, even after a crash.

A guardian process sets the governor and waits until its standard input closes, which happens however its parent ends.
Then it restores the previous governor. It ignores the signals that stop a run. The process is `python -m
framewatt.host.governor NAME`.
"""

import contextlib
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from framewatt.base.errors import FramewattError

CPUS = Path("/sys/devices/system/cpu")

_ANSWER_S = 10.0
_NO_ANSWER = "the process that sets the governor does not answer. Start again."


@contextlib.contextmanager
def governor(name: str | None, root: Path = CPUS, keep: Sequence[int] = ()) -> Iterator[None]:
    """Use this governor inside the block; None leaves it unchanged.

    Args:
        name: `performance`, or another that the kernel knows.
        root: where the kernel lists its processors.
        keep: open files (the lock of the machine) that the guardian process keeps open until it has restored the
            governor.

    Raises:
        FramewattError: the kernel shows no governor, or this user may not set it.
    """
    if name is None:
        yield
        return
    guardian = subprocess.Popen(
        [sys.executable, "-m", "framewatt.host.governor", name, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        pass_fds=keep,
    )
    assert guardian.stdin is not None
    assert guardian.stdout is not None
    try:
        ready, _, _ = select.select([guardian.stdout], [], [], _ANSWER_S)
        answer = guardian.stdout.readline().strip() if ready else _NO_ANSWER
        if answer != "set":
            raise FramewattError(f"preflight.set_governor: {answer}")
        yield
    finally:
        guardian.stdin.close()
        guardian.wait()
        guardian.stdout.close()


def main(name: str, root: Path) -> int:
    """Set the governor of every processor, wait for the end of standard input, and restore the previous ones."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    files = sorted(root.glob("cpu[0-9]*/cpufreq/scaling_governor"))
    if not files:
        print(
            f"no scaling_governor is under {root}. Use a machine that shows cpufreq, or leave the key out.", flush=True
        )
        return 1
    previous: dict[Path, str] = {}
    try:
        for file in files:
            previous[file] = file.read_text()
            file.write_text(name)
        print("set", flush=True)
        sys.stdin.read()
    except OSError as error:
        print(f"{error.filename} cannot be written ({error.strerror}). Run as root.", flush=True)
    finally:
        for file, name_before in previous.items():
            with contextlib.suppress(OSError):
                file.write_text(name_before)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
