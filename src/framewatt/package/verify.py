"""Whether a package is whole and tells the truth about itself."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from framewatt.accounting import window_of
from framewatt.errors import FramewattError
from framewatt.files import read_json, sha256_of
from framewatt.package.bag import DECLARATION, MANIFEST, TAG_MANIFEST
from framewatt.package.crate import METADATA
from framewatt.records import read_run, read_trace

_TOLERANCE = 1e-6
"""Share by which joules computed anew may differ from those in a record: the last digits of floating point."""


def problems_of(folder: Path) -> Iterator[str]:
    """What is wrong with an unpacked package, a line each; nothing where all is well.

    Args:
        folder: where it was unpacked to, see unpack.
    """
    yield from _bag_problems(folder)
    data = folder / "data"
    if not data.is_dir():
        yield "data: not there; a bag has its content in it"
        return
    yield from _crate_problems(data)
    plans = sorted(data.glob("results/*/plan/plan.json"))
    if len(plans) != 1:
        yield f"results: found {len(plans)} plans; a package has one study"
        return
    yield from _run_problems(data, plans[0])


def _bag_problems(folder: Path) -> Iterator[str]:
    """What does not fit the bag's manifests."""
    if _text(folder / "bagit.txt") != DECLARATION:
        yield "bagit.txt: not what a BagIt 1.0 bag has"
    for manifest, inside in ((TAG_MANIFEST, ""), (MANIFEST, "data/")):
        text = _text(folder / manifest)
        if text is None:
            yield f"{manifest}: not there"
            continue
        named = {}
        for number, line in enumerate(text.splitlines(), 1):
            digest, _, name = line.partition("  ")
            if not name or len(digest) != 64:
                yield f"{manifest}: line {number} is no hash and name"
                continue
            named[name] = digest
        for name, digest in named.items():
            path = folder / name
            if ".." in Path(name).parts or not path.is_file():
                yield f"{name}: {manifest} names it, and it is not there"
            elif sha256_of(path) != digest:
                yield f"{name}: changed since {manifest} was written"
        there = (
            {p.relative_to(folder).as_posix() for p in (folder / inside).rglob("*") if p.is_file()} if inside else set()
        )
        yield from (f"{name}: {manifest} does not name it" for name in sorted(there - set(named)))


def _crate_problems(data: Path) -> Iterator[str]:
    """What the crate does not describe, or describes wrongly."""
    try:
        graph = read_json(data / METADATA)["@graph"]
        described = {entity["@id"] for entity in graph if "File" in entity["@type"]}
    except (OSError, ValueError, KeyError, TypeError):
        yield f"{METADATA}: not the metadata of a crate"
        return
    there = {path.relative_to(data).as_posix() for path in data.rglob("*") if path.is_file()} - {METADATA}
    yield from (f"{name}: {METADATA} does not describe it" for name in sorted(there - described))
    yield from (
        f"{name}: {METADATA} describes it, and it is not there" for name in sorted(described - there - {METADATA})
    )


def _run_problems(data: Path, plan_path: Path) -> Iterator[str]:
    """Runs that are missing, that break the schema, or whose joules do not follow from their trace."""
    try:
        plan = read_json(plan_path)
        planned = {(entry["cell"], entry["repetition"]) for entry in plan["order"]}
    except (ValueError, KeyError, TypeError):
        yield f"{plan_path.relative_to(data)}: not a plan"
        return
    study = plan_path.parents[1]
    for cell, repetition in sorted(planned):
        folder = study / "measure" / cell / str(repetition)
        where = folder.relative_to(data).as_posix()
        if not (folder / "run.json").is_file():
            yield f"{where}: planned, and has no record"
            continue
        try:
            record = read_run(folder / "run.json")
            if (record["cell_id"], record["repetition"]) != (cell, repetition):
                yield f"{where}/run.json: the record of another run"
            yield from (f"{where}: {problem}" for problem in energy_problems(record, folder, study))
        except FramewattError as error:
            yield f"{where}: {str(error).removeprefix(f'{folder}/')}"
    found = {(path.parents[1].name, int(path.parent.name)) for path in study.glob("measure/*/[0-9]*/run.json")}
    yield from (
        f"{cell}, repetition {repetition}: has a record, and is not planned" for cell, repetition in found - planned
    )


def energy_problems(record: dict[str, Any], folder: Path, study: Path) -> Iterator[str]:
    """Windows whose energy, computed anew from the trace, is not what the record says.

    Args:
        record: schema-checked.
        folder: its run's.
        study: the study's results.

    Raises:
        FramewattError: the trace cannot be read.
    """
    trace = read_trace(folder / "power.parquet")
    idle: dict[str, Any] = {"domains": {}}
    for name, window in record["windows"].items():
        spans = [(start, end) for start, end in window["spans_monotonic_ns"]]
        again = window_of(spans, trace, idle)["domains"]
        if set(again) != set(window["domains"]):
            yield f"window {name}: its domains are not those of the trace"
            continue
        for domain, energy in window["domains"].items():
            told, found = energy["energy_gross_j"], again[domain]["energy_gross_j"]
            same = told is found if told is None or found is None else math.isclose(told, found, rel_tol=_TOLERANCE)
            if not same:
                yield f"window {name}, {domain}: the record says {_joules(told)}, the trace gives {_joules(found)}"


def _joules(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.6g} J"


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def summary_of(folder: Path) -> str:
    """What a good package holds, in words."""
    info = json.loads((folder / "data" / METADATA).read_text(encoding="utf-8"))
    files = sum("File" in entity["@type"] for entity in info["@graph"]) - 1
    runs = len(list(folder.glob("data/results/*/measure/*/*/run.json")))
    return f"{files} files, {runs} runs: hashes, schemas, counts and crate are right, and joules follow from the traces"
