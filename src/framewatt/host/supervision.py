"""A child process that may crash, be killed or hang, and what is said of it afterwards."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from framewatt.base.encoded import as_text
from framewatt.base.ending import endings_heeded
from framewatt.base.privacy import Secrets
from framewatt.host.memory import MAIN, processes_killed_for_memory, shortage_told
from framewatt.host.orphans import adopt_orphans, children, end_orphans, ended_with_parent

_KILL_AFTER_S = 5.0
_LAST_WORDS = 300
_LARGEST_LOG_B = 16 << 20


@dataclass(frozen=True)
class Outcome:
    """How a child ended.

    Attributes:
        reason: None where it ended well, else one line that says what happened.
        started_ns: CLOCK_MONOTONIC just before it was started.
        ended_ns: CLOCK_MONOTONIC just after it had ended.
        strays: processes that it had left behind, and that were ended.
    """

    reason: str | None
    started_ns: int
    ended_ns: int
    strays: int = 0


def supervise(
    command: Sequence[str | Path],
    *,
    log: Path,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    keep: Sequence[int] = (),
) -> Outcome:
    """Run a command in a process group of its own, its output appended to `log`.

    Whatever it leaves behind when it ends, runs out of time, or this process is told to stop, is ended, also what has
    left its group. Where this process is killed, the kernel ends the command (not what that has started).

    Args:
        command: the program and its arguments.
        log: file for its standard output and error.
        timeout_s: seconds it may take.
        environment: environment variables set for it on top of this process's.
        folder: where it starts; None is where this process is.
        keep: open files that it has, too, and holds until it ends.

    Raises:
        KeyboardInterrupt: this process was told to stop (SIGINT, SIGTERM or SIGHUP); the group has been ended.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    adopt_orphans()
    others = children()
    killed_before = processes_killed_for_memory()
    strays = 0
    with log.open("ab") as output, endings_heeded():
        begin = output.tell()
        started_ns = time.monotonic_ns()
        try:
            process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                pass_fds=keep,
                preexec_fn=ended_with_parent(),  # noqa: PLW1509 # it only calls the kernel
                cwd=folder,
                env={**os.environ, **(environment or {})},
            )
        except OSError as error:
            return Outcome(f"could not start {command[0]}: {error.strerror}", started_ns, time.monotonic_ns())
        try:
            code = process.wait(timeout=timeout_s)
            reason = None if code == 0 else _describe_exit(code, killed_before, _said(log, begin))
        except subprocess.TimeoutExpired:
            reason = f"took longer than {timeout_s:g} s and was ended"
        finally:
            ended_ns = time.monotonic_ns()
            strays = len(children() - others - {process.pid})
            _end_group(process)
            end_orphans(others)
    # What a program says of a machine is kept with the results, which others will read. It is taken out before the
    # line is cut to its length.
    secrets = Secrets.of_this_machine()
    scrub(log, begin, secrets)
    if reason:
        words = _last_words(_said(log, begin))
        reason = secrets.redact(reason) + (f": {words}" if words else secrets.redact(f" (see {log})"))
    return Outcome(reason, started_ns, ended_ns, strays)


def scrub(log: Path, begin: int, secrets: Secrets) -> None:
    """Take secrets out of what was appended to a log; of more than `_LARGEST_LOG_B`, what is in the middle is left out.

    The file stays the same one: others may have it open, to append to it.

    Args:
        log: the file.
        begin: where in it the new part begins, bytes.
        secrets: what is taken out.
    """
    with log.open("r+b") as file:
        file.seek(begin)
        said = file.read(_LARGEST_LOG_B)
        size = log.stat().st_size - begin
        if size > _LARGEST_LOG_B:
            file.seek(-(_LARGEST_LOG_B // 2), os.SEEK_END)
            # Cut between words: of half a token nobody sees what it is.
            first, last = said[: _LARGEST_LOG_B // 2].rpartition(b" ")[0], file.read().partition(b" ")[2]
            said = first + b"\n[framewatt: %d bytes left out]\n" % (size - len(first) - len(last)) + last
        scrubbed = secrets.redact(as_text(said)).encode("utf-8", "surrogateescape")
        if scrubbed != said or size > _LARGEST_LOG_B:
            file.seek(begin)
            file.write(scrubbed)
            file.truncate()


def thread_settings(threads: int) -> dict[str, str]:
    """Environment variables that hold every math library to `threads`.

    Snakemake sets the same ones from its own count of cores, which is not the study's.
    """
    names = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "GOTO")
    return {f"{name}_NUM_THREADS": str(threads) for name in names} | {"TF_CPP_MIN_LOG_LEVEL": "2"}


def _describe_exit(code: int, killed_before: int | None, said: str) -> str:
    """How a child ended that did not end well, and which memory it was short of, if that is told.

    Args:
        code: what it ended with, below 0 for a signal.
        killed_before: how many processes the kernel had ended for want of memory when the child was started.
        said: all that the child wrote.
    """
    short = shortage_told(said)
    ending = f"ended with exit code {code}" if code > 0 else f"killed by {signal.Signals(-code).name}"
    if code == -signal.SIGKILL:
        killed = processes_killed_for_memory()
        if killed is None or killed_before is None:
            ending += ", perhaps for want of memory"
        elif killed > killed_before:
            short = MAIN
    return f"out of {short}: {ending}" if short else ending


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the child's process group: politely, then not."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except (ProcessLookupError, PermissionError):
            break
        deadline = time.monotonic() + _KILL_AFTER_S
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
    process.wait()


def _said(log: Path, begin: int) -> str:
    """All that the child wrote."""
    with log.open("rb") as file:
        file.seek(begin)
        return file.read().decode(errors="replace")


def _last_words(said: str) -> str:
    """The last line that tells of a shortage of memory, else the last one, which is where Python puts the error."""
    lines = [line.strip() for line in said.splitlines()]
    telling = [line for line in lines if shortage_told(line)] or lines
    return next((line[:_LAST_WORDS] for line in reversed(telling) if line), "")
