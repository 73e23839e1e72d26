"""Forged windows, energies, traces and events: verify notices each."""

import numpy as np
import pytest
from forged_edits import STEADY, Edit, assert_edit_noticed, of_record, relabel_run
from forger import Forger, scaled
from package_factory import CELL, study_of
from played_runs import S

from framewatt.meters.trace import Trace


def events_removed(forger: Forger) -> None:
    forger.events(forger.run(CELL), lambda events: [e for e in events if e["window"] != "setup"])


def events_moved(forger: Forger) -> None:
    def change(events: list) -> list:
        return [{**e, "monotonic_ns": e["monotonic_ns"] - (S if e["window"] == "steady" else 0)} for e in events]

    forger.events(forger.run(CELL), change)


def window_shortened(forger: Forger) -> None:
    """The costly end of the window is cut off, and all that follows from it is mended."""

    def change(events: list) -> list:
        is_end = [e["window"] == "steady" and e["edge"] == "end" for e in events]
        return [{**e, "monotonic_ns": e["monotonic_ns"] - S * end} for e, end in zip(events, is_end, strict=True)]

    forger.events(forger.run(CELL), change)
    forger.follow(study_of(forger.study).settings)


def readings_thinned(forger: Forger) -> None:
    def change(trace: Trace) -> Trace:
        kept = np.arange(len(trace.value)) % 2 == 0
        return Trace(trace.channels, trace.monotonic_ns[kept], trace.channel[kept], trace.value[kept])

    forger.trace(forger.run(CELL), change)


NOTICED: dict[str, tuple[Edit, str]] = {
    "less gross energy": (of_record(f"{STEADY}.energy_gross_j", lambda j: j * 0.99), f"{STEADY}.energy_gross_j"),
    "more idle energy": (of_record(f"{STEADY}.energy_idle_j", lambda j: j * 1.01), f"{STEADY}.energy_idle_j"),
    "less net energy": (of_record(f"{STEADY}.energy_net_j", lambda j: j * 0.99), f"{STEADY}.energy_net_j"),
    "less uncertainty": (of_record(f"{STEADY}.energy_uncertainty_j", 1e-3), f"{STEADY}.energy_uncertainty_j"),
    "less net uncertainty": (
        of_record(f"{STEADY}.energy_net_uncertainty_j", 1e-3),
        f"{STEADY}.energy_net_uncertainty_j",
    ),
    "less power": (of_record(f"{STEADY}.mean_power_w", 1.0), f"{STEADY}.mean_power_w"),
    "more readings": (of_record(f"{STEADY}.samples", 99999), f"{STEADY}.samples"),
    "a smaller gap": (of_record(f"{STEADY}.largest_gap_s", 1e-4), f"{STEADY}.largest_gap_s"),
    "failed reads": (of_record(f"{STEADY}.failed_reads", 3), f"{STEADY}.failed_reads"),
    "another instrument": (of_record(f"{STEADY}.instrument", "nvml"), f"{STEADY}.instrument"),
    "another quantity": (of_record(f"{STEADY}.source", "power_w"), f"{STEADY}.source"),
    "called an estimate": (of_record(f"{STEADY}.estimated", True), f"{STEADY}.estimated"),
    "a domain called invalid": (of_record(f"{STEADY}.valid", False), f"{STEADY}.valid"),
    "a domain removed": (
        of_record("windows.steady.domains", lambda domains: {"cpu:dram-0": domains["cpu:dram-0"]}),
        f"{STEADY}: the record states nothing",
    ),
    "a cross-check added": (
        of_record(
            f"{STEADY}.cross_checks",
            [{"instrument": "perf", "source": "energy_j", "energy_j": 1.0, "deviation": 0.0, "reasons": []}],
        ),
        f"{STEADY}.cross_checks",
    ),
    "a gauge added": (
        of_record("windows.steady.gauges", {"gpu:0": {"temperature_c": {"mean": 40.0, "max": 41.0}}}),
        "windows.steady.gauges.gpu:0",
    ),
    "a shorter window": (of_record("windows.steady.duration_s", 5.0), "windows.steady.duration_s"),
    "a later window": (of_record("windows.steady.start_monotonic_ns", 5), "windows.steady.start_monotonic_ns"),
    "another day of a window": (
        of_record("windows.steady.start_utc", "2025-01-01T00:00:00.000000+00:00"),
        "windows.steady.start_utc",
    ),
    "another clock": (
        of_record("clock.utc", "2025-01-01T00:00:00+00:00"),
        r"windows\.\w+\.start_utc: the record states '2026",
    ),
    "a window removed": (of_record("windows", lambda w: {k: w[k] for k in ("process", "steady")}), "windows.setup"),
    "another primary window": (of_record("primary_window", "setup"), "primary_window: the record states 'setup'"),
    "events removed": (events_removed, "windows.setup: the record states .*, its trace and events give nothing"),
    "events moved": (events_moved, "windows.steady.start_monotonic_ns"),
    "a window cut, and all mended": (window_shortened, "latency.mean_s"),
    "readings scaled": (lambda f: f.trace(f.run(CELL), scaled(0.9)), "energy_gross_j"),
    "readings thinned": (readings_thinned, "largest_gap_s|samples|energy_uncertainty_j"),
    "channels of one run relabelled": (
        lambda forger: relabel_run(forger.run(CELL), forger, "cpu:dram-0", "domain", "cpu:psys"),
        "cpu:psys",
    ),
}
"""What is done to a package, and what verify has to say of it."""


@pytest.mark.parametrize("name", NOTICED)
def test_a_forgery_is_noticed(forger: Forger, name: str) -> None:
    assert_edit_noticed(forger, *NOTICED[name])
