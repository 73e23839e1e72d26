"""Packages of runs that other tools logged: recounted from traces, and from the logs where they are packed."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from forger import Forger, put, scaled
from imported_factory import pack_files

from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of

STUDY = {
    "study": "trial",
    "title": "A trial",
    "source": "files",
    "files": {
        "root": "logs",
        "repetition": "run",
        "logs": [{"pattern": "{model}/power-{run}.csv", "reader": "nvidia-smi", "interval_s": 1}],
    },
    "statistics": {"compare": ["model"]},
}


def make(root: Path, archive: str, *left_out: dict[str, object]) -> Path:
    """A package of four imported runs but for those left out, with their logs or without."""
    for model, watts in (("small", 50.0), ("large", 90.0)):
        for run in (1, 2):
            start = datetime(2026, 1, 1, 12, run + 10 * (model == "large"), tzinfo=UTC)
            stamps = ((start + timedelta(seconds=s)).strftime("%Y/%m/%d %H:%M:%S.000") for s in range(60))
            lines = [f"{stamp}, {watts + run + n % 7:.2f} W" for n, stamp in enumerate(stamps)]
            path = root / "logs" / model / f"power-{run}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(["timestamp, power.draw [W]", *lines]) + "\n")
    files = {**STUDY["files"], "archive": archive, "leave_out": list(left_out)}
    return pack_files(root, {**STUDY, "files": files})


@pytest.fixture(scope="module", params=["files", "hashes"])
def good(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good package, unpacked: with its logs, and with their hashes alone."""
    root = tmp_path_factory.mktemp("good")
    return unpack(make(root / "made", request.param), root / "out")


@pytest.fixture
def forger(good: Path, tmp_path: Path) -> Forger:
    return Forger(shutil.copytree(good, tmp_path / good.name))


def found(forger: Forger) -> str:
    forger.mend()
    return "\n".join(problems_of(forger.folder))


def test_a_good_package_is_believed(good: Path) -> None:
    assert list(problems_of(good)) == []


def test_another_energy_is_noticed(forger: Forger) -> None:
    forger.record("small", put("windows.process.domains.gpu:0.energy_gross_j", 1.0))
    assert "small/1: windows.process.domains.gpu:0.energy_gross_j: the record states 1, its trace and events" in found(
        forger
    )


def test_another_place_in_the_order_is_noticed(forger: Forger) -> None:
    forger.record("small", put("position", 4))
    assert "small/1: position: the record states 4, the plan gives 1" in found(forger)


def test_another_reader_is_noticed(forger: Forger) -> None:
    forger.record("small", put("files.0.reader", "perf"))
    assert "small/1: files.0.reader: the record states 'perf'" in found(forger)


def test_a_run_called_failed_is_noticed(forger: Forger) -> None:
    forger.record("small", put("status", "failed"))
    assert "small/1: valid: the record states True, of a run that failed" in found(forger)


def test_readings_that_the_logs_do_not_give_are_noticed_where_these_are_packed(forger: Forger) -> None:
    forger.trace(forger.run("small"), scaled(0.9))
    logs = forger.data / "logs"
    assert ("small/1: power.parquet: not the readings of its logs" in found(forger)) == logs.is_dir()


@pytest.mark.parametrize("archive", ["files", "hashes"])
@pytest.mark.parametrize("rule", [{"where": {"model": "large"}}, {"repetitions": [2]}])
def test_a_package_of_a_study_that_leaves_runs_out_is_believed(tmp_path: Path, archive: str, rule: dict) -> None:
    folder = unpack(make(tmp_path / "made", archive, {**rule, "reason": "the cable was loose"}), tmp_path / "out")
    assert list(problems_of(folder)) == []
    assert len(list(folder.glob("data/logs/trial/*/*.csv"))) == (4 if archive == "files" else 0)
    plan = folder / "data/results/trial/plan/plan.json"
    plan.write_text(plan.read_text().replace("the cable was loose", "it was too slow"))
    assert any("left_out" in problem for problem in problems_of(folder))
