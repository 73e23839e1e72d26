"""A study on the two nodes of a Slurm on this machine (hardware.slurm_cluster), with stand-ins for frameworks.

Both nodes are this machine's processors: what is measured says nothing, where and when it was measured does.
"""

import contextlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import stand_ins
from checkout import Answer, Checkout, environment
from hardware.slurm_cluster import NODES

from framewatt.host.lock import VARIABLE as LOCK
from framewatt.runs.records import read_run

BLOCKS = 4
STUDY: dict[str, Any] = {
    "factors": [
        {
            **{"phase": ["infer"], "workload": ["resnet50"], "dataset": ["digits"], "batch_size": [4]},
            "runtime": ["torch", "tensorflow"],
        }
    ],
    "repetitions": BLOCKS,
    "device": "auto",
    "instruments": {"meters": ["estimate"]},
    "training": {"epochs": 1},
    "window": {"warm_up_batches": 1, "minimum_s": 4},
    "calibration": {"idle_s": 1},
    "cool_down": {"rest_s": 0},
    "timeout_s": 120,
}
CONFIG = ["study=two", "environment=host", "absent={}"]
NODES_TOLD = "nodes={" + ", ".join(f"{alias}: {name}" for alias, name in NODES.items()) + "}"
ACCOUNTED = [
    *("--workflow-profile", "workflow/profiles/slurm", "--latency-wait", "20"),
    *("--slurm-init-seconds-before-status-checks", "2"),
]
"""Where there is accounting: the plugin asks `sacct` for the states of jobs."""

PROFILE = [*ACCOUNTED, "--slurm-status-command", "squeue", "--slurm-no-account"]
FRAME = "results/two/aggregate/runs.parquet"
LONG_S = 600


class OnNodes(Checkout):
    """A checkout with such a study.

    Args:
        root: an empty folder.
        settings: of the study, in place of those in STUDY.
    """

    def __init__(self, root: Path, **settings: object) -> None:
        super().__init__(root, lock=None)
        stand_ins.install(self)
        self.write_study("two", **{**STUDY, **settings})

    def call(self, *words: str, config: list[str]) -> subprocess.Popen:
        """Start snakemake on the study."""
        return started(self.root, *words, config=[*CONFIG, *config])

    def on_slurm(self, profile: list[str] = PROFILE) -> subprocess.Popen:
        """Start the study on both nodes."""
        return self.call(*profile, FRAME, config=[NODES_TOLD])

    @property
    def records(self) -> dict[Path, dict[str, Any]]:
        """Of all runs that are there."""
        return {path: read_run(path) for path in sorted((self.root / "results/two/measure").glob("*/*/run.json"))}


def started(root: Path, *words: str, config: list[str]) -> subprocess.Popen:
    """Start snakemake without a limit of cores over all nodes; the last word is what it makes."""
    # The lock is each node's own, which its jobs are told.
    there = {name: value for name, value in environment().items() if name != LOCK}
    return subprocess.Popen(
        [str(Path(sys.executable).parent / "snakemake"), *words[:-1], "--config", *config, "--", words[-1]],
        cwd=root,
        env=there,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: subprocess.Popen) -> Answer:
    """How it ends."""
    text, _ = process.communicate(timeout=LONG_S)
    return Answer(process.returncode, text)


def hangs(call: subprocess.Popen, idle_s: float) -> bool:
    """Wait for the end of a call; True where Slurm has had no job for so long, and it still is not there."""
    busy_s = time.monotonic()
    while call.poll() is None:
        jobs = subprocess.run(["squeue", "--noheader"], capture_output=True, text=True, check=False)
        if jobs.returncode or jobs.stdout.strip():
            busy_s = time.monotonic()
        elif time.monotonic() - busy_s > idle_s:
            return True
        time.sleep(1)
    return False


def processes_of(node: str) -> list[psutil.Process]:
    """Those of the jobs of a node, and the step daemons above them, which are no children of its slurmd."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("SLURMD_NODENAME") == node:
                daemons = [one for one in process.parents() if one.name().startswith("slurmstepd")]
                found += [*daemons, process]
    return found


def measures(processes: list[psutil.Process]) -> bool:
    """Whether one of them is the worker of a run, and not a Snakemake that starts."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if "framewatt.runs.worker" in process.cmdline():
                return True
    return False
