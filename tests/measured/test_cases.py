"""Every case on every meter: the real sampling process, on hardware that follows a script in real time."""

import pytest
from hardware import case
from hardware.case import play_cases
from hardware.cases import CASES, CPU
from hardware.namespaces import namespaces_allowed
from simulated.meters import METERS

PLAYED_S = 0.004
"""What is played stands still for so long, as no hardware does."""

MOST_UNCERTAIN = {
    "rapl": 0.002,
    "pyrapl": 0.002,
    "perf": 0.005,
    "estimate": 0.005,
    "nvml": 0.01,
    "nvml power": 0.02,
    "nvml average": 0.04,
    "nvidia-smi": 0.04,
    "nvidia-smi 1 Hz": 0.08,
    "external": 0.02,
}
"""Standard uncertainty, as a share of the right energy, beyond which a meter would be right whatever it said."""

BLIND = {("bursts of 1 s", "nvidia-smi 1 Hz"): 0.4}
"""What a meter that is read once a second cannot know of a load that changes as often."""

needs_namespaces = pytest.mark.skipif(
    not namespaces_allowed(), reason="this machine does not let a user make namespaces (unshare --map-root-user)"
)


def test_meters_that_are_slow_to_start_get_more_time_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    leads = []

    def busy(name: str, peers_python: str, lead_s: float) -> dict:
        leads.append(lead_s)
        return {"held_up_s": 0, "late_s": 0} if lead_s > 20 else {"not_ready_s": 4.0}

    monkeypatch.setattr(case, "_play_once", busy)
    assert case.play_case("constant 100 W") == {"held_up_s": 0, "late_s": 0}
    assert leads == [0, 8, 16, 24]
    # Before second 0 nothing is drawn: the lead changes no right value.
    script = CASES[0].script
    assert script.counter(CPU, -8) == script.counter(CPU, 0)


@pytest.fixture(scope="module")
def played() -> dict[str, dict]:
    """What every case came to."""
    return play_cases([one.name for one in CASES])


@needs_namespaces
@pytest.mark.parametrize("name", [one.name for one in CASES])
def test_every_meter_is_right_or_says_why_it_is_not(played: dict[str, dict], name: str) -> None:
    rows = played[name]["rows"]
    assert rows
    for row in rows:
        what = f"{row['meter']} {row['domain']}: {row}"
        if row["must_be_invalid"] or (row["may_be_invalid"] and row["found_j"] is None):
            assert row["found_j"] is None, what
            assert row["reasons"], what
        else:
            assert abs(row["found_j"] - row["right_j"]) <= PLAYED_S * row["most_w"] + 2 * row["uncertainty_j"], what
            most = BLIND.get((name, row["meter"]), MOST_UNCERTAIN[row["meter"]])
            assert row["uncertainty_j"] <= most * row["right_j"], what


SIMULATED = {
    "rapl": "rapl",
    "perf": "perf, DRAM of 4 W",
    "nvml": "nvml counter",
    "nvml power": "nvml instant power",
    "nvidia-smi 1 Hz": "nvidia-smi 1 Hz, averaging GPU",
}
"""Meters of the case table, and as `make coverage` simulates them."""


@needs_namespaces
@pytest.mark.parametrize("meter", SIMULATED)
def test_coverage_is_simulated_for_meters_as_they_declare_themselves(played: dict[str, dict], meter: str) -> None:
    (real, *_) = [row["channel"] for row in played["constant 100 W"]["rows"] if row["meter"] == meter]
    simulated = METERS[SIMULATED[meter]].channel.to_dict()
    declared = ("kind", "update_period_s", "resolution", "average_s", "average_most_s", "rounds_each")
    assert {key: real[key] for key in declared} == {key: simulated[key] for key in declared}
    # nvml is read as often as a study asks, 10 ms here and by default, but no faster than every 20 ms.
    assert real["period_s"] == simulated["period_s"]


@needs_namespaces
@pytest.mark.parametrize("name", ["sampler killed", "disk full"])
def test_a_sampling_process_that_ends_says_so_in_the_run(played: dict[str, dict], name: str) -> None:
    (error, *_) = played[name]["errors"]
    expected = {"sampler killed": "the sampling process died or hung", "disk full": "No space left on device"}
    assert expected[name] in error


@needs_namespaces
def test_a_divided_gpu_is_flagged(played: dict[str, dict]) -> None:
    (row,) = [row for row in played["divided GPU (MIG)"]["rows"] if row["meter"] == "nvml"]
    assert row["flags"] == ["the GPU is divided (MIG): its energy is all its instances'"]
