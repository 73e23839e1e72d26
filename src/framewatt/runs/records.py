"""Run records: JSON, schema-checked on write and on read; records of earlier versions get the present names.

The events of runs are parquet. The records of a large study are stored small: those of 10,000 runs in 30 MB, where
dictionaries take 410 MB.
"""

import functools
import marshal
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self, cast

import pyarrow as pa
import pyarrow.parquet as pq

from framewatt.base.errors import FramewattError
from framewatt.base.files import json_text, read_json, write_atomically, write_text
from framewatt.base.schema import Validator
from framewatt.study.records import QUALITY_SINCE, RunRecord
from framewatt.tasks.quality import described

UNIT = "sample"
"""The unit of work of earlier records."""

_UNKNOWN = ", so accuracy is unknown"
"""How the flag of an earlier record ends that has the reason of unknown metrics."""


_RENAMED = {"samples_processed": "units", "metrics": "quality"}


def as_now(record: Mapping[str, Any]) -> RunRecord:
    """Return a record with `units` and `quality` instead of `samples_processed` and `metrics`.

    Args:
        record: schema-checked, of any version; `schema_version` stays.
    """
    if record["schema_version"] >= QUALITY_SINCE:
        return cast("RunRecord", dict(record))
    others = {name: value for name, value in record.items() if name not in ("samples_processed", "metrics")}
    why = next((flag.removesuffix(_UNKNOWN) for flag in record["flags"] if flag.endswith(_UNKNOWN)), None)
    count = record["samples_processed"]
    unknown = {_RENAMED.get(name, name): reason for name, reason in record.get("unknown", {}).items()}
    converted = {
        **others,
        **({"unknown": unknown} if unknown else {}),
        "units": None if count is None else {"name": UNIT, "count": count},
        "quality": described(record["metrics"], why),
        "epochs": [
            {
                "epoch": epoch["epoch"],
                "units": epoch["samples_processed"],
                "loss_mean": epoch["loss_mean"],
                "quality": described(epoch["metrics"], why),
            }
            for epoch in record["epochs"]
        ],
    }
    return cast("RunRecord", converted)


SCHEMA_VERSION = 6
"""Version of the run records that this code writes. `verify` reads it in packed code, by this line."""

SCHEMA_PATH = Path(__file__).parents[3] / "config" / "schemas" / "run.schema.json"

LIST = ".records.txt"
"""Name of a list of records, next to the frames that are made of them."""


def write_run(path: Path, record: Mapping[str, Any]) -> None:
    """Write a run record, whole or not at all.

    Raises:
        FramewattError: the record breaks its schema.
    """
    write_text(path, run_text(record, path))


def run_text(record: Mapping[str, Any], path: Path) -> str:
    """Return a run record as its file holds it.

    Raises:
        FramewattError: the record breaks its schema.
    """
    _check(record, path)
    return json_text(record)


def read_run(path: Path) -> RunRecord:
    """Return a run record; a record of an earlier version is converted to the present names.

    Raises:
        FramewattError: the file is not JSON or breaks the schema.
    """
    try:
        record = read_json(path)
    except ValueError as error:
        raise FramewattError(
            f"{path}: not JSON: {str(error).rstrip('.')}. Restore the file, or delete it and run again."
        ) from error
    quick = _quick_validator()
    if quick is None or not quick.is_valid(record):
        # This validator has the messages, and decides.
        _check(record, path)
    return as_now(record)


def record_paths(paths: str | Iterable[str]) -> list[Path]:
    """Return the paths of run records: given or listed ones, and `<cell>/<repetition>/run.json` in given folders.

    Args:
        paths: a rule's record inputs: one path or several, of records, of folders, or of lists (see list_text).
    """
    given = [paths] if isinstance(paths, str) else paths
    return [path for name in given for path in _paths_of(Path(name))]


def _paths_of(given: Path) -> list[Path]:
    if given.name == LIST:
        return [Path(line) for line in given.read_text(encoding="utf-8").splitlines()]
    return [given] if given.is_file() else sorted(given.glob("*/*/run.json"))


def list_text(paths: Iterable[Path]) -> str:
    """Return a list of records, a path a line, as a file of the name LIST holds it."""
    return "".join(f"{path.as_posix()}\n" for path in paths)


@functools.cache
def _validator() -> Any:
    return Validator(read_json(SCHEMA_PATH))


@functools.cache
def _quick_validator() -> Any:
    """Return a validator that only accepts or refuses, in 1 % of the time.

    A study of 10,000 runs reads each record several times.

    None in a framework's image, which has no such package, and reads a record or two.
    """
    try:
        import jsonschema_rs
    except ImportError:
        return None
    return jsonschema_rs.validator_for(read_json(SCHEMA_PATH))


def _check(record: Mapping[str, Any], path: Path) -> None:
    for error in _validator().iter_errors(record):
        key = ".".join(str(part) for part in error.absolute_path) or "the record"
        raise FramewattError(f"{path}: {key}: {error.message}. Use what config/schemas/{SCHEMA_PATH.name} describes")


class Clock:
    """Converts CLOCK_MONOTONIC nanoseconds to UTC, from one pair of readings taken together.

    Args:
        monotonic_ns: CLOCK_MONOTONIC of the pair.
        utc: the wall clock of the pair, ISO 8601.
    """

    def __init__(self, monotonic_ns: int, utc: str) -> None:
        self.monotonic_ns = monotonic_ns
        self._utc = datetime.fromisoformat(utc)

    def utc(self, monotonic_ns: int) -> str:
        """ISO 8601 with microseconds."""
        moment = self._utc + timedelta(microseconds=(monotonic_ns - self.monotonic_ns) / 1000)
        return moment.astimezone(UTC).isoformat(timespec="microseconds")


def write_events(path: Path, events: Sequence[Mapping[str, Any]], clock: Clock | None) -> None:
    """Write events: window, edge, monotonic timestamp and UTC; UTC is null without a clock."""
    table = pa.table(
        {
            "monotonic_ns": pa.array([e["monotonic_ns"] for e in events], pa.int64()),
            "utc": pa.array([clock.utc(e["monotonic_ns"]) if clock else None for e in events], pa.string()),
            "window": pa.array([e["window"] for e in events], pa.string()),
            "edge": pa.array([e["edge"] for e in events], pa.string()),
        }
    )
    write_atomically(path, lambda partial: pq.write_table(table, partial, compression="zstd"))


_QUICK = 1
"""Level of compression: a better one saves 3 % more."""


class StoredRecord:
    """One record, compressed: 3 kB instead of 41. Making it again takes 0.07 ms (0.12 from JSON, 0.2 from its file).

    Args:
        record: as JSON gives it.
    """

    __slots__ = ("_compressed",)

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._compressed = zlib.compress(marshal.dumps(dict(record)), _QUICK)

    def load(self) -> RunRecord:
        """Return the record, each time a new copy: a change of one copy changes no other."""
        record: RunRecord = marshal.loads(zlib.decompress(self._compressed))  # noqa: S302 # bytes that this object made
        return record


class StoredRecords(Mapping[Path, RunRecord]):
    """Records by their paths, each decompressed when it is accessed, so that reading all of them keeps none in memory.

    Args:
        stored: by their paths.
    """

    def __init__(self, stored: Mapping[Path, StoredRecord]) -> None:
        self._stored = dict(stored)

    @classmethod
    def from_records(cls, records: Iterable[tuple[Path, Mapping[str, Any]]]) -> Self:
        """Store records, given with their paths."""
        return cls({path: StoredRecord(record) for path, record in records})

    def changed(self, records: Mapping[Path, Mapping[str, Any]]) -> Self:
        """Return the same records, with these at their paths."""
        return type(self)(self._stored | {path: StoredRecord(record) for path, record in records.items()})

    def __getitem__(self, path: Path) -> RunRecord:
        return self._stored[path].load()

    def __iter__(self) -> Iterator[Path]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def sorted(self, key: Callable[[RunRecord], Any]) -> Self:
        """Return the same records in another order.

        Args:
            key: returns what a record is ordered by.
        """
        keys = {path: key(record) for path, record in self.items()}
        return type(self)({path: self._stored[path] for path in sorted(self._stored, key=keys.__getitem__)})
