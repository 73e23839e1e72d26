"""Every record has an entry in the chain of its study, written before it, and no entry is ever changed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from framewatt.base.files import write_text
from framewatt.runs.chain import FIRST, Chain, hashes_of

ROOT = Path(__file__).parents[2]


def entries(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def record(path: Path, cell: str = "a", repetition: int = 1) -> None:
    """Chain and write a record as a run does."""
    with Chain(path) as chain:
        text = json.dumps({"chain": chain.link})
        folder = path.parent / cell / str(repetition)
        hashes = hashes_of(folder, hashlib.sha256(text.encode()).hexdigest())
        chain.append({"kind": "measured", "cell": cell, "repetition": repetition, "attempt": 1, "sha256": hashes})
        write_text(folder / "run.json", text)


def test_each_entry_holds_the_hash_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "chain.jsonl"
    for repetition in (1, 2, 3):
        record(path, repetition=repetition)
    lines = path.read_bytes().splitlines()
    assert [entry["sequence"] for entry in entries(path)] == [1, 2, 3]
    assert [entry["previous_sha256"] for entry in entries(path)] == [
        FIRST,
        *(hashlib.sha256(line).hexdigest() for line in lines[:2]),
    ]
    assert json.loads((tmp_path / "a/2/run.json").read_text())["chain"]["sequence"] == 2


def test_a_line_that_was_cut_short_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "chain.jsonl"
    record(path)
    good = path.read_bytes()
    path.write_bytes(good + b'{"sequence": 2, "prev')
    record(path, repetition=2)
    assert path.read_bytes().startswith(good)
    assert [entry["repetition"] for entry in entries(path)] == [1, 2]


def test_records_from_before_the_chain_are_named_as_found(tmp_path: Path) -> None:
    write_text(tmp_path / "a/1/run.json", "{}")
    record(tmp_path / "chain.jsonl", repetition=2)
    assert [(entry["kind"], entry["repetition"]) for entry in entries(tmp_path / "chain.jsonl")] == [
        ("found", 1),
        ("measured", 2),
    ]


def test_what_the_study_does_not_name_any_more_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "chain.jsonl"
    for repetition in (1, 2):
        record(path, repetition=repetition)
    for _ in range(2):
        with Chain(path) as chain:
            chain.leave_out([("a", 1)])
    assert [(entry["kind"], entry["repetition"]) for entry in entries(path)][2:] == [("left_out", 2)]


def test_two_writers_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "chain.jsonl"
    writers = [threading.Thread(target=record, args=(path, "a", number)) for number in range(1, 21)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [entry["sequence"] for entry in entries(path)] == list(range(1, 21))


@pytest.mark.parametrize("moment", ["os.fsync", "framewatt.base.files.write_atomically"])
def test_a_kill_at_any_moment_leaves_no_record_without_an_entry(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "chain.jsonl"
    kill = (
        f"import os, signal, framewatt.base.files\n{moment} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nimport pathlib, test_chain\n"
        f"test_chain.record(pathlib.Path({str(path)!r}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    killed = subprocess.run([sys.executable, "-c", kill], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not list(tmp_path.glob("a/1/run.json"))
    record(path)
    assert [(entry["sequence"], entry["repetition"]) for entry in entries(path)] == [(1, 1), (2, 1)]
