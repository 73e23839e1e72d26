"""What a study starts from beside its file: packages of the host, linked code, a replayed trace, threads."""

import copy
import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from study_factory import hashes_of, loaded
from test_keys import BASE, made, word

from framewatt.base.errors import FramewattError
from framewatt.environments.framework import describe_host, packages_sha256
from framewatt.planning.job_hashes import JobHashes, host_packages, sources_of
from framewatt.planning.plan import plan_of
from framewatt.planning.staleness import Runs, outdated_sources

OTHER = {**BASE["factors"][0], "batch_size": [16]}
MEASURING_ALL = ["all", "-", "-", "all", "all"]


def with_sources(hashes: JobHashes, **changes: Any) -> JobHashes:
    return replace(hashes, sources=replace(hashes.sources, **changes))


def words(before: JobHashes, after: JobHashes) -> list[str]:
    """What is made again, by the page's columns."""
    return [word(*pair) for pair in zip(made(before).values(), made(after).values(), strict=True)]


def interpreter(folder: Path, **packages: str) -> str:
    """A program that answers as an interpreter with these packages does."""
    path = folder / "python"
    answer = json.dumps({"python_version": "3.12.1", "packages": packages})
    path.write_text(f"#!/bin/sh\necho '{answer}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_another_version_of_a_package_of_the_host_makes_all_again_but_idle_power(tmp_path: Path) -> None:
    study = loaded(tmp_path, BASE)
    hashes = hashes_of(study)

    def of(**packages: str) -> JobHashes:
        found = host_packages("host", interpreter(tmp_path, **packages))
        environments = {name: {"mode": "host", "packages_sha256": found} for name in hashes.sources.environments}
        return with_sources(hashes, environments=environments)

    assert words(of(torch="2.1", numpy="2"), of(numpy="2", torch="2.1")) == ["-"] * 5
    assert words(of(torch="2.1"), of(torch="2.2")) == ["-", "all", "all", "all", "all"]


def test_the_record_of_a_host_that_has_changed_is_made_again_in_the_same_call(tmp_path: Path) -> None:
    content = {key: value for key, value in BASE.items() if key != "models"} | {"factors": BASE["factors"][:1]}
    study = loaded(tmp_path, content)
    python = interpreter(tmp_path, torch="2.1")
    folder = tmp_path / "environments" / "host" / "torch"
    folder.mkdir(parents=True)
    (folder / "environment.json").write_text(json.dumps(describe_host("torch", python)))

    def outdated() -> list[str]:
        sources = sources_of(study, "host", tmp_path, host_packages("host", python))
        return outdated_sources(replace(hashes_of(study), sources=sources), tmp_path)

    assert outdated() == []
    interpreter(tmp_path, torch="2.2")
    assert outdated() == [str(folder / "environment.json")]


def test_a_host_without_an_interpreter_has_no_packages() -> None:
    assert host_packages("host", "/nowhere/python") is None
    assert host_packages("locked", "") is None
    assert packages_sha256(describe_host("torch", "")) == host_packages("host", "")


def test_the_content_of_a_replayed_trace_counts(tmp_path: Path) -> None:
    content = {**BASE, "models": {}, "factors": BASE["factors"][:2], "instruments": {"replay_trace": "power.parquet"}}
    study = loaded(tmp_path, content)
    found = []
    (tmp_path / "envs/torch").mkdir(parents=True)
    for text in ("one", "two"):
        (tmp_path / "power.parquet").write_text(text)
        found.append(sources_of(study, "host", tmp_path).replay_trace)
    one, two = (with_sources(hashes_of(study), replay_trace=sha256) for sha256 in found)
    assert words(one, two) == MEASURING_ALL
    assert one.instruments != two.instruments
    assert plan_of(one)["sources"]["replay_trace"] == found[0]


def test_a_study_that_replays_nothing_has_the_plan_that_it_had(tmp_path: Path) -> None:
    assert set(plan_of(hashes_of(loaded(tmp_path, BASE)))["sources"]) == {"environments", "own"}


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """The folder of an own model, with code behind a link, and a link to itself."""
    folder, elsewhere = tmp_path / "study", tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    folder.mkdir()
    (folder / "nets.py").write_text("from parts.deep import layer\n")
    (elsewhere / "deep" / "layer.py").write_text("size = 1\n")
    (folder / "parts").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(folder)
    (folder / "gone.py").symlink_to("nowhere.py")
    return folder


def test_own_code_behind_a_linked_folder_is_hashed(code: Path) -> None:
    (code / "mine.onnx").touch()
    study = loaded(code, BASE)
    files = [path.relative_to(code).as_posix() for path in study.own["mine"].code_files()]
    assert files == ["nets.py", "parts/deep/layer.py"]
    before = sources_of(study, "host", code)
    (code / "parts" / "deep" / "layer.py").write_text("size = 2\n")
    assert sources_of(study, "host", code).own["mine"]["code"] != before.own["mine"]["code"]


def test_a_folder_that_cannot_be_read_is_no_code(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code / "closed").mkdir()
    listed = Path.iterdir

    def iterdir(folder: Path) -> Any:
        if folder.name == "closed":
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    files = loaded(code, BASE).own["mine"].code_files()
    assert [path.name for path in files] == ["nets.py", "layer.py"]


def test_the_order_of_what_is_accepted_does_not_count(tmp_path: Path) -> None:
    def of(*accepted: str) -> JobHashes:
        return hashes_of(loaded(tmp_path, {**BASE, "preflight": {"accept": list(accepted)}}))

    assert words(of("turbo", "load"), of("load", "turbo")) == ["-"] * 5
    assert of("turbo", "load").instruments == of("load", "turbo").instruments
    assert words(of("load"), of("load", "turbo")) == ["-", "-", "-", "all", "all"]


@pytest.mark.parametrize(("one", "two"), [(0.00123456789, 0.00123456788), (0.1234567, 0.1234568)])
def test_levels_that_would_share_a_name_are_refused_in_one_line(tmp_path: Path, one: float, two: float) -> None:
    content = copy.deepcopy(BASE)
    content["factors"][0] |= {"learning_rate": [one, two], "phase": ["train"]}
    with pytest.raises(
        FramewattError,
        match=r"learning_rate: .* and .* give two cells the name .*Use levels with different names",
    ):
        loaded(tmp_path, content)
    content["factors"][0]["learning_rate"] = [one]
    assert f"lr{one:g}" in loaded(tmp_path, content).cells[0].id


def measured(folder: Path, hashes: JobHashes, threads: int) -> None:
    """Records of all runs of a study, as far as what is due looks at them."""
    for entry in plan_of(hashes)["order"]:
        place = folder / "results" / "measure" / entry["cell"] / str(entry["repetition"])
        place.mkdir(parents=True)
        identity = {"environment": {"mode": "locked"}, "data_sha256": None, "artefact_sha256": None}
        head = {"status": "ok", "valid": True, "threads": threads, "repetition": entry["repetition"]}
        (place / "run.json").write_text(json.dumps({**head, "job_sha256": entry["job_sha256"], "identity": identity}))
        for name in ("power.parquet", "events.parquet"):
            (place / name).touch()


def test_runs_of_another_number_of_threads_say_so_and_how_to_keep_them(tmp_path: Path) -> None:
    content = {**BASE, "models": {}, "factors": BASE["factors"][:1], "threads": "auto"}

    def due(processors: int = 2, **changes: Any) -> str:
        hashes = hashes_of(loaded(tmp_path, {**content, **changes}, processors=processors))
        known = Runs(hashes, tmp_path / "results", tmp_path / "resources")
        entries = plan_of(hashes)["order"]
        places = [tmp_path / "results/measure" / entry["cell"] / str(entry["repetition"]) for entry in entries]
        reasons = [known.run_due(p, e["cell"], e["job_sha256"]) for p, e in zip(places, entries, strict=True)]
        return "; ".join(sorted({reason for reason in reasons if reason}))

    measured(tmp_path, hashes_of(loaded(tmp_path, content, processors=8)), 8)
    assert "under other settings" not in due(processors=8)
    assert due() == "measured with 8 threads, where this machine gives 2 (threads: 8 in the study keeps them)"
    assert "threads" not in due(threads=8)
    assert due(seed=3) == "measured under other settings"
    assert due(threads=4) == "measured under other settings"
    # Where threads are a factor, cells are named by them, and no number under `threads` alone keeps all.
    assert "keeps them" not in due(factors=[{**content["factors"][0], "threads": []}, {**OTHER, "threads": [4]}])
