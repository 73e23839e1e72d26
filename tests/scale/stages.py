"""What the stages of the workflow take for a study that is measured: processor time, and the largest process."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from checkout import command, environment

_VERIFY = (sys.executable, "-P", "scripts/verify.py", "--seconds", "36000", "--memory-gb", "8", "--archive")
"""Of packages of any size: 10,000 runs take more than the memory that a stranger's package is given."""


@dataclass(frozen=True)
class Cost:
    """What a command took, with all processes that it began.

    Attributes:
        cpu_s: processor time, user and system.
        wall_s: seconds that a person waited.
        memory_mb: of its largest process.
    """

    cpu_s: float
    wall_s: float
    memory_mb: float

    def to_dict(self) -> dict[str, float]:
        """For a table."""
        return {name: round(value, 2) for name, value in asdict(self).items()}


def cost_of(words: list[str], folder: Path, **variables: str) -> Cost:
    """Run a command to its end.

    Args:
        words: of the command.
        folder: in which it runs, a checkout unless `variables` say where modules are (PYTHONPATH).
        variables: of its environment.

    Raises:
        RuntimeError: it failed; the message is the end of what it said.
    """
    log = folder / "scale.log"
    paths = {"PYTHONPATH": str(folder / "src")}
    began = time.monotonic()
    with log.open("w") as said:
        process = subprocess.Popen(
            words, cwd=folder, env={**environment(), **paths, **variables}, stdout=said, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)}: ended with {process.returncode}:\n{log.read_text()[-2000:]}")
    return Cost(used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss / 1024)


def targets_of(study: str) -> dict[str, list[str]]:
    """What each stage is asked for by, in the order of the workflow; a stage finds those before it done."""
    results = f"results/{study}"
    return {
        "aggregation": [f"{results}/aggregate/runs.parquet"],
        "statistics": [f"{results}/statistics/answers.csv"],
        "tables": [f"{results}/tables/energy_time.csv"],
        "one figure": [f"{results}/figures/energy_time.svg"],
        "all else of the report": ["all"],
        "archive": ["archive"],
        "nothing to do": ["all"],
        "one figure anew": ["--force", f"{results}/figures/energy_time.svg"],
    }


def costs(root: Path, study: str) -> Iterator[tuple[str, Cost]]:
    """Each stage with its cost, from the records on; what was made of them before is removed first.

    Args:
        root: the checkout.
        study: name of a study that is measured there, see grown.grow.
    """
    results = root / "results" / study
    for folder in ("aggregate", "statistics", "tables", "figures", "report", "archive"):
        shutil.rmtree(results / folder, ignore_errors=True)
    for stage, target in targets_of(study).items():
        yield stage, cost_of(command(*target, config=f"study={study}"), root)
    (package,) = (results / "archive").glob("*.zip")
    yield "make verify", cost_of([*_VERIFY, str(package)], root)
