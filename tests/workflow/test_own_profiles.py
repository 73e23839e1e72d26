"""Profiles of a study's own cells: which are profiled, what the profiler sees, and what becomes of the dumps."""

import cProfile
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from profile_factory import Key, builtin, functions_of, statistics, write_dump
from study_factory import hashes_of, loaded
from test_keys import BASE, CROSS

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of, write_json
from framewatt.profiling import collection
from framewatt.profiling.collection import profiles_of, read_own, records_of
from framewatt.runs import profiling
from framewatt.runs.profiled_worker import ProfiledEvents
from framewatt.tables.functions import functions, functions_unnamed, profiler_cost

LOOP: Key = ("/home/ann/src/framewatt/workloads/torch/engine.py", 7, "run")
BACKWARD = builtin("<method 'run_backward' of 'torch._C._EngineBase' objects>")


def study(folder: Path, **change: Any) -> Any:
    return loaded(folder, {**BASE, **change})


def test_nothing_is_profiled_unless_the_study_asks(tmp_path: Path) -> None:
    assert profiles_of(study(tmp_path), tmp_path) is None
    asked = study(tmp_path, profile="windows")
    profiles = profiles_of(asked, tmp_path)
    assert profiles is not None
    assert len(profiles.profiles) == len(asked.cells)
    assert profiles.tables["functions_torch_train"] == ("torch", "train")
    assert "functions_onnxruntime_infer" in profiles.tables
    assert "functions_onnxruntime_train" not in profiles.tables


def test_two_cells_whose_call_graphs_would_be_one_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = study(tmp_path, profile="windows")
    cell = asked.measured_cells[0]
    monkeypatch.setattr(collection, "profiled_cells", lambda *_: {"train-a_b-c": cell, "train-a-b_c": cell})
    with pytest.raises(FramewattError, match="the call graphs of the cells train-a_b-c and train-a-b_c would"):
        profiles_of(asked, tmp_path)


def test_states_of_caches_are_one_program_and_node_js_is_none_of_python(tmp_path: Path) -> None:
    infer = {**CROSS, "phase": ["infer"]}
    factors = [
        {**infer, "runtime": ["torch"], "caches": ["cold", "warm"]},
        {**infer, "runtime": ["torch2onnx"], "client": ["python", "node"]},
    ]
    asked = study(tmp_path, profile="windows", factors=factors, models={})
    found = hashes_of(asked).profiles
    assert list(found) == ["infer-resnet50-digits-torch-b8-cold", "infer-resnet50-digits-torch2onnx-cpu-b8"]


def test_a_profile_is_due_again_where_its_work_changes_and_not_where_only_measuring_does(tmp_path: Path) -> None:
    cell = "train-resnet50-digits-torch-b8"

    def sha256(**change: Any) -> str:
        return hashes_of(study(tmp_path, **{"profile": "windows", **change})).profiles[cell]

    same = sha256()
    assert sha256(cool_down={"rest_s": 9}, repetitions=5, calibration={"idle_s": 3}) == same
    assert sha256(profile="program") != same
    assert sha256(training={"epochs": 7}) != same
    hashes = hashes_of(study(tmp_path, profile="windows"))
    assert hashes.run(hashes.study.cell(cell), 1) not in hashes.profiles.values()


def work() -> None:
    sorted(range(100))


def functions_in(profiler: cProfile.Profile) -> set[str]:
    return {
        str(one.code if isinstance(one.code, str) else one.code.co_name)
        for one in profiler.getstats()  # type: ignore[attr-defined]
    }


def test_the_profiler_sees_the_primary_windows_and_nothing_else(tmp_path: Path) -> None:
    profiler = cProfile.Profile()
    seen = {}
    with (tmp_path / "events").open("a") as file:
        events = ProfiledEvents(file, profiler)
        with events.window("setup"):
            work()
        seen["setup"] = functions_in(profiler)
        events.mark("epoch-1", "start", 1)
        len("")
        events.mark("epoch-1", "end", 2)
        with events.window("evaluate-1"):
            work()
        seen["evaluate"] = functions_in(profiler)
        events.mark("steady", "start", 3)
        work()
        events.mark("steady", "end", 4)
    assert seen["setup"] == set()
    assert "work" not in seen["evaluate"]
    assert "<built-in method builtins.len>" in seen["evaluate"]
    assert {"work", "<built-in method builtins.sorted>"} <= functions_in(profiler)
    edges = [json.loads(line)["window"] for line in (tmp_path / "events").read_text().splitlines()]
    assert edges == [name for name in ("setup", "epoch-1", "evaluate-1", "steady") for _ in range(2)]


def test_seconds_of_windows_are_of_the_primary_ones() -> None:
    edges = [("setup", 0, 9), ("epoch-1", 10, 13), ("evaluate-1", 13, 20), ("epoch-2", 20, 24)]
    marks = [
        {"window": name, "edge": edge, "monotonic_ns": second * 10**9}
        for name, *seconds in edges
        for edge, second in zip(("start", "end"), seconds, strict=True)
    ]
    assert profiling.windows_s(marks) == pytest.approx(7)


def test_each_pass_goes_first_in_about_half_of_the_cells() -> None:
    first = [profiling.order_of(f"cell-{number}")[0] for number in range(200)]
    assert 70 < first.count(profiling.PLAIN) < 130


def passes(plain_s: float, profiled_s: float, units: int = 100, profiled_units: int = 100) -> dict[str, Any]:
    return {
        "plain": {"process_s": plain_s + 5, "windows_s": plain_s, "units": {"name": "sample", "count": units}},
        "profiled": {
            "process_s": profiled_s + 5,
            "windows_s": profiled_s,
            "units": {"name": "sample", "count": profiled_units},
        },
    }


def left(folder: Path, cell: str, framework: str, own_times: dict[Key, float], **change: Any) -> Path:
    """What a profiled run leaves."""
    dump = write_dump(folder / cell / profiling.DUMP, statistics(own_times))
    record = {
        **{"status": "ok", "reason": None, "cell_id": cell, "cell": {"workload": "net"}, "engine": framework},
        **{"phase": "train", "profile": "windows", "passes": passes(2.0, 3.0), "dump_sha256": sha256_of(dump)},
    }
    write_json(folder / cell / profiling.RECORD, {**record, **change})
    return folder / cell


def failed(folder: Path, cell: str) -> Path:
    (folder / cell).mkdir()
    write_json(folder / cell / profiling.RECORD, {"status": "failed", "reason": "ended with 1", "repeat": True})
    return folder / cell


def test_dumps_become_frames_and_those_that_do_not_are_told(tmp_path: Path) -> None:
    times = {LOOP: 0.4, BACKWARD: 1.6}
    folders = [
        left(tmp_path, "train-net-digits-torch-b8", "torch", times),
        left(tmp_path, "train-net-digits-torch-b9", "torch", times, dump_sha256="0" * 64),
        failed(tmp_path, "train-net-digits-tensorflow-b8"),
    ]
    runs, record = read_own(folders)
    assert [run.cell for run in runs] == ["train-net-digits-torch-b8"]
    assert record["status"].tolist() == ["ok", "failed", "failed"]
    assert record["profile"].tolist()[0] == "train_net_digits_torch_b8"
    assert "is not known, and marshal data" in record["reason"][1]
    assert str(tmp_path) not in record["reason"][1]
    assert record["reason"][2] == "ended with 1"
    frame = functions_of(runs)
    assert frame["cell"].unique().tolist() == ["train-net-digits-torch-b8"]
    assert frame["api_name"].fillna("-").tolist() == ["torch.autograd.backward", "-"]
    assert not frame["file"].str.contains("ann").any()


def test_cells_of_one_model_are_told_apart_and_what_has_no_name_is_listed(tmp_path: Path) -> None:
    times = {LOOP: 0.4, BACKWARD: 1.6}
    folders = [left(tmp_path, f"train-net-digits-torch-b{size}", "torch", times) for size in (8, 9)]
    frame = functions_of(read_own(folders)[0])
    table = functions(frame, "torch", "train")
    assert table.shown["Workload"].tolist() == ["train-net-digits-torch-b8"] * 2 + ["train-net-digits-torch-b9"] * 2
    unnamed = functions_unnamed(frame)
    assert unnamed.shown.values.tolist() == [["torch", "engine.py:7 run", "2", "20.0", "train-net-digits-torch-b8"]]
    assert functions_unnamed(frame, threshold_percent=25).data.empty


def test_the_cost_is_a_unit_and_processes_are_compared_only_where_they_did_the_same(tmp_path: Path) -> None:
    folders = [
        left(tmp_path, "a", "torch", {LOOP: 1.0}),
        left(tmp_path, "b", "torch", {LOOP: 1.0}, passes=passes(2.0, 2.0, units=100, profiled_units=50)),
        failed(tmp_path, "c"),
    ]
    table = profiler_cost(records_of(folders)).data.set_index("cell")
    assert table["windows_ratio"].tolist()[:2] == pytest.approx([1.5, 2.0])
    assert table.loc["a", "process_ratio"] == pytest.approx(8 / 7)
    assert pd.isna(table.loc["b", "process_ratio"])
    assert pd.isna(table.loc["c", "windows_ratio"])
    assert table.loc["c", "reason"] == "ended with 1"
    assert "median ratio 1.75, largest 2" in profiler_cost(records_of(folders)).caption
