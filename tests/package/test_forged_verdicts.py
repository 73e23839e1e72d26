"""Forged verdicts, throughput, latency and accuracy: verify notices each."""

import pytest
from forged_edits import TRAINED, Edit, assert_edit_noticed, of_record
from forger import Forger, put
from package_factory import CELL


def called_failed(forger: Forger) -> None:
    forger.record(CELL, lambda r: r | {"status": "failed", "valid": False, "reasons": ["killed by SIGKILL"]})


def called_invalid(forger: Forger) -> None:
    forger.record(CELL, lambda r: r | {"valid": False, "reasons": ["preflight: load: busy"]})


NOTICED: dict[str, tuple[Edit, str]] = {
    "called invalid": (called_invalid, "reasons: the record states preflight: load: busy, what was seen gives none"),
    "called failed": (called_failed, "primary_window: the record has one, of a run that failed"),
    "called valid without a reason": (of_record("reasons", ["none"]), "valid: the record states True"),
    "a flag removed": (
        lambda forger: forger.record(TRAINED, put("flags", []), 2),
        "flags: the record has not 'the loss is not a number in epoch 2'",
    ),
    "a flag made up": (of_record("flags", ["the machine was busy"]), "'the machine was busy' follows from nothing"),
    "earlier attempts": (of_record("attempt", 3), "flags: the record has not 'attempt 3"),
    "more throughput": (of_record("throughput_per_s", 1e6), "throughput_per_s: the record states 1e"),
    "more samples": (
        lambda forger: forger.record(
            CELL,
            lambda r: put("units.count", 2 * r["units"]["count"])(r | {"throughput_per_s": 2 * r["throughput_per_s"]}),
        ),
        "units: the record states",
    ),
    "less latency": (of_record("latency.mean_s", 1e-6), "latency.mean_s"),
    "fewer batches": (of_record("latency.batches", 700), "latency.mean_s"),
    "percentiles that do not ascend": (of_record("latency.p99_s", 1e-6), "its percentiles do not ascend"),
    "percentiles beyond the window": (of_record("latency.p50_s", lambda s: s * 2.5), "percentiles"),
    "percentiles that leave time over": (
        of_record("latency", lambda found: found | {"p50_s": 1e-6, "p95_s": 2e-6, "p99_s": 3e-6, "max_s": 4e-6}),
        "percentiles",
    ),
    "an epoch removed": (of_record("epochs", lambda epochs: epochs[:1], TRAINED), "epochs: the record has epoch-1,"),
    "an epoch's samples": (of_record("epochs.0.units", 1600, TRAINED), "units"),
    "accuracy of the run alone": (of_record("quality.accuracy.value", 0.95, TRAINED), "quality.accuracy"),
    "accuracy far from the weights'": (of_record("quality.accuracy.value", 1.0), "what it ran had 0.9"),
    "accuracy of no whole number": (of_record("quality.accuracy.value", 0.9012), "no whole number of 360 answers"),
    "accuracy taken away": (
        of_record("quality.f1_macro.value", None),
        "no flag gives a reason why accuracy is unknown",
    ),
}
"""What is done to a package, and what verify has to say of it."""


@pytest.mark.parametrize("name", NOTICED)
def test_a_forgery_is_noticed(forger: Forger, name: str) -> None:
    assert_edit_noticed(forger, *NOTICED[name])
