"""Caches before a run: put into the state that its cell names, and told where they may not be in it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from framewatt.runs import conditions
from framewatt.runs.conditions import MOST_LEFT_B, cache_flags, once, prepared

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _kernel_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests' files stay in memory, and the standard library of this process is not walked through."""
    monkeypatch.setattr(conditions, "forget", lambda paths: caches_forget(paths, tmp_path / "drop_caches"))
    monkeypatch.setattr(conditions.sysconfig, "get_path", lambda name: str(tmp_path / name))


caches_forget = conditions.forget


def job(tmp_path: Path, state: str, **fields: Any) -> dict[str, Any]:
    """An inference of data of 1 MiB with weights of 2 MiB."""
    for name, size in (("data", 1), ("weights", 2)):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "values").write_bytes(bytes(size * MIB))
    return {
        "phase": "infer",
        "data": str(tmp_path / "data"),
        "artefact": str(tmp_path / "weights"),
        "window": {"warm_up_batches": 3, "minimum_s": 60},
        "training": {},
        "options": {"caches": state},
    } | fields


def environment(tmp_path: Path) -> Path:
    """An environment with 4 MiB of libraries; its interpreter."""
    (tmp_path / "environment" / "lib").mkdir(parents=True)
    (tmp_path / "environment" / "lib" / "library.so").write_bytes(bytes(4 * MIB))
    return tmp_path / "environment" / "bin" / "python"


def no_pass(one: Mapping[str, Any]) -> str | None:
    raise AssertionError("nothing is to be run")


def test_cold_forgets_data_weights_and_libraries(tmp_path: Path) -> None:
    told = prepared(job(tmp_path, "cold"), environment(tmp_path), no_pass)
    assert told == {"state": "cold", "files_b": 7 * MIB, "found_b": 7 * MIB, "left_b": 0, "all_files": True}
    assert cache_flags(told) == []


def test_a_training_has_no_weights_to_forget(tmp_path: Path) -> None:
    told = prepared(job(tmp_path, "cold", artefact=None), environment(tmp_path), no_pass)
    assert told is not None
    assert told["files_b"] == 5 * MIB


def test_a_job_that_names_no_state_is_left_alone(tmp_path: Path) -> None:
    asked = job(tmp_path, "cold")
    del asked["options"]["caches"]
    assert prepared(asked, environment(tmp_path), no_pass) is None


def test_what_stays_in_memory_is_a_flag() -> None:
    told = {"state": "cold", "files_b": 900 * MIB, "found_b": 500 * MIB, "all_files": True}
    assert cache_flags({**told, "left_b": MOST_LEFT_B}) == []
    (flag,) = cache_flags({**told, "left_b": 400 * MIB})
    assert flag == ("caches: 400 MiB of the files that it may read were still in memory, of 500; it did not begin cold")


def test_who_may_not_have_all_files_forgotten_is_told_that_libraries_elsewhere_may_be_in_memory() -> None:
    told = {"state": "cold", "files_b": 900 * MIB, "found_b": 500 * MIB, "left_b": 0}
    assert cache_flags({**told, "all_files": True}) == []
    (flag,) = cache_flags({**told, "all_files": False})
    assert "others that it reads may have been in memory" in flag


def test_warm_makes_one_pass_that_is_not_measured(tmp_path: Path) -> None:
    passed = []
    told = prepared(job(tmp_path, "warm"), environment(tmp_path), lambda one: passed.append(one) or None)
    assert told == {"state": "warm", "failed": None}
    assert cache_flags(told) == []
    (one,) = passed
    assert one["window"]["warm_up_batches"] == 3
    assert one["window"]["minimum_s"] < 1e-6


def test_a_pass_that_fails_is_a_flag(tmp_path: Path) -> None:
    told = prepared(job(tmp_path, "warm"), environment(tmp_path), lambda one: "killed by SIGKILL")
    assert cache_flags(told) == ["caches: the pass that was to warm them failed: killed by SIGKILL"]


def test_a_pass_of_a_training_is_an_epoch_and_one_of_requests_waits_for_none(tmp_path: Path) -> None:
    training = job(tmp_path, "warm", phase="train", training={"epochs": 9, "momentum": 0.9, "schedule": {}})
    assert once(training)["training"] == {"epochs": 1, "momentum": 0.9}
    requests = job(tmp_path, "warm", options={"caches": "warm", "load": "2/s", "threads": 1})
    assert once(requests)["options"] == {"caches": "warm", "threads": 1}
