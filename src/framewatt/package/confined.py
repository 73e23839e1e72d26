"""Run code on untrusted files in a process with limits; verify and rebuild packages there."""

import argparse
import contextlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.ending import scratch_folder, unbroken
from framewatt.base.errors import FramewattError
from framewatt.host.supervision import adopt_orphans, children, end_orphans, ended_with_parent

_ON_THE_CLOCK = 2
_LARGEST_ANSWER_B = 2**24
_LAST_B = 20_000
_TOO_LARGE = 75
"""Exit status where memory ran out (any number that nothing else uses)."""

_ALONE = {
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")},
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
}
"""Environment of the child: further threads, arenas and pools would reserve memory that they do not use."""


_LIBRARY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Limits:
    """Limits of the child process.

    Attributes:
        seconds: of processor time; the limit of wall-clock time is twice as long, for busy machines.
        memory_b: bytes of memory, libraries included.
        disk_b: bytes of any file that it writes.
    """

    seconds: float = 60.0
    memory_b: int = 2**30
    disk_b: int = 2 * 2**30

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add options by which a script's caller can raise the limits."""
        for name, most, what in (
            ("seconds", cls.seconds, "seconds of processor time that checking may take"),
            ("memory-gb", cls.memory_b / 2**30, "GiB of memory that it may take"),
            ("disk-gb", cls.disk_b / 2**30, "GiB that it may unpack to"),
        ):
            parser.add_argument(f"--{name}", type=_positive, default=most, help=what)

    @classmethod
    def from_arguments(cls, args: argparse.Namespace) -> "Limits":
        """Return the limits that a script was called with, see add_arguments."""
        return cls(args.seconds, int(args.memory_gb * 2**30), int(args.disk_gb * 2**30))


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is out of range. Use a number above 0 and below 1000000.")
    return value


def confined(function: str, arguments: Mapping[str, Any], limits: Limits, what: str) -> Any:
    """Call a function in a process of its own.

    Args:
        function: `module:name`; arguments and result must be JSON values.
        arguments: its arguments, by name.
        limits: of the process.
        what: name of the content, the prefix of every error.

    Returns:
        what the function returned.

    Raises:
        FramewattError: the function raised one, reached a limit, or its process ended in any other way.
    """
    with scratch_folder() as folder:
        answer, printed = folder / "answer.json", folder / "output.txt"
        command = [sys.executable, "-P", "-m", "framewatt.package.confined", function, str(answer)]
        limit_values = [limits.seconds, limits.memory_b, limits.disk_b]
        # The child's own children are waited for too: nothing may write into a folder that is being removed.
        adopt_orphans()
        others = children()
        process = None
        with printed.open("wb") as output:
            try:
                with unbroken():
                    process = subprocess.Popen(
                        [*command, json.dumps(limit_values), json.dumps(arguments)],
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=output,
                        start_new_session=True,
                        preexec_fn=ended_with_parent(),  # noqa: PLW1509 # it only calls the kernel
                        # Its temporary files are deleted with this folder.
                        env={**os.environ, **_ALONE, "PYTHONPATH": _path(), "TMPDIR": str(folder)},
                    )
                code: int | None = process.wait(timeout=_ON_THE_CLOCK * limits.seconds)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                with unbroken():
                    _end(process, others)
        if code == 0:
            return _answered(answer, what)
        raise FramewattError(f"{what}: {_ending(code, _last_line(printed), limits)}")


def _path() -> str:
    """Return the PYTHONPATH of the process, with this checkout first."""
    given = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(_LIBRARY), *([given] if given else [])])


def _end(process: subprocess.Popen[bytes] | None, spared: set[int]) -> None:
    """Kill the process and all of its descendants, also those that this process has adopted."""
    if process is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        end_orphans(spared)


def _answered(answer: Path, what: str) -> Any:
    if answer.stat().st_size > _LARGEST_ANSWER_B:
        raise FramewattError(
            f"{what}: reading it gives more than {_LARGEST_ANSWER_B} bytes of results. Use a smaller package."
        )
    content = json.loads(answer.read_text(encoding="utf-8"))
    if "error" in content:
        raise FramewattError(content["error"])
    return content["result"]


def _ending(code: int | None, last: str, limits: Limits) -> str:
    """Return why the process gave no result, and what to do."""
    if code in (None, -signal.SIGXCPU):
        return f"its content takes more than {limits.seconds:g} s to read. {_raise_limit('TIME_S')}"
    if code == _TOO_LARGE or any(word in last for word in ("bad_alloc", "MemoryError", "emory allocation")):
        return f"its content needs more than {limits.memory_b / 2**30:g} GB of memory. {_raise_limit('MEMORY_GB')}"
    if code == -signal.SIGXFSZ:
        return f"its content needs more than {limits.disk_b / 2**30:g} GB of disk. {_raise_limit('DISK_GB')}"
    if code is not None and code < 0:
        # A library that does not check its allocations crashes where memory runs out.
        cause = f"Perhaps it needs more than {limits.memory_b / 2**30:g} GB of memory"
        return f"its content ended its reader by {signal.Signals(-code).name}. {cause}. {_raise_limit('MEMORY_GB')}"
    return f"its content has another form than packages have ({last[:200]}). Use the package as it was written."


def _raise_limit(variable: str) -> str:
    return f"If you trust it, raise the limit with {variable}=… in the command."


def _last_line(printed: Path) -> str:
    with printed.open("rb") as file:
        file.seek(max(0, printed.stat().st_size - _LAST_B))
        lines = file.read().decode(errors="replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")


def _most_mapped_b() -> int:
    """Return the peak address space of this process in bytes, which is what the memory limit applies to."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return 1024 * int(status.partition("VmPeak:")[2].split()[0])


def _main(function: str, answer: str, limits: str, arguments: str) -> None:
    """Set the limits of the child process, then import and call the function that reads the content."""
    seconds, memory_b, disk_b = json.loads(limits)
    for kind, soft, hard in (
        (resource.RLIMIT_AS, memory_b, memory_b),
        # At the hard CPU limit the kernel sends SIGKILL, which would not show which limit was reached.
        (resource.RLIMIT_CPU, int(seconds) + 1, int(seconds) + 3),
        (resource.RLIMIT_FSIZE, disk_b, disk_b),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        # An existing hard limit of the user, as on a cluster, cannot be raised.
        given = resource.getrlimit(kind)[1]
        most = hard if given == resource.RLIM_INFINITY else min(hard, given)
        resource.setrlimit(kind, (min(soft, most), most))
    module, _, name = function.partition(":")
    try:
        content = {"result": getattr(importlib.import_module(module), name)(**json.loads(arguments))}
    except FramewattError as error:
        content = {"error": str(error)}
    except (MemoryError, ImportError):
        # An ImportError too: without memory, a library cannot be mapped.
        os._exit(_TOO_LARGE)
    except SystemError:
        # CPython raises this where a failed allocation went unchecked, and for other bugs, far from the memory limit.
        if _most_mapped_b() < memory_b / 2:
            raise
        os._exit(_TOO_LARGE)
    Path(answer).write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    _main(*sys.argv[1:])


_WORK = "framewatt.package.verify"
"""Module that does the work; only the child process imports it."""

REBUILDING_TAKES = 20
"""Time limit of rebuilding, as a multiple of that of checking."""


def check(archive: Path, scratch: Path, limits: Limits, rebuild: bool) -> dict[str, list[str]]:
    """Verify a package in a process of its own.

    Args:
        archive: the zip file.
        scratch: an empty folder, which the caller removes.
        limits: of the process; rebuilding may take REBUILDING_TAKES times as long.
        rebuild: whether to rebuild the derived files too, if no other problem was found.

    Returns:
        `problems`, with a summary as the last one, and `said`: what is proven if there are no problems.

    Raises:
        FramewattError: it cannot be checked within the limits, or is no package.
    """
    given = {"archive": str(archive), "scratch": str(scratch), "disk_b": limits.disk_b}
    report: dict[str, list[str]] = confined(f"{_WORK}:verified", given, limits, str(archive))
    if rebuild and not report["problems"]:
        given = {"archive": str(archive), "scratch": str(scratch)}
        report = confined(f"{_WORK}:rebuilt", given, _longer(limits), str(archive))
    return report


def rebuild_confined(archive: Path, target: Path, limits: Limits) -> list[str]:
    """Rebuild a verified package in a process of its own, and compare the files.

    Args:
        archive: the zip file.
        target: an empty folder, see rebuild.rebuild.
        limits: of checking; rebuilding may take REBUILDING_TAKES times as long.

    Returns:
        one line for each file that differs from the package's.

    Raises:
        FramewattError: it cannot be rebuilt, or not within the limits.
    """
    given = {"archive": str(archive), "target": str(target)}
    lines: list[str] = confined("framewatt.package.rebuild:differences", given, _longer(limits), str(archive))
    return lines


def _longer(limits: Limits) -> Limits:
    return Limits(limits.seconds * REBUILDING_TAKES, limits.memory_b, limits.disk_b)
