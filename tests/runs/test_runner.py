"""A run from start to record, with a scripted worker in the place of a framework.

A real sampler reads at the same time as the worker, on a machine that others may keep busy: whatever is asserted here
follows from what happened, however late it did.
"""

import json
import os
import re
import signal
import sys
import time
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from disturbed import but_for_others

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.energy.accounts import energy_of
from framewatt.host.lock import MachineLock
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace_file import open_trace
from framewatt.privacy.secrets import Secrets
from framewatt.runs import runner
from framewatt.runs.records import read_run
from framewatt.runs.runner import RunFiles, measure
from framewatt.sampling.client import Sampler

ROOT = Path(__file__).parents[2]
HANGS_S = 600.0
"""Seconds after which a process that a test waits for is taken for one that hangs."""

PERIOD_S = 1.0
"""Readings come whenever the machine lets the sampler read: only after ten periods would one count as failed."""

IDLE = {"domains": {"cpu:estimate": {"mean_power_w": 2.0, "sd_power_w": 0.1}}}
WORKER = """#!{python}
import json, sys, time
job = json.load(open(sys.argv[3]))
events = open(job["events"], "w")
def mark(window, edge):
    events.write(json.dumps({{"window": window, "edge": edge, "monotonic_ns": time.monotonic_ns()}}) + "\\n")
    events.flush()
result = {{"primary_window": "steady", "units": {{"name": "sample", "count": 50}}, "latency": None, "epochs": [],
          "quality": {{"accuracy": {{"value": 0.5, "unit": "", "better": "higher", "reason": None}}}},
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
    for limit in ("_START_TIMEOUT_S", "_STOP_TIMEOUT_S"):
        monkeypatch.setattr(f"framewatt.sampling.client.{limit}", HANGS_S)
    # How many readings a window needs, and how long a gap may be, is tested in tests/energy; here windows are short,
    # and gaps are those of a busy machine.
    monkeypatch.setattr("framewatt.energy.windows._SHORTEST_GAP_S", HANGS_S)
    monkeypatch.setattr("framewatt.energy.windows.SHORTEST_WINDOW_PERIODS", 0)
    start = Sampler.start

    def start_and_read(sampler: Sampler) -> None:
        """Start the sampler, and wait for its first reading: a scripted worker opens its window at once."""
        start(sampler)
        deadline = time.monotonic() + HANGS_S
        while not len(sampler.trace().read_channel(0)[0]):
            assert time.monotonic() < deadline, "the sampler does not read"
            time.sleep(0.01)

    monkeypatch.setattr(Sampler, "start", start_and_read)
    folder = tmp_path / "measure" / "c" / "1"
    folder.mkdir(parents=True)
    files = RunFiles(*(folder / name for name in ("run.json", "power.parquet", "events.parquet", "log")))

    def measure_worker(body: str = STEADY, **change: object) -> tuple[dict, str | None]:
        worker = tmp_path / "worker"
        worker.write_text(WORKER.format(python=sys.executable, body=body))
        worker.chmod(0o755)
        instruments = {"period_s": PERIOD_S, "estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0}
        job = {
            **{
                "study": "trial",
                "cell_id": "c",
                "cell": {"phase": "infer"},
                "repetition": 1,
                "position": 4,
                "attempt": 1,
                "job_sha256": "0" * 64,
            },
            **{"device": "cpu", "threads": 1, "meters": ["estimate"], "instruments": instruments},
            "cool_down": {"rest_s": 0, "idle_band": None, "timeout_s": 1},
            "preflight": {"strict": False, "accept": []},
            **{"timeout_s": HANGS_S, "identity": {}, "missing": None, "repeat": True, **change},
        }
        lock = MachineLock((), 0.0, machine_wide=bool(job.pop("machine_wide", True)))
        environment = {"name": "scripted", "status": "ok", "reason": None, "python": str(worker)}
        reason = measure(job, IDLE, environment, files, lock)
        return read_run(files.record), reason

    return measure_worker


def event_ns(tmp_path: Path, window: str, edge: str) -> int:
    """CLOCK_MONOTONIC at an edge of a window, as the worker took it."""
    events = pq.read_table(tmp_path / "measure/c/1/events.parquet").to_pylist()
    (found,) = [event["monotonic_ns"] for event in events if (event["window"], event["edge"]) == (window, edge)]
    return found


def test_a_job_of_another_purpose_is_not_measured(run, tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match="c: purpose: 'profile' is not a measurement"):
        run(purpose="profile")
    assert not list((tmp_path / "measure" / "c" / "1").iterdir())


def test_a_record_says_what_its_run_was_for(run) -> None:
    record, _ = run(purpose="measure")
    assert record["purpose"] == "measure"


def test_a_run_has_energy_in_every_window(run, tmp_path: Path) -> None:
    # The time of a reading is known to within ten of these periods at worst: a later one counts as failed.
    instruments = {"period_s": 0.01, "estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0}
    record, reason = run(instruments=instruments)
    assert (record["status"], record["valid"], reason) == ("ok", True, None)
    steady = record["windows"]["steady"]
    start_ns, end_ns = (event_ns(tmp_path, "steady", edge) for edge in ("start", "end"))
    assert steady["duration_s"] == pytest.approx((end_ns - start_ns) * 1e-9)
    assert steady["duration_s"] >= 0.5
    energy = steady["domains"]["cpu:estimate"]
    # At the very least every processor idles for as long as the window lasts.
    assert energy["energy_gross_j"] >= (steady["duration_s"] - 0.1) * (os.cpu_count() or 1)
    assert energy["energy_idle_j"] == pytest.approx(2.0 * steady["duration_s"])
    assert energy["energy_net_uncertainty_j"] > energy["energy_uncertainty_j"]
    assert record["throughput_per_s"] == pytest.approx(50 / steady["duration_s"])
    assert record["windows"]["process"]["duration_s"] > steady["duration_s"]
    trace = open_trace(tmp_path / "measure/c/1/power.parquet")
    time_ns, joules = trace.read_channel(0)
    # The sampler reads once more when it is told to end.
    assert len(time_ns) == record["sampler"]["reads"] + 1
    assert time_ns[0] < start_ns
    assert time_ns[-1] > end_ns
    assert energy_of(trace.channels[0], time_ns, joules, start_ns, end_ns).energy_j == energy["energy_gross_j"]
    events = pq.read_table(tmp_path / "measure/c/1/events.parquet").to_pylist()
    edges = [(event["window"], event["edge"]) for event in events]
    assert edges == [("process", "start"), ("steady", "start"), ("steady", "end"), ("process", "end")]


def test_a_meter_is_taken_for_what_it_was_characterised_as(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Channel("estimate", "cpu:estimate", "energy_j", COUNTER, 0.05, resolution=0.5, fit_window_s=30.0)
    monkeypatch.setitem(IDLE, "characterisation", {"channels": [{"as_measured": found.to_dict()}]})
    record, _ = run()
    channel, *others = open_trace(tmp_path / "measure/c/1/power.parquet").channels
    assert {one.instrument for one in others} == {"witness"}
    assert (channel.update_period_s, channel.resolution, channel.fit_window_s) == (0.05, 0.5, 30.0)
    assert channel.estimated
    energy = record["windows"]["steady"]["domains"]["cpu:estimate"]
    assert energy["energy_uncertainty_j"] > 0.5 * 6**-0.5
    assert any(flag.endswith("is shorter than the 30 s that 5 % take here") for flag in energy["flags"])


def test_gpus_are_numbered_as_their_meters_number_them(run) -> None:
    record, _ = run(f"import os\nresult['workload']['order'] = os.environ['CUDA_DEVICE_ORDER']\n{STEADY}")
    assert record["workload"]["order"] == "PCI_BUS_ID"


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
    # It never started; a window of no length would be none.
    assert record["windows"]["process"]["duration_s"] == 1e-9


def test_scores_that_are_not_numbers_are_flagged_and_the_run_kept(run) -> None:
    record, _ = run('result["quality"]["accuracy"] |= {"value": None, "reason": "outputs are not numbers"}\n' + STEADY)
    assert (record["status"], record["valid"]) == ("ok", True)
    assert but_for_others(record["flags"]) == ["outputs are not numbers, so accuracy is unknown"]


def test_nothing_in_a_record_names_the_machines_owner(run) -> None:
    record, _ = run()
    text = json.dumps(record)
    for secret in (os.uname().nodename, str(Path.home()), str(ROOT)):
        assert secret not in text


def test_a_run_that_starts_before_power_is_back_is_flagged(run, monkeypatch: pytest.MonkeyPatch) -> None:
    cool_down = {"rest_s": 0, "idle_band": 1e-9, "timeout_s": 0.5}
    # Far below what any machine is booked by the estimate, with one processor, too.
    monkeypatch.setitem(IDLE, "domains", {"cpu:estimate": {"mean_power_w": 0.001, "sd_power_w": 0.1}})
    record, _ = run(cool_down=cool_down)
    assert (record["status"], record["valid"], record["returned_to_idle"]) == ("ok", True, False)
    assert "power was not back to within 1e-07 % of idle in 0.5 s" in record["flags"]
    assert record["cool_down_s"] > 0.5


def test_a_run_under_a_tests_own_lock_says_so(run) -> None:
    record, _ = run(machine_wide=False)
    assert record["lock"] == {"waited_s": 0.0, "machine_wide": False}
    assert but_for_others(record["flags"]) == ["measured under a test's own lock: others may have measured beside it"]


def test_what_a_strict_study_does_not_accept_makes_the_run_invalid(run, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = {"topic": "load", "found": "2.0 processors busy", "meaning": "it is measured too", "remedy": "end it"}
    monkeypatch.setattr("framewatt.runs.runner.check_machine", lambda **_: [finding])
    record, _ = run(preflight={"strict": True, "accept": ["turbo"]})
    assert (record["status"], record["valid"]) == ("ok", False)
    assert record["reasons"] == ["preflight: load: 2.0 processors busy (it is measured too; mend: end it)"]
    record, _ = run(preflight={"strict": True, "accept": ["load"]})
    assert record["valid"]


def test_processes_left_behind_are_flagged(run) -> None:
    stray = "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    record, _ = run(stray + STEADY)
    assert "1 processes were left behind and ended" in record["flags"]


def test_every_attempt_has_an_entry_in_the_chain_of_the_study(run, tmp_path: Path) -> None:
    run("sys.exit(3)")
    record, _ = run(attempt=2)
    first, second = map(json.loads, (tmp_path / "measure/chain.jsonl").read_text().splitlines())
    assert [first["attempt"], second["attempt"]] == [1, 2]
    folder = tmp_path / "measure/c/1"
    assert second["sha256"] == {path.name: sha256_of(path) for path in folder.iterdir() if path.name != "log"}
    assert record["chain"] == {name: second[name] for name in ("sequence", "previous_sha256")}


def test_a_wall_clock_that_is_set_during_a_run_is_flagged(run, monkeypatch: pytest.MonkeyPatch) -> None:
    wall, work, is_set = time.time_ns, runner.work, []
    monkeypatch.setattr(time, "time_ns", lambda: wall() - (3600 * 10**9 if is_set else 0))

    def work_and_set(*arguments: object) -> object:
        outcome = work(*arguments)
        is_set.append(True)
        return outcome

    monkeypatch.setattr(runner, "work", work_and_set)
    record, _ = run()
    assert record["clock"]["moved_s"] == pytest.approx(-3600, abs=0.5)
    (flag,) = but_for_others(record["flags"])
    assert re.fullmatch(r"the wall clock was set by -3(600|599)\.\d s, .*, during the run: its times in UTC .*", flag)
    assert record["valid"]


def test_setting_the_wall_clock_changes_no_duration(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import time\nwall = time.time\ntime.time = lambda: wall() + 3600 * (time.monotonic() % 0.2 > 0.1)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT / 'src'}")
    record, _ = run()
    steady = record["windows"]["steady"]
    start_ns, end_ns = (event_ns(tmp_path, "steady", edge) for edge in ("start", "end"))
    assert steady["duration_s"] == pytest.approx((end_ns - start_ns) * 1e-9)
    assert steady["duration_s"] >= 0.5
    lasted = datetime.fromisoformat(steady["end_utc"]) - datetime.fromisoformat(steady["start_utc"])
    assert lasted.total_seconds() == pytest.approx(steady["duration_s"], abs=1e-4)
    assert abs(record["clock"]["moved_s"]) < 0.5  # the hook sets the clock of other processes only
    assert record["valid"]


def test_reasons_of_a_run_tell_nothing_of_its_owner(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "jane_doe")
    record, reason = run(missing="export: no file of Jane_Doe, mail jane@uni-x.de")
    assert record["reasons"][0] == "export: no file of <user>, mail <e-mail>"
    assert "jane" not in (reason or "").lower()


def test_a_model_that_crashes_and_tells_all_it_knows_leaves_nothing_of_it(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "myhost-17")
    monkeypatch.setattr("getpass.getuser", lambda: "jane_doe")
    monkeypatch.setenv("WANDB_KEY", "0123abcdef89")
    said = "no layer 3: JANE_DOE@MYHOST-17 https://jane:pw-of-index@index.corp/simple jane@uni-x.de 10.1.2.3 "
    record, reason = run(f"import os\nraise ValueError({said!r} + os.environ['WANDB_KEY'].upper())")
    told = "no layer 3: <user>@<host> https://<login>@index.corp/simple <e-mail> <IP> <secret: WANDB_KEY>"
    assert reason == record["reasons"][0] == f"ended with exit code 1: ValueError: {told}"
    for path in (tmp_path / "measure/c/1").iterdir():
        assert Secrets.from_this_machine().find(path.read_bytes()) == [], path
