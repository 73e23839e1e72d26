"""Plays one case and says what every meter made of it, as JSON. Run inside a mount namespace: `play_case` does that."""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from framewatt.energy.accounts import energy_of
from framewatt.meters.trace import Trace
from framewatt.sampling.client import Sampler
from hardware.cases import CASES, IN_REAL_TIME, WALL, Case
from hardware.namespaces import run_apart
from hardware.peers import PEERS
from hardware.powercap import HELD_UP, install, play
from hardware.script import VARIABLE, Script

HERE = Path(__file__).parent
METERS = ("rapl", "perf", "pyrapl", "nvml", "nvidia-smi", "external", "estimate")
_LABELS = {"energy_j": "", "power_w": "", "power_instant_w": " power", "power_average_w": " average"}
"""What tells a quantity of energy or power apart from the others of its meter."""
_AT_A_TIME = 3
_TIMEOUT_S = 120
_LONGEST_HOLD_S = 0.03
"""Counters that stood still for longer and then jumped are no hardware's: the case is played again."""
_TRIES = 3
_LONGEST_LEAD_S = 120.0
"""Most seconds that meters get to start before the script's second 0."""
LOGGER_AHEAD_S = 1234.5
"""The wall meter's clock is wrong by that much, and the study says so."""
LOGGER_PERIOD_S = 0.05
"""Seconds between two lines of the wall meter's log."""


def play_case(name: str, peers_python: str = "", longest_hold_s: float = _LONGEST_HOLD_S) -> dict:
    """Play a case in namespaces of its own; its `rows`, `errors` of the sampling processes, and `sampler`'s summary.

    What this machine did to the scripted one is told apart from what the meters did: where the process that plays the
    counters was itself held up, or another tool was not loaded when its window began, nothing can be said of the
    meters, and the case is played again; so it is, with more time ahead, where meters were not ready.

    Args:
        name: the case's.
        peers_python: the interpreter that has other tools; where it is given, they measure the same window.
        longest_hold_s: longest time for which counters may stand still. Whoever sets it takes it into account.
    """
    lead_s, why = 0.0, []
    for _ in range(_TRIES):
        played = _play_once(name, peers_python, lead_s)
        if not_ready_s := played.get("not_ready_s"):
            why.append(f"meters were ready {not_ready_s:.3g} s too late")
            lead_s = min(lead_s + 3 * not_ready_s, _LONGEST_LEAD_S)
        elif (delayed_s := max(played["delayed_s"], played["late_s"])) > longest_hold_s:
            why.append(f"counters were held up for {delayed_s:.3g} s")
        else:
            return played
    raise AssertionError(f"{name}: this machine is too busy to play hardware: {', then '.join(why)}")


def _play_once(name: str, peers_python: str, lead_s: float) -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        words = (name, scratch, peers_python, str(lead_s))
        return run_apart("hardware.case", *words, timeout_s=_TIMEOUT_S + lead_s)


def play_cases(names: Sequence[str], peers_python: str = "") -> dict[str, dict]:
    """Play cases, several at a time except those that would disturb others, by name."""
    alone = [case.name for case in CASES if case.alone and case.name in names]
    together = [name for name in names if name not in alone]

    def play(name: str) -> dict:
        return play_case(name, peers_python)

    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        played = dict(zip(together, pool.map(play, together), strict=True))
    return played | {name: play(name) for name in alone}


def main(name: str, scratch: Path, peers_python: str, lead_s: float) -> None:
    """Play a case and print its rows.

    Args:
        name: the case's.
        scratch: an empty folder.
        peers_python: see play_case.
        lead_s: seconds before the script's second 0, in which nothing is drawn and meters start.
    """
    case = next(case for case in (*CASES, *IN_REAL_TIME) if case.name == name)
    peers_path = os.environ["PYTHONPATH"]
    script = _start(case, scratch, lead_s)
    peers = _start_peers(case, script, peers_python, peers_path)
    _log_wall(script, scratch / "wall.csv")
    wanted = [("", METERS, 0.01), *([(" 1 Hz", ("nvidia-smi",), 1.0)] if "gpu:0" in script.watts else [])]
    with ThreadPoolExecutor(len(wanted)) as pool:
        started = pool.map(lambda one: _started(case, scratch, *one[1:]), wanted)
    samplers = [(label, sampler) for (label, *_), sampler in zip(wanted, started, strict=True)]
    if (not_ready_s := script.now_s() - case.begin_s) > 0:
        print(json.dumps({"not_ready_s": not_ready_s}))
        return  # and with this process all others of its namespace
    _act(case, script, [sampler for _, sampler in samplers])
    time.sleep(max(case.end_s + 1.5 - script.now_s(), 0))
    summaries = [sampler.stop() for _, sampler in samplers]
    rows = [row for label, sampler in samplers for row in rows_of(case, script, sampler.trace(), label)]
    # What the run record says of a sampling process that died: the whole run is invalid.
    errors = [summary["error"] for summary in summaries if "error" in summary]
    rows += [row for peer in peers for row in _peer_rows(case, script, peer)]
    late = {
        "delayed_s": float((scratch / HELD_UP).read_text()),
        "late_s": max((row["late_s"] or 0 for row in rows if "late_s" in row), default=0),
    }
    print(json.dumps({"rows": rows, "errors": errors, "sampler": summaries[0], **late}))


def _start(case: Case, scratch: Path, lead_s: float) -> Script:
    """Install the scripted machine and start its clock."""
    path = scratch / "script.json"
    case.script.save(path)
    tree, stat = install(case.script, scratch)
    if case.disk_b:
        small = scratch / "disk"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={case.disk_b}", "none", str(small)], check=True)
    if not os.fork():
        play(tree, stat, path)
    os.setpriority(os.PRIO_PROCESS, 0, 0)
    script = replace(case.script, start_ns=time.monotonic_ns() + round(lead_s * 1e9))
    script.save(scratch / "started.json")
    (scratch / "started.json").replace(path)
    os.environ[VARIABLE] = str(path)
    os.environ["PATH"] = f"{HERE / 'bin'}:{os.environ['PATH']}"
    modules = [HERE / "modules", *([HERE / "stepped_clock"] if math.isfinite(case.clock_step_s) else [])]
    os.environ["FRAMEWATT_CLOCK_STEP_S"] = str(case.clock_step_s)
    os.environ["PYTHONPATH"] = ":".join(map(str, [*modules, os.environ["PYTHONPATH"]]))
    return script


def _log_wall(script: Script, path: Path) -> None:
    """A meter of its own between the machine and the wall, with a clock of its own."""
    path.write_text("when,watts\n")
    if WALL not in script.watts:
        return

    def log() -> None:
        with path.open("a") as file:
            while True:
                file.write(f"{time.time() + LOGGER_AHEAD_S:.6f},{script.watts_at(WALL, script.now_s())}\n")
                file.flush()
                time.sleep(LOGGER_PERIOD_S)

    threading.Thread(target=log, daemon=True).start()


def meters_of(script: Script, wanted: Sequence[str] = METERS) -> list[str]:
    """Return the wanted meters that the scripted machine has."""
    has = {"rapl", "perf", "pyrapl", "estimate"}
    has |= {"nvml", "nvidia-smi"} if "gpu:0" in script.watts else set()
    has |= {"external"} if WALL in script.watts else set()
    return [meter for meter in wanted if meter in has]


def options_of(wall: Path, smi_period_s: float = 0.01) -> dict:
    """Return the `instruments` of a study that reads every meter, as often as the fastest study does.

    Args:
        wall: the wall meter's log.
        smi_period_s: seconds between two lines of nvidia-smi.
    """
    return {
        "period_s": 0.01,
        "perf_period_s": 0.1,
        "nvidia_smi_period_s": smi_period_s,
        "external": {
            "path": str(wall),
            "time_column": "when",
            "value_column": "watts",
            "quantity": "power_w",
            "offset_s": -LOGGER_AHEAD_S,
            "period_s": LOGGER_PERIOD_S,
            "lag_s": 1,
        },
        "estimate_idle_w_per_core": 0.0,
        "estimate_busy_w_per_core": 1.0,
    }


def _started(case: Case, scratch: Path, meters: Sequence[str], smi_period_s: float) -> Sampler:
    disk = scratch / "disk" if case.disk_b else scratch
    options = options_of(scratch / "wall.csv", smi_period_s)
    sampler = Sampler(meters_of(case.script, meters), options, disk / f"trace-{smi_period_s}.bin")
    sampler.start()
    return sampler


def _act(case: Case, script: Script, samplers: list[Sampler]) -> None:
    """Do to the sampling processes what the case says, when it says."""
    spinners: list[subprocess.Popen[bytes]] = []
    for second, what in case.actions:
        time.sleep(max(second - script.now_s(), 0))
        if what == "starve":
            spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
        for spinner in spinners if what == "feed" else ():
            spinner.kill()
            spinner.wait()
        for sampler in samplers:
            if what == "starve":
                os.sched_setscheduler(sampler.pid, os.SCHED_IDLE, os.sched_param(0))
            elif what != "feed":
                os.kill(sampler.pid, {"kill": 9, "stop": signal.SIGSTOP, "continue": signal.SIGCONT}[what])


def rows_of(case: Case, script: Script, trace: Trace, label: str = "") -> list[dict]:
    """Return one row per channel that gives energy: what it made of the case's window, and what is right.

    Args:
        case: the case.
        script: its hardware, started.
        trace: what was read of it.
        label: what is added to the meters' names.
    """
    begin_ns, end_ns = (script.start_ns + round(second * 1e9) for second in (case.begin_s, case.end_s))
    rows = []
    for index, channel in enumerate(trace.channels):
        if channel.quantity not in _LABELS:
            continue
        found = energy_of(channel, *trace.read_channel(index), begin_ns, end_ns)
        source = "cpu:package-0" if channel.domain == "cpu:estimate" else channel.domain
        meter = f"{channel.instrument}{label}{_LABELS[channel.quantity]}"
        rows.append(
            {
                "case": case.name,
                "meter": meter,
                "domain": channel.domain,
                "window_s": case.window_s,
                "blind": case.blind.get(meter),
                "right_j": script.joules(source, case.begin_s, case.end_s),
                "most_w": max(watts for _, watts in script.watts[source]),
                "found_j": found.energy_j,
                "uncertainty_j": found.uncertainty_j,
                "must_be_invalid": meter in case.invalid.get(channel.domain, ()),
                "may_be_invalid": case.may_be_invalid,
                "reasons": list(found.reasons),
                "flags": [*found.flags, *([channel.note] if channel.note else [])],
                "channel": channel.to_dict(),
            }
        )
    return rows


def _start_peers(case: Case, script: Script, python: str, python_path: str) -> "list[subprocess.Popen[str]]":
    """Other tools, told when the window begins and ends."""
    begin_ns, end_ns = (script.start_ns + round(second * 1e9) for second in (case.begin_s, case.end_s))
    return [
        subprocess.Popen(
            [python, "-m", "hardware.peers", name, str(begin_ns), str(end_ns)],
            env={**os.environ, "PYTHONPATH": python_path, "PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for name in (PEERS if python else ())
    ]


def _peer_rows(case: Case, script: Script, peer: "subprocess.Popen[str]") -> list[dict]:
    """One row per domain that the tool tells of; one that gives up has a row without a number for each package."""
    out, _ = peer.communicate(timeout=_TIMEOUT_S)
    answer = json.loads(out.splitlines()[-1])
    packages = [domain for domain in script.watts if domain.startswith("cpu:package")]
    found = answer["joules"] or dict.fromkeys(packages)
    rows = []
    for domain, joules in found.items():
        # codecarbon tells one number for all sockets.
        parts = packages if domain == "cpu" else [domain]
        missing = [part for part in parts if part not in script.watts]
        rows.append(
            {
                "case": case.name,
                "meter": answer["peer"],
                "domain": " + ".join(parts),
                "right_j": sum(script.joules(part, case.begin_s, case.end_s) for part in parts if part not in missing),
                "found_j": joules,
                "uncertainty_j": None,
                "late_s": answer["late_s"],
                "must_be_invalid": None,
                "reasons": [answer["error"]] if answer["error"] else [f"there is no {part}" for part in missing],
                "flags": [],
            }
        )
    return rows


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
