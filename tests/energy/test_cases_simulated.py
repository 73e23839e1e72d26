"""Every case on every meter, on simulated time: the real meters and the real sampling loop, on scripted hardware."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from hardware import case as played
from hardware.case import rows_of
from hardware.cases import CASES, CPU, Case
from hardware.right import assert_right
from simulated.meters import METERS
from simulated.process_clock import Disturbance
from simulated.sampling_process import Sampled, sample_script

from framewatt.sampling import client
from framewatt.sampling.client import Sampler

BY_NAME = {case.name: case for case in CASES}
SETTLE_S = 1.5
"""The sampling process goes on for so long after the window."""


def disturbance_of(case: Case) -> Disturbance:
    """Return what the case does to the sampling process."""
    at = {what: second for second, what in case.actions}
    pauses = [(at["stop"], at["continue"])] if "stop" in at else []
    pauses += [(at["kill"], float("inf"))] if "kill" in at else []
    return Disturbance(
        pauses=tuple(pauses),
        starved=(at["starve"], at["feed"]) if "starve" in at else None,
        clock_step_s=case.clock_step_s,
        disk_b=case.disk_b,
    )


def sampled(case: Case, folder: Path, seed: int = 0, **change: object) -> Sampled:
    """Return what the sampling process makes of a case."""
    folder.mkdir()
    given = {"disturbance": disturbance_of(case), "seed": seed, **change}
    return sample_script(case.script, folder, case.end_s + SETTLE_S, **given)


def rows_in(case: Case, folder: Path, seed: int = 0) -> list[dict]:
    """Return what every meter makes of a case; nvidia-smi is read by a second process, too, once a second."""
    every = sampled(case, folder / "all", seed)
    rows = rows_of(case, every.script, every.trace)
    if "gpu:0" in case.script.watts:
        slow = sampled(case, folder / "1 Hz", seed, meters=("nvidia-smi",), smi_period_s=1.0)
        rows += rows_of(case, slow.script, slow.trace, " 1 Hz")
    return rows


@pytest.mark.parametrize("name", BY_NAME)
def test_every_meter_is_right_or_states_why_it_is_not(name: str, tmp_path: Path) -> None:
    rows = rows_in(BY_NAME[name], tmp_path)
    assert {row["meter"] for row in rows} >= {"rapl", "perf", "pyrapl", "estimate"}
    for row in rows:
        assert_right(row)


@pytest.mark.parametrize("name", ["sampler stopped for 2 s", "sampler starved"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_does_not_matter_when_the_sampling_process_does_not_run(name: str, seed: int, tmp_path: Path) -> None:
    for row in rows_in(BY_NAME[name], tmp_path, seed):
        assert_right(row)


def test_a_starved_sampler_does_lose_readings(tmp_path: Path) -> None:
    calm, starved = (sampled(BY_NAME[name], tmp_path / name) for name in ("constant 100 W", "sampler starved"))
    assert calm.answers[1]["missed_reads"] == 0
    assert starved.answers[1]["missed_reads"] > 0.2 * starved.answers[1]["reads"]
    assert starved.answers[1]["lateness_max_s"] > 0.1


REAL = {
    "rapl": "rapl",
    "perf": "perf, DRAM of 4 W",
    "nvml": "nvml counter",
    "nvml power": "nvml instant power",
    "nvidia-smi 1 Hz": "nvidia-smi 1 Hz, averaging GPU",
}
"""Meters of the case table, and as `make coverage` simulates them."""


def test_coverage_is_simulated_for_meters_as_they_declare_themselves(tmp_path: Path) -> None:
    channels = {row["meter"]: row["channel"] for row in rows_in(BY_NAME["constant 100 W"], tmp_path)}
    declared = ("kind", "update_period_s", "resolution", "average_s", "average_most_s", "rounds_each")
    for meter, name in REAL.items():
        simulated = METERS[name].channel.to_dict()
        assert {key: channels[meter][key] for key in declared} == {key: simulated[key] for key in declared}
        # nvml is read as often as a study asks, 10 ms here and by default, but no faster than every 20 ms.
        assert channels[meter]["period_s"] == simulated["period_s"]


@pytest.mark.parametrize(
    ("name", "error"),
    [("sampler killed", "the sampling process died or hung"), ("disk full", "No space left on device")],
)
def test_a_sampling_process_that_ends_reports_it_in_the_run(
    name: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = BY_NAME[name]
    ended = sampled(case, tmp_path / "sampled")
    summary = ended_client(ended, tmp_path, monkeypatch).stop()
    assert error in summary["error"]
    # What was written before then is still there.
    assert any(len(ended.trace.read_channel(index)[0]) > 10 for index in range(len(ended.trace.channels)))


def ended_client(ended: Sampled, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Sampler:
    """Return the runner's side of a sampling process that has ended, after it has started."""
    answers = folder / "answers"
    answers.write_text("".join(f"{json.dumps(answer)}\n" for answer in ended.answers))
    gone = SimpleNamespace(
        stdin=(folder / "stdin").open("w"), stdout=answers.open(), wait=lambda **_: 1, poll=lambda: 1, kill=lambda: None
    )
    monkeypatch.setattr(
        client, "subprocess", SimpleNamespace(Popen=lambda *_, **__: gone, PIPE=None, TimeoutExpired=OSError)
    )
    sampler = Sampler([], {}, folder / "trace.bin")
    sampler.start()
    return sampler


def test_a_divided_gpu_is_flagged(tmp_path: Path) -> None:
    rows = rows_in(BY_NAME["divided GPU (MIG)"], tmp_path)
    flags = {row["meter"]: row["flags"] for row in rows if row["domain"] == "gpu:0"}
    assert flags["nvml"] == flags["nvidia-smi"] == ["the GPU is divided (MIG): its energy is all its instances'"]


def test_meters_that_are_slow_to_start_get_more_time_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    leads = []

    def busy(name: str, peers_python: str, lead_s: float) -> dict:
        leads.append(lead_s)
        return {"delayed_s": 0, "late_s": 0} if lead_s > 20 else {"not_ready_s": 4.0}

    monkeypatch.setattr(played, "_play_once", busy)
    assert played.play_case("constant 100 W") == {"delayed_s": 0, "late_s": 0}
    assert leads == [0, 12, 24]
    # Before second 0 nothing is drawn: the lead changes no right value.
    script = CASES[0].script
    assert script.counter(CPU, -8) == script.counter(CPU, 0)
