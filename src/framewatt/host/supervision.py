"""Runs a child process that may crash, be killed or hang, reports how it ended, and ends what it leaves behind.

Processes are found even if they have left its process group.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from framewatt.base.ending import endings_heeded
from framewatt.host.memory import MAIN, processes_killed_for_memory, shortage_in_output
from framewatt.privacy.encoded import as_text
from framewatt.privacy.secrets import Secrets

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
"""prctl(2)."""

_LIBC = ctypes.CDLL(None, use_errno=True)

_END_WITHIN_S = 5.0


def adopt_orphans() -> None:
    """Make this process the subreaper: orphaned descendants become its children (Linux, since 3.4)."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def ended_with_parent() -> Callable[[], None]:
    """Return a function that a child calls first, so that the kernel kills it when the thread that started it ends.

    It is for subprocess's `preexec_fn`, where no other thread runs.
    """
    parent = os.getpid()

    def request_death_signal() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return request_death_signal


def children() -> set[int]:
    """Return the process ids of this process's children, without zombies."""
    pids = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # Fields after the name, which is in parentheses and may hold any character: state, parent, … (proc(5)).
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z":
            pids.add(int(stat.parent.name))
    return pids


def end_orphans(spared: set[int]) -> None:
    """Kill all children except `spared`, and the orphans that this process adopts as a result.

    Args:
        spared: process ids of the children to keep.
    """
    deadline = time.monotonic() + _END_WITHIN_S
    while (strays := children() - spared) and time.monotonic() < deadline:
        for pid in strays:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


_KILL_AFTER_S = 5.0
_LAST_WORDS = 300
_LARGEST_LOG_B = 16 << 20


@dataclass(frozen=True)
class Outcome:
    """How a child ended.

    Attributes:
        reason: None on success, else one line with what happened.
        started_ns: CLOCK_MONOTONIC just before it was started.
        ended_ns: CLOCK_MONOTONIC just after it had ended.
        strays: number of processes that it left behind, and that were ended.
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

    When the command ends or times out, or this process receives a signal to end, all processes that the command started
    are ended, even those that have left its group. If this process is killed, the kernel kills the command, but not its
    children.

    Args:
        command: the program and its arguments.
        log: file for its standard output and error.
        timeout_s: seconds it may take.
        environment: environment variables set for it on top of this process's.
        folder: its working directory; None is this process's own.
        keep: open files that it inherits and keeps open until it ends.

    Raises:
        KeyboardInterrupt: this process received SIGINT, SIGTERM or SIGHUP; the group has been ended.
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
            reason = None if code == 0 else _describe_exit(code, killed_before, _output(log, begin))
        except subprocess.TimeoutExpired:
            reason = f"took longer than {timeout_s:g} s and was ended"
        finally:
            ended_ns = time.monotonic_ns()
            strays = len(children() - others - {process.pid})
            _end_group(process)
            end_orphans(others)
    # The output may name secrets of this machine, and is published with the results. Secrets are removed before the
    # line is cut to length, since half a secret would not be recognised.
    secrets = Secrets.from_this_machine()
    scrub(log, begin, secrets)
    if reason:
        words = _last_words(_output(log, begin))
        reason = secrets.redact(reason) + (f": {words}" if words else secrets.redact(f" (see {log})"))
    return Outcome(reason, started_ns, ended_ns, strays)


def scrub(log: Path, begin: int, secrets: Secrets) -> None:
    """Remove secrets from the new part of a log; beyond `_LARGEST_LOG_B`, its middle is cut out.

    The file is edited in place, since others may have it open for appending.

    Args:
        log: the file.
        begin: where in it the new part begins, bytes.
        secrets: the texts to remove.
    """
    with log.open("r+b") as file:
        file.seek(begin)
        content = file.read(_LARGEST_LOG_B)
        size = log.stat().st_size - begin
        if size > _LARGEST_LOG_B:
            file.seek(-(_LARGEST_LOG_B // 2), os.SEEK_END)
            # Cut between words: half a token would not be recognised as a secret.
            first, last = content[: _LARGEST_LOG_B // 2].rpartition(b" ")[0], file.read().partition(b" ")[2]
            content = first + b"\n[framewatt: %d bytes left out]\n" % (size - len(first) - len(last)) + last
        scrubbed = secrets.redact(as_text(content)).encode("utf-8", "surrogateescape")
        if scrubbed != content or size > _LARGEST_LOG_B:
            file.seek(begin)
            file.write(scrubbed)
            file.truncate()


def thread_settings(threads: int) -> dict[str, str]:
    """Environment variables that limit every math library to `threads`.

    They override Snakemake's, which follow its own count of cores, not the study's.
    """
    names = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "GOTO")
    return {f"{name}_NUM_THREADS": str(threads) for name in names} | {"TF_CPP_MIN_LOG_LEVEL": "2"}


def _describe_exit(code: int, killed_before: int | None, output: str) -> str:
    """Return how a child failed, and which kind of memory ran out, if known.

    Args:
        code: its exit code, negative for a signal.
        killed_before: OOM kills before the child was started.
        output: of the child.
    """
    short = shortage_in_output(output)
    ending = f"ended with exit code {code}" if code > 0 else f"killed by {signal.Signals(-code).name}"
    if code == -signal.SIGKILL:
        killed = processes_killed_for_memory()
        if killed is None or killed_before is None:
            ending += ", perhaps for want of memory"
        elif killed > killed_before:
            short = MAIN
    return f"out of {short}: {ending}" if short else ending


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the rest of the child's process group: SIGTERM, then SIGKILL."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except (ProcessLookupError, PermissionError):
            break
        deadline = time.monotonic() + _KILL_AFTER_S
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
    process.wait()


def _output(log: Path, begin: int) -> str:
    """Return the output of the child."""
    with log.open("rb") as file:
        file.seek(begin)
        return file.read().decode(errors="replace")


def _last_words(output: str) -> str:
    """Return the last line about a lack of memory, else the last line, where Python puts the error."""
    lines = [line.strip() for line in output.splitlines()]
    telling = [line for line in lines if shortage_in_output(line)] or lines
    return next((line[:_LAST_WORDS] for line in reversed(telling) if line), "")
