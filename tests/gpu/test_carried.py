"""What is carried from machine to machine is raw and small, and joined only where one goes on from the other."""

import errno
import json
import zipfile
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.gpu.carried import NAME, carry, join

CHAIN = "measure/chain.jsonl"


def study(results: Path, name: str, runs: list[str]) -> None:
    """A results tree with some runs, weights, and a figure."""
    folder = results / name
    for index, run in enumerate(runs):
        record = folder / "measure" / "cell" / str(index + 1) / "run.json"
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps(run))
    (folder / CHAIN).write_text("".join(f"{json.dumps({'run': run})}\n" for run in runs))
    for path in ("train/model/weights.pt", "train/model/train.json", "figures/a.svg", "plan/plan.json"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("{}")


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Carry away a study with some runs, from a machine of its own; returns the folder."""

    def away(label: str, runs: list[str]) -> Path:
        machine = tmp_path / f"machine-{label}"
        machine.mkdir()
        monkeypatch.chdir(machine)
        study(Path("results"), "gpu-a", runs)
        carry(Path("results"), ["gpu-a", "gpu-not-begun"], tmp_path / label)
        here = tmp_path / "here"
        here.mkdir(exist_ok=True)
        monkeypatch.chdir(here)
        return tmp_path / label

    return away


def runs_here() -> list[str]:
    return [json.loads(path.read_text()) for path in sorted(Path("results/gpu-a/measure/cell").glob("*/run.json"))]


def test_records_are_carried_and_neither_weights_nor_what_can_be_made_again(carried) -> None:
    (joined,) = join([carried("one", ["x", "y"])], Path("results"), environments=False)
    assert (joined.study, joined.runs) == ("gpu-a", 2)
    found = {str(path.relative_to("results/gpu-a")) for path in Path("results/gpu-a").rglob("*") if path.is_file()}
    runs = {f"measure/cell/{number}/run.json" for number in (1, 2)}
    assert found == {*runs, CHAIN, "train/model/train.json", "plan/plan.json"}


def test_a_characterisation_stays_that_of_one_machine(carried, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = carried("one", ["x"])
    monkeypatch.chdir(tmp_path / "machine-one")
    folder = Path("results/characterisation")
    folder.mkdir()
    for name in ("characterisation.json", "trace.parquet"):
        (folder / name).write_text(f'"away {name}"')
    carry(Path("results"), ["gpu-a"], away)
    monkeypatch.chdir(tmp_path / "here")
    folder.mkdir(parents=True)
    (folder / "characterisation.json").write_text('"here"')
    join([away], Path("results"), environments=False)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"characterisation.json": '"here"'}
    monkeypatch.chdir(tmp_path)
    Path("third").mkdir()
    monkeypatch.chdir("third")
    join([away], Path("results"), environments=False)
    assert len(list(folder.iterdir())) == 2


def test_a_full_disk_leaves_what_was_packed_before(carried, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    away = carried("one", ["x"])
    before = (away / NAME).read_bytes()
    monkeypatch.chdir(tmp_path / "machine-one")
    study(Path("results"), "gpu-a", ["x", "y"])

    def write(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(away / NAME))

    with monkeypatch.context() as full:
        full.setattr(zipfile.ZipFile, "write", write)
        with pytest.raises(OSError, match="No space left"):
            carry(Path("results"), ["gpu-a"], away)
    assert [(path.name, path.read_bytes()) for path in away.iterdir()] == [(NAME, before)]
    carry(Path("results"), ["gpu-a"], away)
    monkeypatch.chdir(tmp_path / "here")
    (joined,) = join([away], Path("results"), environments=False)
    assert joined.runs == 2


def test_of_slices_that_went_on_from_one_another_the_last_is_taken_in_any_order(carried) -> None:
    short, long = carried("short", ["x"]), carried("long", ["x", "y", "z"])
    for folders in ([short, long], [long, short]):
        (joined,) = join(folders, Path("results"), environments=False)
        assert (joined.runs, runs_here()) == (3, ["x", "y", "z"])


def test_what_is_here_stays_where_it_is_further_than_what_was_carried(carried) -> None:
    short = carried("short", ["x"])
    study(Path("results"), "gpu-a", ["x", "y"])
    (joined,) = join([short], Path("results"), environments=False)
    assert (joined.runs, joined.source) == (2, "results")
    assert Path("results/gpu-a/figures/a.svg").is_file()


def test_what_only_an_earlier_slice_carried_is_kept(carried, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = carried("short", ["x"])
    monkeypatch.chdir(tmp_path / "machine-short")
    Path("results/gpu-a/timelines/cell").mkdir(parents=True)
    Path("results/gpu-a/timelines/cell/timeline.json").write_text("{}")
    carry(Path("results"), ["gpu-a"], short)
    long = carried("long", ["x", "y"])
    join([long, short], Path("results"), environments=False)
    assert runs_here() == ["x", "y"]
    assert Path("results/gpu-a/timelines/cell/timeline.json").is_file()


def test_a_file_with_runs_that_are_not_here_is_not_replaced(carried) -> None:
    away = carried("away", ["x", "y"])
    study(Path("results"), "gpu-a", ["z"])
    before = (away / NAME).read_bytes()
    with pytest.raises(FramewattError, match=f"holds runs of gpu-a that are not in results. Go on .* DIRS={away}"):
        carry(Path("results"), ["gpu-a"], away)
    assert (away / NAME).read_bytes() == before
    study(Path("results"), "gpu-a", ["x", "y", "z"])
    assert carry(Path("results"), ["gpu-a"], away)


def test_nothing_is_written_before_the_first_run(tmp_path: Path) -> None:
    assert carry(tmp_path / "results", ["gpu-a"], tmp_path / "away") == 0
    assert not (tmp_path / "away").exists()


def test_a_chain_whose_last_line_was_cut_is_that_of_the_runs_before(carried, tmp_path: Path) -> None:
    long = carried("long", ["x", "y"])
    study(Path("results"), "gpu-a", ["x"])
    with Path("results/gpu-a", CHAIN).open("a") as file:
        file.write('{"run": "y')
    (joined,) = join([long], Path("results"), environments=False)
    assert joined.runs == 2


def test_two_that_began_anew_are_refused_and_nothing_is_changed(carried) -> None:
    one, other = carried("one", ["x", "y"]), carried("other", ["z"])
    with pytest.raises(FramewattError, match="hold different runs of gpu-a: neither goes on from the other"):
        join([one, other], Path("results"), environments=False)
    assert not Path("results").exists()


def test_a_folder_without_such_a_file_and_a_file_that_is_damaged_are_refused(carried, tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=f"has no {NAME}"):
        join([tmp_path], Path("results"), environments=False)
    one = carried("one", ["x"])
    (one / NAME).write_bytes((one / NAME).read_bytes()[:-30])
    with pytest.raises(FramewattError, match=r"gpu\.zip"):
        join([one], Path("results"), environments=False)
    assert not Path("results").exists()
