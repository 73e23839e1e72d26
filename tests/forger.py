"""Somebody who changes a good package and mends whatever would give that away at once."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from package_factory import aggregate, hashes_of, records_of
from records_factory import as_told

from framewatt.base.files import read_json, sha256_of, write_json
from framewatt.energy.accounting import spans_of, windows_of
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import open_trace, write_trace
from framewatt.package.bag import INFO, MANIFEST, TAG_MANIFEST
from framewatt.package.crate import METADATA, citation_cff, crate_metadata, span_utc, zenodo_json
from framewatt.package.verification.reading import read_events
from framewatt.package.verify import problems_of
from framewatt.package.write import description_of
from framewatt.planning.plan import plan_of
from framewatt.runs.chain import NAME as CHAIN
from framewatt.runs.chain import Chain
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.runs.predictions import Answers, as_bytes, predictions_entry
from framewatt.runs.records import Clock, read_run, write_events, write_run
from framewatt.study.study import FILES

Change = Callable[[Any], Any]


class Forger:
    """Changes an unpacked package of tests/package_factory.

    Args:
        folder: where it is unpacked.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.results = self.data / "results" / "trial"
        self.study = self.data / "config" / "studies" / "trial.yaml"
        self.idle = self.results / "calibrate" / "idle.json"

    def run(self, cell: str, repetition: int = 1) -> Path:
        """Folder of a run."""
        return self.results / "measure" / cell / str(repetition)

    def json(self, path: Path | str, change: Change) -> None:
        """Change what a JSON file of the data holds; a change in place returns None."""
        place = self.data / path
        content = read_json(place)
        changed = change(content)
        write_json(place, content if changed is None else changed)

    def record(self, cell: str, change: Change, repetition: int = 1) -> None:
        """Change a run's record."""
        self.json(self.run(cell, repetition) / "run.json", change)

    def every_record(self, change: Change) -> None:
        """Change all records."""
        for path in self.results.glob("measure/*/*/run.json"):
            self.json(path, change)

    def answers(self, folder: Path, right: Answers | None) -> None:
        """Give a run other answers, or none."""
        (folder / PREDICTIONS).unlink()
        record = {key: value for key, value in read_json(folder / "run.json").items() if key != "predictions"}
        if right is not None:
            (folder / PREDICTIONS).write_bytes(as_bytes(right))
            record["predictions"] = predictions_entry(right)
        write_json(folder / "run.json", record)

    def trace(self, folder: Path, change: Callable[[Trace], Trace]) -> None:
        """Change the readings of a run."""
        write_trace(folder / "power.parquet", change(open_trace(folder / "power.parquet")))

    def events(self, folder: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
        """Change the events of a run."""
        events = change([event.to_dict() for event in read_events(folder / "events.parquet")])
        write_events(folder / "events.parquet", events, self._clock(read_json(folder / "run.json")))

    def text(self, path: Path | str, old: str, new: str) -> None:
        """Replace a text that is there."""
        place = self.folder / path
        content = place.read_text()
        assert re.search(old, content), f"{path} has no {old}"
        place.write_text(re.sub(old, new, content, count=1))

    def settings(self, change: Change) -> None:
        """Change the study file."""
        content = yaml.safe_load(self.study.read_text())
        change(content)
        self.study.write_text(yaml.safe_dump(content))

    def replan(self) -> None:
        """Make plan and hashes of jobs anew, as the study file gives them now."""
        hashes = hashes_of(self.study)
        plan = plan_of(hashes)
        write_json(self.results / "plan" / "plan.json", plan)
        for entry in plan["order"]:
            if self.run(entry["cell"], entry["repetition"]).is_dir():
                self.record(entry["cell"], put("job_sha256", entry["job_sha256"]), entry["repetition"])
        for path in self.results.glob("calibrate/idle*.json"):
            self.json(path, put("job_sha256", hashes.idle[""]))
        for name, digest in hashes.weights.items():
            self.json(self.results / "train" / name / "train.json", put("job_sha256", digest))

    def follow(self, settings: Mapping[str, Any]) -> None:
        """Make anew all that follows from traces, events and idle power: the work of a forger who knows this library.

        Args:
            settings: the study's, with defaults filled in.
        """
        imported = settings.get("source") == FILES
        idle = {"domains": settings["files"]["baseline"]} if imported else read_json(self.idle)
        for path in self.results.glob("measure/*/*/run.json"):
            record, folder = read_run(path), path.parent
            trace, clock = open_trace(folder / "power.parquet"), self._clock(record)
            events = [event.to_dict() for event in read_events(folder / "events.parquet")]
            windows = windows_of(spans_of(events), trace, idle)
            for window in windows.values():
                for edge in ("start", "end"):
                    window[f"{edge}_utc"] = clock.utc(window[f"{edge}_monotonic_ns"]) if clock else None
            primary = windows.get(record["primary_window"])
            if primary and record["units"]:
                record["throughput_per_s"] = record["units"]["count"] / primary["duration_s"]
            write_run(path, as_told({**record, "windows": windows}))
        records = records_of(self.results)
        aggregate(self.results, records)
        self.rechain()
        version, released = records[0]["framewatt_version"], (span_utc(records)[1] or "1980-01-01")[:10]
        (self.data / "CITATION.cff").write_text(citation_cff(settings, version, released))
        (self.data / ".zenodo.json").write_text(zenodo_json(settings, version, released))
        names = [path.relative_to(self.data).as_posix() for path in self.data.rglob("*") if path.is_file()]
        names.remove(METADATA)
        crate = crate_metadata(names, records, description_of(settings, version))
        (self.data / METADATA).write_text(crate)

    def rechain(self) -> None:
        """Write the chain of records anew, of whatever is there."""
        path = self.results / "measure" / CHAIN
        if path.is_file():
            path.unlink()
            for record in self.results.glob("measure/*/*/run.json"):
                self.json(record, lambda content: content.pop("chain", None) and None)
            with Chain(path):
                pass

    def mend(self, count: bool = True) -> None:
        """Make manifests fit what is there, and the bag's own count of it, if that is not what was changed."""
        payload = sorted(path for path in self.data.rglob("*") if path.is_file())
        if count:
            size = sum(path.stat().st_size for path in payload)
            self.text(INFO, r"Payload-Oxum: .*", f"Payload-Oxum: {size}.{len(payload)}")
        self._manifest(MANIFEST, payload)
        tags = [path for path in self.folder.iterdir() if path.is_file() and path.name != TAG_MANIFEST]
        self._manifest(TAG_MANIFEST, sorted(tags))

    def _manifest(self, name: str, paths: list[Path]) -> None:
        lines = [f"{sha256_of(path)}  {path.relative_to(self.folder).as_posix()}\n" for path in paths]
        (self.folder / name).write_text("".join(lines))

    def _clock(self, record: Mapping[str, Any]) -> Clock | None:
        clock = record["clock"]
        return Clock(clock["monotonic_ns"], clock["utc"]) if clock["utc"] else None


def assert_noticed(forger: Forger, essence: str) -> None:
    """Verify says something of a changed package that matches a pattern."""
    problems = list(problems_of(forger.folder))
    assert any(re.search(essence, problem) for problem in problems), problems


def put(path: str, value: Any) -> Change:
    """A change: what stands at a path of keys, joined by dots, becomes a value, or what a function makes of it."""

    def change(content: Any) -> None:
        *parents, last = path.split(".")
        for key in parents:
            content = content[int(key) if isinstance(content, list) else key]
        key = int(last) if isinstance(content, list) else last
        content[key] = value(content[key]) if callable(value) else value

    return change


def scaled(share: float) -> Callable[[Trace], Trace]:
    """A change: all readings times a share, as whole microjoules."""

    def change(trace: Trace) -> Trace:
        values = np.rint(np.asarray(trace.value) * share * 1e6) * 1e-6
        return Trace(trace.channels, trace.monotonic_ns, trace.channel, values)

    return change
