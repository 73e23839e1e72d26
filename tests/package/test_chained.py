"""A package tells of runs that were changed, left out or slipped in after they were measured."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import played_runs as played
import pytest
import yaml
from package_factory import CELL, aggregate, hashes_of, pack, plan_of, records_of, results_tree

from framewatt.base.files import write_json
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of, verified
from framewatt.runs.chain import Chain

OTHER = "infer-resnet50-digits-torch-b8"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return results_tree(tmp_path / "made")


def chain_of(results: Path) -> Path:
    return results / "measure" / "chain.jsonl"


def problems(results: Path) -> list[str]:
    """What is wrong with the package of some results, packed as they are."""
    root = results.parents[1]
    return list(problems_of(unpack(pack(root, results), root / "out")))


def said(results: Path) -> str:
    """The last lines on a good package of some results."""
    told = verified(str(pack(results.parents[1], results)), str(results.parents[1] / "scratch"), 2**31)
    assert told["problems"] == []
    return "\n".join(told["said"])


def repetitions(results: Path, number: int) -> None:
    """Let the study have so many repetitions, with a plan and frames that fit."""
    path = results.parents[1] / "study.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "repetitions": number}))
    write_json(results / "plan" / "plan.json", plan_of(hashes_of(path)))
    for folder in results.glob("measure/*/*"):
        if int(folder.name) > number:
            shutil.rmtree(folder)
    aggregate(results, records_of(results))


def entry_of(results: Path, cell: str, repetition: int) -> int:
    entries = map(json.loads, chain_of(results).read_text().splitlines())
    return next(entry["sequence"] for entry in entries if (entry["cell"], entry["repetition"]) == (cell, repetition))


def test_a_repetition_that_is_gone_from_study_plan_and_frames_is_named(results: Path) -> None:
    repetitions(results, 1)
    number = entry_of(results, CELL, 2)
    assert f"{CELL}/2: was measured (entry {number} of the chain), and is left out" in problems(results)


def test_what_a_study_names_no_more_is_told_where_its_own_packing_left_it_out(results: Path) -> None:
    repetitions(results, 1)
    with Chain(chain_of(results)) as chain:
        chain.leave_out((record["cell_id"], record["repetition"]) for record in records_of(results))
    assert f"3 runs are left out that the study names no more: {CELL}/2, {OTHER}/2, train-" in said(results)


def test_a_study_that_cells_have_left_is_believed_with_the_places_that_its_runs_had(results: Path) -> None:
    path = results.parents[1] / "study.yaml"
    study = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**study, "factors": study["factors"][:1]}))
    write_json(results / "plan" / "plan.json", plan_of(hashes_of(path)))
    for folder in results.glob("measure/train-*"):
        shutil.rmtree(folder)
    records = records_of(results)
    assert [record["position"] for record in records] != [1, 2, 3, 4]
    aggregate(results, records)
    with Chain(chain_of(results)) as chain:
        chain.leave_out((record["cell_id"], record["repetition"]) for record in records)
    assert problems(results) == []


def test_a_run_in_the_place_of_another_is_named(results: Path) -> None:
    for one, other in (("1", "2"), ("2", "1")):
        record = json.loads((results / "measure" / CELL / one / "run.json").read_text())
        record["repetition"] = record["block"] = int(other)
        (results / "measure" / CELL / one / "swapped.json").write_text(json.dumps(record))
    folder = results / "measure" / CELL
    (folder / "1").rename(folder / "3")
    (folder / "2").rename(folder / "1")
    (folder / "3").rename(folder / "2")
    for number in ("1", "2"):
        (folder / number / "swapped.json").replace(folder / number / "run.json")
    found = "\n".join(problems(results))
    assert f"{CELL}/1: events.parquet, power.parquet, right.bits, run.json: not what was written when entry" in found


def drop_line(chain: Path) -> None:
    lines = chain.read_text().splitlines(keepends=True)
    chain.write_text("".join(lines[:2] + lines[3:]))


def lines_of_nothing(chain: Path) -> None:
    chain.write_text('[1]\n"x"\n')


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (drop_line, "entry 3 does not follow from the one before: one was changed or taken out"),
        (Path.unlink, "measure/chain.jsonl: not there, and 6 records name their entry in it"),
        (lines_of_nothing, "measure/chain.jsonl: line 1 is not an entry"),
    ],
)
def test_a_chain_that_was_changed_is_told(results: Path, damage, reason: str) -> None:
    damage(chain_of(results))
    assert reason in "\n".join(problems(results))


def test_a_run_that_no_entry_tells_of_is_named(results: Path) -> None:
    chain = chain_of(results)
    chain.write_text("".join(chain.read_text().splitlines(keepends=True)[:-1]))
    (found,) = problems(results)
    assert "has no entry in the chain: it did not come to be as the others did" in found


@pytest.fixture
def unchained() -> Iterator[None]:
    """Runs are kept as before there were chains."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(played.runner, "_keep", lambda record, files: (write_json(files.record, record), record)[1])
        yield


def test_a_package_from_before_there_were_chains_is_good_and_says_that_it_has_none(
    unchained: None, tmp_path: Path
) -> None:
    results = results_tree(tmp_path / "made")
    assert "that no run was left out, for it has no chain of its records" in said(results)


def test_runs_from_before_the_chain_are_counted(results: Path) -> None:
    lines = chain_of(results).read_text().splitlines()
    chain_of(results).unlink()
    for path in results.glob("measure/*/*/run.json"):
        write_json(path, {key: value for key, value in json.loads(path.read_text()).items() if key != "chain"})
    with Chain(chain_of(results)):
        pass
    assert len(lines) == 6
    assert "6 were there before it started" in said(results)
