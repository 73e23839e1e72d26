"""A run from start to record, with a scripted worker in the place of a framework."""

import json
import os
import signal
import sys
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from framewatt.records import read_run
from framewatt.runner import RunFiles, measure
from framewatt.sampler import Sampler

ROOT = Path(__file__).parents[2]
IDLE = {"domains": {"cpu:estimate": {"mean_power_w": 2.0, "sd_power_w": 0.1}}}
WORKER = """#!{python}
import json, sys, time
job = json.load(open(sys.argv[3]))
events = open(job["events"], "w")
def mark(window, edge):
    events.write(json.dumps({{"window": window, "edge": edge, "monotonic_ns": time.monotonic_ns()}}) + "\\n")
    events.flush()
result = {{"primary_window": "steady", "samples_processed": 50, "latency": None, "epochs": [],
          "metrics": {{"accuracy": 0.5}}, "metrics_unknown": None,
          "workload": {{"parameters": 1}}}}
def finish():
    json.dump(result, open(job["result"], "w"))
{body}
"""
STEADY = 'mark("steady", "start"); time.sleep(0.5); mark("steady", "end")\nfinish()'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Measure a worker with the given body; the record, and the reason that was returned."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    files = RunFiles(*(tmp_path / name for name in ("run.json", "power.parquet", "events.parquet", "log")))

    def measure_worker(body: str = STEADY, **change: object) -> tuple[dict, str | None]:
        worker = tmp_path / "worker"
        worker.write_text(WORKER.format(python=sys.executable, body=body))
        worker.chmod(0o755)
        instruments = {"period_s": 0.01, "estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0}
        job = {
            **{
                "study": "trial",
                "cell_id": "c",
                "cell": {"phase": "infer"},
                "repetition": 1,
                "position": 4,
                "attempt": 1,
            },
            **{"device": "cpu", "threads": 1, "meters": ["estimate"], "instruments": instruments},
            "cool_down": {"rest_s": 0, "idle_band": None, "timeout_s": 1},
            "preflight": {"strict": False, "accept": []},
            **{"timeout_s": 20, "identity": {}, "missing": None, "repeat": True, **change},
        }
        environment = {"name": "scripted", "status": "ok", "reason": None, "python": str(worker)}
        reason = measure(job, IDLE, environment, files)
        return read_run(files.record), reason

    return measure_worker


def test_a_run_has_energy_in_every_window(run, tmp_path: Path) -> None:
    record, reason = run()
    assert (record["status"], record["valid"], reason) == ("ok", True, None)
    steady = record["windows"]["steady"]
    assert steady["duration_s"] == pytest.approx(0.5, abs=0.2)
    energy = steady["domains"]["cpu:estimate"]
    # At the very least every processor idles for as long as the window lasts.
    assert energy["energy_gross_j"] >= 0.9 * steady["duration_s"] * (os.cpu_count() or 1)
    assert energy["energy_idle_j"] == pytest.approx(2.0 * steady["duration_s"])
    assert energy["energy_net_uncertainty_j"] > energy["energy_uncertainty_j"]
    assert record["throughput_per_s"] == pytest.approx(50 / steady["duration_s"])
    assert record["windows"]["process"]["duration_s"] > steady["duration_s"]
    trace = pq.read_table(tmp_path / "power.parquet")
    assert trace.num_rows > 40
    events = pq.read_table(tmp_path / "events.parquet").to_pylist()
    edges = [(event["window"], event["edge"]) for event in events]
    assert edges == [("process", "start"), ("steady", "start"), ("steady", "end"), ("process", "end")]


def test_epochs_together_are_the_steady_window(run) -> None:
    body = "\n".join(
        f'mark("epoch-{n}", "start"); time.sleep(0.2); mark("epoch-{n}", "end"); time.sleep(0.1)' for n in (1, 2)
    )
    record, _ = run(body + "\nfinish()")
    steady, *epochs = (record["windows"][name] for name in ("steady", "epoch-1", "epoch-2"))
    assert steady["duration_s"] == pytest.approx(sum(epoch["duration_s"] for epoch in epochs))
    joules = [window["domains"]["cpu:estimate"]["energy_gross_j"] for window in (steady, *epochs)]
    assert joules[0] == pytest.approx(joules[1] + joules[2])


def test_a_run_without_a_result_has_failed_though_it_ended_well(run) -> None:
    record, reason = run('mark("steady", "start"); time.sleep(0.1); mark("steady", "end")')
    assert (record["status"], reason) == ("failed", "ended without a result")
    assert record["primary_window"] is None
    assert "steady" in record["windows"]


def test_an_event_cut_short_by_a_crash_is_left_out(run) -> None:
    record, reason = run(
        'mark("steady", "start"); events.write(\'{"window": "st\'); events.flush(); sys.exit("broken")'
    )
    assert reason == "ended with exit code 1: broken"
    assert list(record["windows"]) == ["process"]


def test_a_result_without_its_window_has_failed(run) -> None:
    record, reason = run("finish()")
    assert (record["status"], reason) == ("failed", "the workload closed no window")


def test_a_sampler_that_died_makes_the_run_invalid(run, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Sampler.stop

    def kill_first(self: Sampler) -> dict:
        os.kill(self.pid, signal.SIGKILL)
        return stop(self)

    monkeypatch.setattr(Sampler, "stop", kill_first)
    record, _ = run()
    assert (record["status"], record["valid"]) == ("ok", False)
    assert "the sampling process died or hung" in record["reasons"]
    assert record["sampler"] is None


def test_an_environment_that_is_missing_is_the_reason(run) -> None:
    record, reason = run(missing="export: no such operator", repeat=False)
    assert (record["status"], reason) == ("unavailable", "export: no such operator")
    assert record["windows"]["process"]["duration_s"] < 0.001


def test_scores_that_are_not_numbers_are_flagged_and_the_run_kept(run) -> None:
    record, _ = run(
        'result |= {"metrics": {"accuracy": None}, "metrics_unknown": "outputs are not numbers"}\n' + STEADY
    )
    assert (record["status"], record["valid"]) == ("ok", True)
    assert record["flags"] == ["outputs are not numbers, so accuracy is unknown"]


def test_nothing_in_a_record_names_the_machines_owner(run) -> None:
    record, _ = run()
    text = json.dumps(record)
    for secret in (os.uname().nodename, str(Path.home()), str(ROOT)):
        assert secret not in text


def test_a_run_that_starts_before_power_is_back_is_flagged(run) -> None:
    cool_down = {"rest_s": 0, "idle_band": 1e-9, "timeout_s": 0.5}
    # Idle power of the fixture is far below what any machine is booked by the estimate.
    record, _ = run(cool_down=cool_down)
    assert (record["status"], record["valid"], record["returned_to_idle"]) == ("ok", True, False)
    assert "power was not back to within 1e-07 % of idle in 0.5 s" in record["flags"]
    assert record["cool_down_s"] > 0.5


def test_what_a_strict_study_does_not_accept_makes_the_run_invalid(run, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = {"topic": "load", "found": "2.0 processors busy", "meaning": "it is measured too", "remedy": "end it"}
    monkeypatch.setattr("framewatt.runner.check_machine", lambda **_: [finding])
    record, _ = run(preflight={"strict": True, "accept": ["turbo"]})
    assert (record["status"], record["valid"]) == ("ok", False)
    assert record["reasons"] == ["preflight: load: 2.0 processors busy (it is measured too; mend: end it)"]
    record, _ = run(preflight={"strict": True, "accept": ["load"]})
    assert record["valid"]


def test_processes_left_behind_are_flagged(run) -> None:
    stray = "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    record, _ = run(stray + STEADY)
    assert "1 processes were left behind and ended" in record["flags"]


def test_setting_the_wall_clock_changes_no_duration(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import time\nwall = time.time\ntime.time = lambda: wall() + 3600 * (time.monotonic() % 0.2 > 0.1)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT / 'src'}")
    record, _ = run()
    steady = record["windows"]["steady"]
    assert steady["duration_s"] == pytest.approx(0.5, abs=0.2)
    lasted = datetime.fromisoformat(steady["end_utc"]) - datetime.fromisoformat(steady["start_utc"])
    assert lasted.total_seconds() == pytest.approx(steady["duration_s"], abs=1e-4)
    assert record["valid"]
