"""Plays hardware that follows a plan of loads, and lets the script characterise it. Run inside a mount namespace."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from framewatt.characterisation.loads import planned
from framewatt.characterisation.schedule import ALL_CORES, GPU, IDLE, ONE_CORE
from hardware.namespaces import ROOT, run_apart
from hardware.powercap import HELD_UP, install, play
from hardware.script import VARIABLE, Script

HERE = Path(__file__).parent
LEADS_S = (15.0, 15.0, 30.0, 30.0, 60.0, 60.0)
"""Seconds in which the script starts its meters and its loads, by try: a busy machine takes longer."""

REPEATS, STEP_S = 3, 1.5
CPU_W = {IDLE: 50.0, ONE_CORE: 80.0, ALL_CORES: 200.0, GPU: 60.0}
GPU_W = {IDLE: 70.0, ONE_CORE: 70.0, ALL_CORES: 70.0, GPU: 500.0}
_SHARES = {"cpu:package-0": 1.0, "cpu:core-0": 0.6, "cpu:dram-0": 0.1, "cpu:psys": 1.5}


def play_plan(change: dict, lead_s: float) -> dict:
    """Characterise scripted hardware in namespaces of its own: `rc`, `out`, `record` or None, `picture`, `held_up_s`.

    Args:
        change: fields of the hardware's Script that differ; `frozen` in seconds of the plan.
        lead_s: seconds before the plan begins.
    """
    return run_apart("hardware.characterised", json.dumps(change), str(lead_s), timeout_s=180)


def script_of(change: dict, lead_s: float) -> Script:
    """Hardware that follows the plan."""
    at_s, levels = lead_s, [(0.0, IDLE)]
    for load, seconds in planned((ONE_CORE, ALL_CORES, GPU), REPEATS, STEP_S):
        levels.append((at_s, load))
        at_s += seconds
    levels.append((at_s, IDLE))
    watts = {domain: [[second, CPU_W[load] * share] for second, load in levels] for domain, share in _SHARES.items()}
    watts["gpu:0"] = [[second, GPU_W[load]] for second, load in levels]
    frozen = {domain: lead_s + second for domain, second in change.pop("frozen", {}).items()}
    return replace(Script(watts=watts, limit_w=400.0, frozen=frozen), **change)


def main(change: dict, lead_s: float, scratch: Path) -> None:
    """Play it and print what came of it."""
    path = scratch / "script.json"
    script = script_of(change, lead_s)
    script.save(path)
    tree, stat = install(script, scratch)
    if not os.fork():
        play(tree, stat, path)
    os.setpriority(os.PRIO_PROCESS, 0, 0)
    started = replace(script, start_ns=time.monotonic_ns())
    started.save(scratch / "started.json")
    (scratch / "started.json").replace(path)
    folder = scratch / "found"
    environment = {
        VARIABLE: str(path),
        "PATH": f"{HERE / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": f"{HERE / 'modules'}:{os.environ['PYTHONPATH']}",
        "FRAMEWATT_LOCK_FOLDER": str(scratch),
    }
    words = [sys.executable, "-P", str(ROOT / "scripts" / "characterise.py"), "--folder", str(folder)]
    words += ["--repeats", str(REPEATS), "--step-s", str(STEP_S)]
    words += ["--begin-ns", str(started.start_ns + round(lead_s * 1e9))]
    done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    record = folder / "characterisation.json"
    picture = folder / "steps.svg"
    print(
        json.dumps(
            {
                "rc": done.returncode,
                "out": done.stdout + done.stderr,
                "record": json.loads(record.read_text()) if record.exists() else None,
                "picture": picture.read_text()[:200] if picture.exists() else "",
                "held_up_s": float((scratch / HELD_UP).read_text()),
            }
        )
    )


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        main(json.loads(sys.argv[1]), float(sys.argv[2]), Path(folder))
