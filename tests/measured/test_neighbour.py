"""A real neighbour beside a real workload: what each of them worked is told apart, to a few ticks."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TICKS_S = 0.04
"""What processor time told in ticks of 10 ms may be off, and what is done between an edge and its reading."""

BURN = """
import sys, time
def burn(seconds, each=lambda: None):
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        for _ in range(10000):
            pass
        each()
"""
WORKER = f"""{BURN}
import json, os
events = open(sys.argv[1], "w")
def mark(edge):
    events.write(json.dumps({{"window": "steady", "edge": edge, "monotonic_ns": time.monotonic_ns()}}) + chr(10))
    events.flush()
mark("start")
begin = os.times()
burn(0.7)
child = os.fork()
if not child:
    burn(0.5)
    os._exit(0)
os.waitpid(child, 0)
burn(0.8)
time.sleep(0.5)
worked = sum(os.times()[:4]) - sum(begin[:4])
mark("end")
print(worked)
"""
RUNNER = """
import json, subprocess, sys
from pathlib import Path
from framewatt.energy.accounting import spans_of, windows_of
from framewatt.sampling.client import Sampler
folder = Path(sys.argv[1])
options = {"period_s": 0.01, "estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0}
sampler = Sampler(["estimate"], options, folder / "trace.bin", witnessed=folder / "events.jsonl")
sampler.start()
worker = [sys.executable, "-c", sys.argv[2], folder / "events.jsonl"]
worked_s = float(subprocess.run(worker, capture_output=True, check=True).stdout)
sampler.stop()
events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
print(json.dumps({"worked_s": worked_s, **windows_of(spans_of(events), sampler.trace(), {"domains": {}})["steady"]}))
"""
NEIGHBOUR = f"""{BURN}
file = open(sys.argv[1], "w")
def tell():
    file.write(f"{{time.monotonic_ns()}} {{time.process_time()}}" + chr(10))
    file.flush()
tell()
time.sleep(1.5)
burn(600, tell)
"""


def run_in(folder: Path) -> dict[str, Any]:
    """The window of a worker that works 2 s, half a second of it in a child, then rests, and says what it worked."""
    command = [sys.executable, "-c", RUNNER, str(folder), WORKER]
    root = Path(__file__).parents[2] / "src"
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(root)})
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def doubt_s(found: dict[str, Any]) -> float:
    """Processor seconds that a hypervisor stole: as much of others' work may be unseen, and no more."""
    return float(found["witness"]["steal_share"] * found["witness"]["processors_usable"] * found["duration_s"])


@pytest.mark.measured(
    twin="tests/witness/test_neighbour_simulated.py::test_the_work_of_a_run_and_of_all_others_is_separated_to_a_few_ticks"
)
def test_a_run_is_separated_from_all_others_to_a_few_ticks(tmp_path: Path) -> None:
    found = run_in(tmp_path)
    witness = found["witness"]
    assert witness["unknown"] is None
    assert witness["run_cpu_s"] == pytest.approx(found["worked_s"], abs=TICKS_S)
    whole_s = witness["run_cpu_s"] + witness["own_cpu_s"] + witness["others_cpu_s"]
    assert whole_s == pytest.approx(witness["machine_cpu_s"], abs=TICKS_S + doubt_s(found))


@pytest.mark.measured(
    twin="tests/witness/test_neighbour_simulated.py::test_a_neighbour_that_starts_in_the_middle_does_not_pass_unflagged"
)
def test_a_neighbour_that_begins_in_the_middle_does_not_pass_unflagged(tmp_path: Path) -> None:
    log = tmp_path / "neighbour"
    neighbour = subprocess.Popen([sys.executable, "-c", NEIGHBOUR, str(log)])
    try:
        found = run_in(tmp_path)
    finally:
        neighbour.kill()
        neighbour.wait()
    time_ns, worked_s = np.loadtxt(log, max_rows=len(log.read_text().splitlines()) - 1).T
    edges = [found["start_monotonic_ns"], found["end_monotonic_ns"]]
    before_s, after_s = np.interp(edges, time_ns, worked_s)
    witness = found["witness"]
    assert after_s - before_s > 0.1
    assert witness["others_cpu_s"] >= after_s - before_s - TICKS_S - doubt_s(found)
    assert witness["run_cpu_s"] == pytest.approx(found["worked_s"], abs=TICKS_S)
    assert any(cause.startswith("other work took") for cause in witness["disturbed"])
