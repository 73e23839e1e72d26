"""Plays hardware that follows a plan of loads, and lets the script characterise it. Run inside a mount namespace.

What must come of it is here, too: the same is demanded in real time and on simulated time.
"""

import json
import math
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from framewatt.characterisation.loads import PERIODS_S, planned, square_waves
from framewatt.characterisation.schedule import ALL_CORES, GPU, GPU_CLOSED, IDLE, ONE_CORE, period_of
from hardware.namespaces import ROOT, run_apart
from hardware.powercap import HELD_UP, install, play
from hardware.script import VARIABLE, Script

HERE = Path(__file__).parent
LEADS_S = (10.0, 20.0, 40.0)
"""Seconds in which the script starts its meters and its loads, by try: a busy machine takes longer."""

REPEATS, STEP_S, WAVE_S = 3, 1.5, 2.0
CPU_W = {IDLE: 50.0, ONE_CORE: 80.0, ALL_CORES: 200.0, GPU: 60.0, GPU_CLOSED: 50.0}
GPU_W = {IDLE: 70.0, ONE_CORE: 70.0, ALL_CORES: 70.0, GPU: 500.0, GPU_CLOSED: 40.0}
SETTLED_S = REPEATS * STEP_S / 2
"""Seconds of each load in which power is settled, all repetitions together, see characterisation.levels."""

FROZEN = {
    "wrap_j": {"cpu:package-0": 900.0},
    "frozen": {"gpu:0": -60.0, "cpu:psys": 10.0},
    "averaged_s": {"gpu:0": 0.6},
    "refreshed_s": {"gpu:0": 0.1},
}
"""Changes of the hardware: one counter that wraps, two that stand still, and a GPU that averages its power."""

_SHARES = {"cpu:package-0": 1.0, "cpu:core-0": 0.6, "cpu:dram-0": 0.1, "cpu:psys": 1.5}


def play_plan(change: dict, lead_s: float) -> dict:
    """Characterise scripted hardware in namespaces of its own: `rc`, `out`, `record` or None, `trace`, `picture`,
    `delayed_s`.

    Args:
        change: fields of the hardware's Script that differ; `frozen` in seconds of the plan.
        lead_s: seconds before the plan begins.
    """
    return run_apart("hardware.characterised", json.dumps(change), str(lead_s), timeout_s=180)


def plan() -> list[tuple[str, float]]:
    """Return the loads of the characterisation and their seconds."""
    return [*planned((ONE_CORE, ALL_CORES, GPU), REPEATS, STEP_S), *square_waves(WAVE_S)]


def script_of(change: dict, lead_s: float) -> Script:
    """Hardware that follows the plan."""
    at_s, levels = lead_s, [(0.0, IDLE)]
    for load, seconds in plan():
        if period_s := period_of(load):
            halves = [at_s + half * period_s / 2 for half in range(math.ceil(round(2 * seconds / period_s, 6)))]
            levels += [(begin_s, IDLE if number % 2 else GPU) for number, begin_s in enumerate(halves)]
        else:
            levels.append((at_s, load))
        at_s += seconds
    levels.append((at_s, IDLE))
    watts = {domain: [[second, CPU_W[load] * share] for second, load in levels] for domain, share in _SHARES.items()}
    watts["gpu:0"] = [[second, GPU_W[load]] for second, load in levels]
    frozen = {domain: lead_s + second for domain, second in change.get("frozen", {}).items()}
    return replace(Script(watts=watts, limit_w=400.0), **{**change, "frozen": frozen})


def assert_trusted(played: dict, delayed_s: float = 0.0) -> None:
    """Fail unless every meter of a machine whose meters are right is trusted, and characterised as what it is.

    Args:
        played: see play_plan.
        delayed_s: longest time for which the played counters stood still. Where that is at an edge of a settled time,
            as much of the power is missing.
    """
    assert played["rc"] == 0, played["out"]
    assert played["out"].splitlines()[-1].startswith("verdict: every meter is to be trusted: ")
    assert played["trace"]
    assert played["picture"].startswith("<?xml")
    channels = channels_of(played)
    assert {name.split()[2] for name in channels} == {"rapl", "perf", "pyrapl", "nvml", "nvidia-smi"}
    within = 0.02 + delayed_s / SETTLED_S
    for name, one in channels.items():
        watts = {"gpu:0": GPU_W, "cpu:package-0": CPU_W}.get(one["channel"]["domain"])
        if watts:
            assert_near(one["idle_w"], watts[IDLE], within, name)
            load = GPU if watts is GPU_W else ALL_CORES
            (seen,) = [response for response in one["responses"] if response["load"] == load]
            assert_near(seen["power_w"], watts[load], within, name)
            delay = one["lateness"]["delay"]
            assert delay["value"] is not None, (name, delay)
            assert abs(delay["value"]) < 0.1, (name, delay)
    rapl = channels["cpu:package-0 energy_j rapl"]
    assert rapl["update_period"]["value"] is None, rapl["update_period"]
    assert 0.009 < rapl["update_period"]["at_most"] < 0.06, rapl["update_period"]
    assert rapl["shortest_window_s"]["0.01"] < 3, rapl["shortest_window_s"]
    assert channels["gpu:0 energy_j nvml"]["shortest_window_s"]["0.01"] > 2
    counter = channels["gpu:0 energy_j nvml"]
    assert_near(counter["gpu_closed_w"], GPU_W[GPU_CLOSED], 0.02, "GPU closed")
    assert [wave["period_s"] for wave in counter["waves"]] == list(PERIODS_S)
    for wave in counter["waves"]:
        assert 0.4 < wave["busy"] < 0.65, wave
        assert_near(wave["power_w"], (GPU_W[IDLE] + GPU_W[GPU]) / 2, 0.05, "square wave")
    # What NVML says may be a mean over a second is seen to be an instant's.
    averaged = channels["gpu:0 power_average_w nvml"]
    assert averaged["channel"]["average_most_s"] == 1.0
    assert averaged["as_measured"]["average_s"] == 0.0, averaged["lateness"]
    assert averaged["as_measured"]["average_most_s"] < 0.2, averaged["lateness"]
    ratios = {
        f"{one['domain']} by {one['other']} {one['reason']}": one["ratio"] for one in played["record"]["agreements"]
    }
    expected = {
        "gpu:0 by power_instant_w of nvml ",
        *(
            f"cpu:{domain} by energy_j of {other} "
            for domain in ("package-0", "dram-0")
            for other in ("perf", "pyrapl")
        ),
    }
    assert set(ratios) >= expected, ratios
    for name, ratio in ratios.items():
        assert_near(ratio, 1.0, 0.01, name)


def assert_frozen_are_doubted(played: dict) -> None:
    """Fail unless of hardware with the changes FROZEN the counters that stand still are doubted, and no others.

    Args:
        played: see play_plan.
    """
    assert played["rc"] == 3, played["out"]
    # pyRAPL gives a negative number after a wrap.
    doubted = "cpu:package-0 energy_j of pyrapl, cpu:psys energy_j of rapl, gpu:0 energy_j of nvml"
    assert played["out"].splitlines()[-1] == f"verdict: not every meter is to be trusted: {doubted}"
    channels = channels_of(played)
    assert channels["gpu:0 energy_j nvml"]["problems"][0].startswith("has not moved in ")
    assert channels["gpu:0 energy_j nvml"]["shortest_window_s"] == {}
    assert channels["gpu:0 power_instant_w nvml"]["problems"] == []
    averaged = channels["gpu:0 power_average_w nvml"]
    assert abs(averaged["lateness"]["average"]["value"] - 0.6) <= 0.15
    assert_near(averaged["update_period"]["value"], 0.1, 0.1, "update period")
    assert channels["gpu:0 power_instant_w nvml"]["lateness"]["average"]["value"] < 0.15
    assert channels["cpu:psys energy_j rapl"]["still"].endswith("to the end")
    assert channels["cpu:package-0 energy_j rapl"]["problems"] == []
    assert channels["cpu:package-0 energy_j rapl"]["resets"] == 0


def channels_of(played: dict) -> dict[str, dict]:
    """Return what is known of each channel, by its domain, quantity and instrument."""
    names = ("domain", "quantity", "instrument")
    return {" ".join(one["channel"][name] for name in names): one for one in played["record"]["channels"]}


def assert_near(value: float, right: float, within: float, name: str) -> None:
    """Fail unless a value is as it must be, to a share of it."""
    assert abs(value / right - 1) <= within, f"{name}: {value}, not {right}"


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
    words += ["--repeats", str(REPEATS), "--step-s", str(STEP_S), "--wave-s", str(WAVE_S)]
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
                "trace": (folder / "trace.parquet").exists(),
                "picture": picture.read_text()[:200] if picture.exists() else "",
                "delayed_s": float((scratch / HELD_UP).read_text()),
            }
        )
    )


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        main(json.loads(sys.argv[1]), float(sys.argv[2]), Path(folder))
