"""Packages of several machines become one: what is refused, what is kept, and what a forger would change."""

import errno
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import package_factory
import pandas as pd
import pytest
from forger import Forger
from merged_factory import SCHEMA, machine, merged_package, package_of

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_json
from framewatt.base.validation import load_yaml
from framewatt.imports.merged_study import load_merged_study, study_sha256
from framewatt.package.confined import Limits
from framewatt.package.merge import merge, verified_folder
from framewatt.package.paths import archives_of, name_of
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of
from framewatt.study.study import Source

FOUR, EIGHT = machine(4)["id"], machine(8)["id"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Packages of two machines, of one of them again, and of another study."""
    root = tmp_path_factory.mktemp("machines")
    with mock.patch.object(package_factory, "STUDY", {**package_factory.STUDY, "seed": 2}):
        other = package_of(root / "other", 16)
    return {
        "four": package_of(root / "four", 4),
        "eight": package_of(root / "eight", 8, 1.5),
        "again": package_of(root / "again", 4, 1.1),
        "other": other,
    }


def unverified(patch: pytest.MonkeyPatch) -> None:
    """Packages are only unpacked: to verify them takes a process each, and one test does."""
    patch.setattr("framewatt.package.merge.verified_folder", lambda path, scratch, _: unpack(path, scratch))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project folder, which is the current one."""
    folder = tmp_path / "project"
    (folder / "results").mkdir(parents=True)
    monkeypatch.chdir(folder)
    unverified(monkeypatch)
    return folder


def refused(archives: list[Path], tmp_path: Path, name: str = "") -> str:
    """Why packages are not merged; nothing is written then."""
    with pytest.raises(FramewattError) as error:
        merge(archives, name, tmp_path / "scratch", Limits())
    assert list(Path("results").iterdir()) == []
    assert not Path("merged").exists()
    assert "\n" not in str(error.value)
    return str(error.value)


class TestRefused:
    def test_a_machine_twice(self, made: dict[str, Path], here: Path, tmp_path: Path) -> None:
        told = refused([made["four"], made["again"]], tmp_path)
        assert f"have runs of the machine {FOUR}" in told

    def test_another_study_with_cells_of_the_same_names(
        self, made: dict[str, Path], here: Path, tmp_path: Path
    ) -> None:
        told = refused([made["four"], made["other"]], tmp_path)
        assert "this is another study" in told
        assert "seed is 2 instead of 1" in told

    def test_one_that_does_not_verify(
        self, made: dict[str, Path], here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("framewatt.package.merge.verified_folder", verified_folder)
        broken = tmp_path / made["eight"].name
        with zipfile.ZipFile(made["eight"]) as source, zipfile.ZipFile(broken, "w") as target:
            for entry in source.infolist():
                content = source.read(entry)
                target.writestr(entry, content.replace(b'"valid": true', b'"valid": false', 1))
        assert "Use a package in which make verify finds nothing wrong" in refused([made["four"], broken], tmp_path)

    def test_a_disk_that_is_full_leaves_nothing(
        self, made: dict[str, Path], here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(source: Path, target: Path) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", str(target))

        monkeypatch.setattr("framewatt.package.merge.shutil.copy2", full)
        with pytest.raises(OSError, match="No space left"):
            merge([made["four"], made["eight"]], "", tmp_path / "scratch", Limits())
        assert list(Path("results").iterdir()) == []
        assert not Path("merged").exists()

    def test_fewer_than_two_and_one_twice(self, made: dict[str, Path], tmp_path: Path) -> None:
        copy = tmp_path / "link.zip"
        copy.symlink_to(made["four"])
        for text, told in (
            (str(made["four"]), "names 1"),
            ("", "names no package"),
            (f"{made['four']} {copy}", "which are one file"),
            (f"{made['four']} nothing.zip", "is not a file"),
            ("'a.zip b.zip", "No closing quotation"),
        ):
            with pytest.raises(FramewattError, match=told):
                archives_of(text)

    def test_a_name_that_leads_elsewhere(self) -> None:
        assert name_of("both-2") == "both-2"
        for name in ("../x", "A b", "-x"):
            with pytest.raises(FramewattError, match=r"STUDY: .* is not a name"):
                name_of(name)


class TestLaidOut:
    def test_order_of_packages_makes_no_difference(self, made: dict[str, Path], here: Path, tmp_path: Path) -> None:
        path = merge([made["eight"], made["four"]], "", tmp_path / "1", Limits())
        told = path.read_text()
        assert sorted(folder.name for folder in Path("results/trial-merged/machines").iterdir()) == sorted(
            [FOUR, EIGHT]
        )
        # The same packages again go on with what is there; others are refused.
        assert merge([made["four"], made["eight"]], "", tmp_path / "2", Limits()).read_text() == told
        with pytest.raises(FramewattError, match="has results of other packages"):
            merge([made["again"], made["eight"]], "", tmp_path / "3", Limits())
        assert path.read_text() == told

    def test_machines_are_a_factor_and_blocks_are_of_one(
        self, made: dict[str, Path], here: Path, tmp_path: Path
    ) -> None:
        merged_package(tmp_path, [made["four"], made["eight"]])
        runs = pd.read_parquet("results/trial-merged/aggregate/runs.parquet")
        assert list(runs.columns)[: list(runs.columns).index("device")][-1] == "machine"
        blocks = runs.groupby("machine")["repetition"].agg(lambda found: sorted(set(found)))
        assert sorted(blocks) == [[1, 2], [3, 4]]
        assert runs["cell"].nunique() == 6
        # Each machine's runs are what they were.
        for name in ("four", "eight"):
            with zipfile.ZipFile(made[name]) as archive:
                (frame,) = [entry for entry in archive.namelist() if entry.endswith("aggregate/runs.parquet")]
                alone = pd.read_parquet(archive.open(frame))
            own = runs[runs["machine"] == alone["machine"].iloc[0]]
            for column in ("energy_gross_j", "energy_net_uncertainty_j", "duration_s", "started_utc"):
                assert own[column].to_list() == alone[column].to_list()


class TestBelieved:
    def test_the_package_of_the_whole(self, whole: Path) -> None:
        assert list(problems_of(whole)) == []

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ("plan", "the plan states"),
            ("record", "changed since manifest-sha256.txt was written"),
            ("place", "has the hash"),
            ("gone", "has 0 folders instead of one package"),
            ("frame", "is not what the records give"),
            ("more", "holds other machines: "),
        ],
    )
    def test_a_forger_is_found(self, whole: Path, tmp_path: Path, change: str, told: str) -> None:
        forger = Forger(shutil.copytree(whole, tmp_path / whole.name))
        results = forger.folder / "data/results/trial-merged"
        machines = results / "machines"
        if change == "plan":
            plan = read_json(results / "plan/plan.json")
            plan["order"] = plan["order"][:-1]
            write_json(results / "plan/plan.json", plan)
        elif change == "record":
            path = next(machines.glob(f"{FOUR}/*/data/results/*/measure/*/*/run.json"))
            path.write_text(path.read_text().replace('"status": "ok"', '"status":  "ok"', 1))
        elif change == "place":
            shutil.move(machines / FOUR, tmp_path / "four")
            shutil.move(machines / EIGHT, machines / FOUR)
            shutil.move(tmp_path / "four", machines / EIGHT)
        elif change == "gone":
            shutil.rmtree(machines / FOUR)
        elif change == "frame":
            path = results / "aggregate/runs.csv"
            path.write_text(path.read_text().replace("rapl", "nvml", 1))
        else:
            shutil.copytree(machines / FOUR, machines / "0123456789abcdef")
        forger.mend()
        assert any(told in line for line in problems_of(forger.folder))


@pytest.fixture(scope="module")
def whole(made: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A merged package, unpacked."""
    root = tmp_path_factory.mktemp("whole")
    (root / "project" / "results").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root / "project")
        unverified(patch)
        return unpack(merged_package(root, [made["four"], made["eight"]]), root / "out")


def test_each_machine_ends_where_it_stopped(whole: Path) -> None:
    results = whole / "data/results/trial-merged"
    path = whole / "data/config/studies/trial-merged.yaml"
    study = load_merged_study(path, load_yaml(path), load_yaml(SCHEMA), results)
    first, second = study.sources
    stopped: list[Any] = [Source(first.machine, first.folder, first.plan, 1), second]
    runs = type(study)(study.path, study.settings, tuple(stopped)).runs()
    assert [len([run for run in runs if run.source.machine == one.machine]) for one in stopped] == [3, 6]
    assert sorted({run.repetition for run in runs}) == [1, 2, 3]
    assert [run.position for run in runs] == list(range(1, 10))


def test_the_hash_of_a_study_is_of_what_is_measured(whole: Path) -> None:
    (path, *_) = sorted(whole.glob("data/results/trial-merged/machines/*/*/data/results/trial/plan/plan.json"))
    plan = read_json(path)

    def changed(**settings: Any) -> dict[str, Any]:
        return json.loads(json.dumps({**plan, "settings": {**plan["settings"], **settings}}))

    assert study_sha256(changed(title="Another", archive={"authors": ["Somebody"]})) == study_sha256(plan)
    assert study_sha256({**plan, "threads": 99}) == study_sha256(plan)
    assert study_sha256(changed(statistics={**plan["settings"]["statistics"], "alpha": 0.1})) != study_sha256(plan)
    assert study_sha256({**plan, "sources": {}}) != study_sha256(plan)
