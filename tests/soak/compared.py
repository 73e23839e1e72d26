"""What of a study's results is the same in every undisturbed run, and what of them is not as it should be."""

import fcntl
import hashlib
import itertools
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from framewatt.base.errors import FramewattError
from framewatt.frames.frames import runs_frame
from framewatt.runs.chain import FIRST, hashes_of
from framewatt.runs.records import LIST, read_run
from framewatt.runs.verdict import counts

_SAME = (
    *("study", "cell_id", "cell", "repetition", "block", "position", "job_sha256", "status", "valid", "reasons"),
    *("device", "threads", "meters", "quality", "predictions", "primary_window", "purpose", "schema_version"),
)
_IDENTITY = ("code", "data_sha256", "artefact_sha256", "environment")
_COLUMNS = ["cell", "repetition", "block", "position", "status", "valid", "domain", "window"]
_POWER_OFF = 0.15
"""Share by which the power of a window may be off: the scripted load is steady, and who plays it may be held up."""
_LONG_S = 0.25
_OF_A_RUN = {"run.json", "power.parquet", "events.parquet"}


@dataclass(frozen=True)
class Results:
    """What is the same each time.

    Attributes:
        runs: by `<cell>/<repetition>`.
        made: hashes of weights and exports, by path of their record.
        files: names of all files, from the results on.
        rows: of the frame of runs, its columns that are the same.
        watts: power of the machine, from all windows.
    """

    runs: Mapping[str, Any]
    made: Mapping[str, Any]
    files: frozenset[str]
    rows: Any
    watts: float


def results_of(folder: Path) -> Results:
    """Read the results of a study.

    Raises:
        FramewattError, OSError, ValueError: something in them cannot be read.
    """
    records = [read_run(path) for path in sorted(folder.glob("measure/*/*/run.json"))]
    frame = runs_frame(records)
    # What was not asked for is not there.
    if (path := folder / "aggregate/runs.csv").is_file():
        frame = pd.read_csv(path)
    windows = [window for record in records for window in record["windows"].values()]
    # A window in which a busy machine kept the sampler from its readings has no joules, and says so.
    known = [
        (domain["energy_gross_j"], window["duration_s"])
        for window in windows
        for domain in window["domains"].values()
        if domain["energy_gross_j"] is not None
    ]
    return Results(
        runs={f"{record['cell_id']}/{record['repetition']}": _of_run(record) for record in records},
        made={
            str(path.relative_to(folder)): {
                key: value for key, value in json.loads(path.read_text()).items() if key.endswith("sha256")
            }
            for path in [*folder.glob("train/*/train.json"), *folder.glob("export/*/*/*.json")]
        },
        # Where a job's shell was killed and the job went on to its end, Snakemake's time of its folder is missing.
        files=frozenset(
            str(path.relative_to(folder))
            for path in folder.rglob("*")
            if path.is_file() and path.name != ".snakemake_timestamp"
        ),
        rows=sorted(frame[_COLUMNS].astype(str).itertuples(index=False, name=None)),
        watts=sum(joules for joules, _ in known) / sum(duration_s for _, duration_s in known),
    )


def _of_run(record: Mapping[str, Any]) -> dict[str, Any]:
    same = {name: record.get(name) for name in _SAME}
    same |= {name: record["identity"].get(name) for name in _IDENTITY}
    epochs = [{key: one.get(key) for key in ("epoch", "units", "loss_mean")} for one in record["epochs"]]
    return json.loads(json.dumps({**same, "epochs": epochs, "windows": sorted(record["windows"])}))


def differences(found: Results, right: Results) -> Iterator[str]:
    """Where results are not those of an undisturbed run."""
    for name in sorted(found.runs.keys() ^ right.runs.keys()):
        yield f"run {name}: {'too many' if name in found.runs else 'missing'}"
    for name in sorted(found.runs.keys() & right.runs.keys()):
        one, other = found.runs[name], right.runs[name]
        yield from (
            f"run {name}: {key}: {one[key]!r:.90}, not {other[key]!r:.90}" for key in one if one[key] != other[key]
        )
    for name in sorted(found.made.keys() | right.made.keys()):
        if found.made.get(name) != right.made.get(name):
            yield f"{name}: other hashes than those of an undisturbed run"
    yield from (f"{name}: missing" for name in sorted(right.files - found.files))
    yield from (f"{name}: nothing that an undisturbed run leaves" for name in sorted(found.files - right.files))
    if found.rows != right.rows:
        other = Counter(found.rows) - Counter(right.rows)
        yield f"aggregate/runs.csv: its rows are not those of an undisturbed run: {other}"


def wrong_within(folder: Path, watts: float) -> Iterator[str]:
    """What cannot be right in results of one machine whose load is steady: what is torn, joules, runs side by side."""
    yield from torn(folder)
    spans = []
    for path in sorted(folder.glob("measure/*/*/run.json")):
        name, record = _name(path.parent), read_run(path)
        yield from _joules(name, record, watts)
        window = record["windows"]["process"]
        spans.append((window["start_monotonic_ns"], window["end_monotonic_ns"], name))
    spans.sort()
    for one, other in itertools.pairwise(spans):
        if other[0] < one[1]:
            yield f"run {other[2]}: measured beside {one[2]}"


def torn(folder: Path) -> Iterator[str]:
    """Where the chain, and what it says of the files of runs, does not hold."""
    entries: dict[str, dict[str, Any]] = {}
    previous = FIRST
    chain = folder / "measure/chain.jsonl"
    for number, line in enumerate(chain.read_bytes().splitlines(), 1):
        entry = json.loads(line)
        if (entry["sequence"], entry["previous_sha256"]) != (number, previous):
            yield f"chain: entry {number} does not follow from the one before"
        previous = hashlib.sha256(line).hexdigest()
        entries[f"{entry['cell']}/{entry['repetition']}"] = entry
    for path in sorted(folder.glob("measure/*/*")):
        if not path.is_dir():
            continue
        name = _name(path)
        there = {one.name for one in path.iterdir()}
        if not there >= _OF_A_RUN:
            yield f"run {name}: only {', '.join(sorted(there)) or 'an empty folder'}"
            continue
        sha256 = hashlib.sha256((path / "run.json").read_bytes()).hexdigest()
        if name not in entries:
            yield f"run {name}: no entry in the chain"
        elif entries[name]["sha256"] != hashes_of(path, sha256):
            yield f"run {name}: not what its last entry in the chain says"
        for file in ("power.parquet", "events.parquet"):
            if not pq.read_table(path / file).num_rows:
                yield f"run {name}: {file} is empty"


def _name(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def _joules(name: str, record: Mapping[str, Any], watts: float) -> Iterator[str]:
    for window_name, window in record["windows"].items():
        for domain, one in window["domains"].items():
            if one["energy_gross_j"] is None or window["duration_s"] < _LONG_S:
                continue
            found_w = one["energy_gross_j"] / window["duration_s"]
            if abs(found_w / watts - 1) > _POWER_OFF:
                yield f"run {name}: {window_name}: {domain}: {found_w:.2f} W, not {watts:.2f}"


def not_counting(folder: Path) -> list[str]:
    """Runs of a study that do not count, and why."""
    found = []
    for path in sorted(folder.glob("measure/*/*/run.json")):
        try:
            record = read_run(path)
        except (FramewattError, OSError) as error:
            found.append(f"{path.parent.parent.name}/{path.parent.name}: {error}")
            continue
        if not counts(record):
            found.append(f"{record['cell_id']}/{record['repetition']}: {'; '.join(record['reasons'])}")
    return found


def left_over(root: Path, results: Path, lock: Path) -> Iterator[str]:
    """Half-written files, and locks that nobody holds any more."""
    for place in (results, root / "resources", root / "logs"):
        for path in place.rglob(".*"):
            if path.name not in (".snakemake_timestamp", ".study_file", LIST):
                yield f"{path.relative_to(place.parent)} is left"
    # Notes of unfinished jobs stay where no later job makes the same file: of what is not due, nobody reads them.
    for path in (root / ".snakemake/locks").glob("*"):
        yield f".snakemake/locks/{path.name[:40]} is left"
    for path in lock.glob("*.lock"):
        file = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield f"{path.name} is held"
        finally:
            os.close(file)
