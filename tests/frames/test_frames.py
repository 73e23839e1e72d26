"""Records become rows, and domains become totals that add nothing twice."""

from pathlib import Path

import pandas as pd
import pytest
from records_factory import QUALITY, energy, run_record, window

from framewatt.frames.factor_words import factors_of
from framewatt.frames.frames import epochs_columns, epochs_frame, runs_columns, runs_frame
from framewatt.frames.totals import OF_A_STUDY, Scope
from framewatt.host.machine import machine_of

LEFT_OUT = Scope("leave_out")
THEN = Scope(unmetered=None)
"""Packages from before totals covered processors without a meter."""


def total(domains: dict, scope: Scope = OF_A_STUDY) -> pd.Series:
    frame = runs_frame([run_record(domains)], scope=scope)
    return frame[frame["domain"] == "total"].iloc[0]


def test_a_run_is_a_row_for_each_domain_and_one_for_their_total() -> None:
    frame = runs_frame([run_record({"cpu:package-0": energy(100.0), "cpu:dram-0": energy(30.0)})])
    assert list(frame.columns) == runs_columns(run_record()["cell"], list(QUALITY))
    assert dict(zip(frame["domain"], frame["energy_gross_j"], strict=True)) == {
        "cpu:dram-0": 30.0,
        "cpu:package-0": 100.0,
        "total": 130.0,
    }


def test_packages_dram_and_gpu_add_up_and_uncertainties_do_in_quadrature() -> None:
    row = total({"cpu:package-0": energy(100.0), "cpu:dram-0": energy(30.0), "gpu:0": energy(300.0)})
    assert (row["energy_gross_j"], row["energy_net_j"], row["mean_power_w"]) == (430, 370, 43)
    assert row["energy_uncertainty_j"] == pytest.approx(27**0.5)
    assert row["energy_per_sample_j"] == pytest.approx(4.3)
    assert row["parts"] == "cpu:dram-0 + cpu:package-0 + gpu:0"


def test_a_gpu_that_a_run_did_not_use_leaves_the_total_where_the_study_says_so() -> None:
    domains = {"cpu:package-0": energy(100.0), "gpu:0": energy(300.0), "gpu:1": {**energy(50.0), "unused": True}}
    assert total(domains)["energy_gross_j"] == 450
    without = total(domains, LEFT_OUT)
    assert (without["energy_gross_j"], without["parts"]) == (400, "cpu:package-0 + gpu:0")
    assert set(runs_frame([run_record(domains)], scope=LEFT_OUT)["domain"]) == {"total", *domains}
    # Where nothing else is metered, and where the total is that of the whole machine, it stays in.
    alone = total({"gpu:1": domains["gpu:1"]}, Scope("leave_out", None))
    assert (alone["energy_gross_j"], alone["valid"]) == (50, True)
    wall = {"gpu:0": domains["gpu:0"], "gpu:1": domains["gpu:1"], "external:wall": energy(900.0)}
    assert total(wall, LEFT_OUT)["energy_gross_j"] == 900


def test_psys_holds_the_others_and_is_never_added_to_them() -> None:
    assert total({"cpu:package-0": energy(100.0), "cpu:psys": energy(180.0)})["energy_gross_j"] == 100
    assert total({"cpu:psys": energy(180.0)})["energy_gross_j"] == 180


@pytest.mark.parametrize(
    ("domains", "parts"),
    [
        ({"cpu:package-0": 100, "cpu:core-0": 60, "cpu:uncore-0": 20}, "cpu:package-0"),
        ({"cpu:package-0": 100, "gpu:0": 300, "external:wall": 500}, "cpu:package-0 + gpu:0"),
        # perf tells a socket, powercap its dies.
        ({"cpu:package-0": 110, "cpu:package-0-die-0": 60, "cpu:package-0-die-1": 50}, "cpu:package-0"),
        ({"cpu:package-0-die-0": 60, "cpu:package-0-die-1": 50}, "cpu:package-0-die-0 + cpu:package-0-die-1"),
        ({"cpu:package-0": 110, "cpu:package-1-die-0": 60}, "cpu:package-0 + cpu:package-1-die-0"),
        ({"cpu:psys": 180, "gpu:0": 300}, "cpu:psys + gpu:0"),
        ({"external:wall": 500}, "external:wall"),
        ({"external:wall": 500, "cpu:psys": 180}, "external:wall"),
        ({"external:wall": 500, "cpu:estimate": 50}, "external:wall"),
        ({"external:wall": 500, "gpu:0": 300, "cpu:estimate": 50}, "external:wall"),
    ],
)
def test_what_lies_inside_another_domain_is_never_added_to_it(domains: dict[str, float], parts: str) -> None:
    row = total({name: energy(joules, estimated=name == "cpu:estimate") for name, joules in domains.items()})
    assert row["parts"] == parts
    assert row["energy_gross_j"] == sum(domains[part] for part in parts.split(" + "))


def test_dies_stand_for_a_package_that_does_not_count() -> None:
    package = energy(None) | {"valid": False}
    row = total({"cpu:package-0": package, "cpu:package-0-die-0": energy(60.0), "cpu:package-0-die-1": energy(50.0)})
    assert (row["parts"], row["energy_gross_j"]) == ("cpu:package-0-die-0 + cpu:package-0-die-1", 110)


def test_processors_without_a_meter_do_not_vanish_from_a_total_beside_gpus() -> None:
    domains = {"gpu:0": energy(300.0), "cpu:estimate": energy(50.0, estimated=True)}
    row = total(domains)
    assert (row["energy_gross_j"], row["estimated"], row["parts"]) == (350, True, "cpu:estimate + gpu:0")
    for scope in (THEN, Scope(unmetered="leave_out")):
        row = total(domains, scope)
        assert (row["energy_gross_j"], row["estimated"], row["parts"]) == (300, False, "gpu:0")


def test_a_measured_total_holds_no_estimate() -> None:
    for measured in ("cpu:package-0", "external:wall", "cpu:psys"):
        row = total({measured: energy(300.0), "cpu:estimate": energy(50.0, estimated=True)})
        assert (row["energy_gross_j"], row["estimated"], row["parts"]) == (300, False, measured)


def test_a_total_of_gpus_that_did_nothing_is_no_total_of_a_run_on_processors() -> None:
    idle = {"gpu:0": {**energy(300.0), "unused": True}}
    row = total(idle)
    assert (row["valid"], row["reasons"]) == (False, "no meter covers the processors, which did all of the work")
    assert total(idle, THEN)["valid"]
    assert total({"gpu:0": energy(300.0)})["valid"]
    assert total({**idle, "cpu:estimate": energy(50.0, estimated=True)})["energy_gross_j"] == 350


def test_what_one_run_of_a_study_uses_is_in_the_totals_of_all() -> None:
    """CPU against CUDA with `leave_out`: the GPU's joules at rest were in the one total and not in the other."""
    processors = {"cpu:package-0": energy(100.0), "gpu:0": {**energy(70.0), "unused": True}, "gpu:1": idle_gpu()}
    cuda = {"cpu:package-0": energy(40.0), "gpu:0": energy(90.0), "gpu:1": idle_gpu()}
    records = [run_record(processors), run_record(cuda, cell_id="cuda")]
    for scope, totals in ((LEFT_OUT, [170, 130]), (Scope("leave_out", None), [100, 130]), (OF_A_STUDY, [175, 135])):
        frame = runs_frame(records, scope=scope)
        assert list(frame.loc[frame["domain"] == "total", "energy_gross_j"]) == totals
    # Another machine's GPU 0 is another GPU.
    elsewhere = {**run_record(cuda, cell_id="cuda"), "machine": {"cpu_model": "x", "id": "other", "session": "s"}}
    frame = runs_frame([run_record(processors), elsewhere], scope=LEFT_OUT)
    assert list(frame.loc[frame["domain"] == "total", "energy_gross_j"]) == [100, 130]


def idle_gpu() -> dict:
    return {**energy(5.0), "unused": True}


def test_an_estimated_total_says_so() -> None:
    row = total({"cpu:estimate": energy(50.0, estimated=True)})
    assert (row["energy_gross_j"], row["estimated"]) == (50, True)


def test_one_unknown_part_makes_the_total_unknown() -> None:
    row = total({"cpu:package-0": energy(100.0), "cpu:package-1": energy(None)})
    assert pd.isna(row["energy_gross_j"])
    assert not row["valid"]


def test_a_run_that_does_not_count_counts_in_no_domain() -> None:
    frame = runs_frame([run_record(valid=False, reasons=["the sampling process died or hung"])])
    assert not frame["valid"].any()
    assert set(frame["reasons"]) == {"the sampling process died or hung"}


def test_a_failed_run_is_one_row_without_numbers() -> None:
    failed = run_record(status="failed", valid=False, reasons=["killed by SIGKILL"], primary_window=None, windows={})
    (row,) = runs_frame([failed]).to_dict("records")
    assert (row["domain"], row["status"], row["reasons"]) == ("total", "failed", "killed by SIGKILL")
    assert pd.isna(row["energy_gross_j"])
    assert pd.isna(row["accuracy"])


NODES = [{"cpu_model": name, "processors": 8} for name in ("an old processor", "a new processor")]


def test_repetitions_of_several_machines_stand_in_one_frame() -> None:
    """Twice the first one, with a reboot between, then the second."""
    places = [{**NODES[0], "session": "a"}, {**NODES[0], "session": "b"}, {**NODES[1], "session": "c"}]
    frame = runs_frame([run_record(repetition=n, position=n, machine=one) for n, one in enumerate(places, 1)])
    totals = frame[frame["domain"] == "total"]
    assert totals["session"].tolist() == ["a", "b", "c"]
    first, again, second = totals["machine"]
    assert first == again != second


def test_records_of_finished_older_studies_give_a_machine_and_no_session() -> None:
    frame = runs_frame([run_record(schema_version=3, machine={**NODES[0], "fingerprint": "a"})])
    assert set(frame["machine"]) == {machine_of(NODES[0])}
    assert frame["session"].isna().all()


def test_a_study_that_went_on_after_an_update_has_the_sessions_of_all_its_runs() -> None:
    older = run_record(schema_version=3, machine={**NODES[0], "fingerprint": "a"})
    frame = runs_frame([older, run_record(repetition=2, position=2, machine={**NODES[0], "session": "a"})])
    assert set(frame["session"]) == {"a"}


def test_a_machine_that_logs_name_is_a_factor_and_its_column() -> None:
    frame = runs_frame([run_record(cell={"machine": "lab 3"}, machine={})])
    assert list(frame.columns).count("machine") == 1
    assert set(frame["machine"]) == {"lab 3"}
    assert factors_of(frame) == ["machine"]
    assert frame["session"].isna().all()


def test_rows_stand_in_measured_order() -> None:
    frame = runs_frame([run_record(position=2, repetition=2), run_record(position=1)])
    assert list(frame["position"]) == [1, 1, 2, 2]


def test_an_epoch_is_a_row_for_each_domain_and_one_for_their_total() -> None:
    quality = run_record()["quality"]
    epochs = [{"epoch": n, "units": 50, "loss_mean": 1.0 / n, "quality": quality} for n in (1, 2)]
    windows = {name: window({"cpu:package-0": energy(40.0)}) for name in ("steady", "epoch-1", "epoch-2")}
    frame = epochs_frame([run_record(epochs=epochs, windows=windows)])
    assert list(frame.columns) == epochs_columns(run_record()["cell"], list(QUALITY))
    assert list(zip(frame["epoch"], frame["domain"], strict=True)) == [
        (1, "total"),
        (1, "cpu:package-0"),
        (2, "total"),
        (2, "cpu:package-0"),
    ]
    assert set(frame["throughput_per_s"]) == {5.0}


BUSY = {
    "utilization_percent": {"mean": 80.0, "max": 99.0},
    "memory_utilization_percent": {"mean": 30.0, "max": 40.0},
    "memory_used_b": {"mean": 2e9, "max": 3e9},
    "temperature_c": {"mean": 60.0, "max": 65.0},
}
IDLE = {quantity: {"mean": 0.0, "max": 0.0} for quantity in BUSY} | {"memory_used_b": {"mean": 1e9, "max": 1e9}}


def of_epoch(gauges: dict, *domains: str) -> pd.DataFrame:
    """Rows of one epoch in which GPUs told this, by domain."""
    epoch = window({domain: energy(40.0) for domain in domains}) | {"gauges": gauges}
    epochs = [{"epoch": 1, "units": 50, "loss_mean": 1.0, "quality": {}}]
    return epochs_frame([run_record(epochs=epochs, windows={"steady": epoch, "epoch-1": epoch})]).set_index("domain")


def test_an_epoch_has_what_its_gpu_did_over_its_own_window() -> None:
    rows = of_epoch({"gpu:0": BUSY}, "cpu:package-0", "gpu:0")
    for domain in ("total", "gpu:0"):
        assert rows.loc[domain, "gpu_utilization_percent"] == 80
        assert rows.loc[domain, "gpu_memory_utilization_percent"] == 30
        assert rows.loc[domain, "gpu_memory_used_b"] == 2e9
        assert rows.loc[domain, "gpu_temperature_c"] == 60
        assert rows.loc[domain, "telemetry_unknown"] is None
    assert pd.isna(rows.loc["cpu:package-0", "gpu_utilization_percent"])


def test_of_two_gpus_a_total_has_the_mean_and_all_the_memory() -> None:
    row = of_epoch({"gpu:0": BUSY, "gpu:1": IDLE}, "gpu:0", "gpu:1").loc["total"]
    assert (row["gpu_utilization_percent"], row["gpu_temperature_c"], row["gpu_memory_used_b"]) == (40, 30, 3e9)


def test_where_no_gpu_is_metered_nothing_is_made_up() -> None:
    row = of_epoch({}, "cpu:package-0").loc["total"]
    assert row["gpu_utilization_percent"] is None
    assert row["telemetry_unknown"] == "no meter of a GPU"


def test_what_a_meter_does_not_tell_is_named() -> None:
    told = {quantity: value for quantity, value in BUSY.items() if quantity != "temperature_c"}
    row = of_epoch({"gpu:0": told}, "gpu:0").loc["total"]
    assert pd.isna(row["gpu_temperature_c"])
    assert row["telemetry_unknown"] == "the meters report no gpu_temperature_c"


def test_epochs_of_a_study_that_trains_nothing_still_join_its_runs(tmp_path: Path) -> None:
    epochs_frame([run_record()]).to_parquet(tmp_path / "epochs.parquet")
    epochs = pd.read_parquet(tmp_path / "epochs.parquet")
    assert epochs.merge(runs_frame([run_record()])[["cell", "repetition"]], on=["cell", "repetition"]).empty
