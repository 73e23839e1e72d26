"""Check derived files: frames against records, other files by a rebuild, and the packages of several machines."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq

from framewatt.base.errors import FramewattError
from framewatt.base.spreadsheet import to_csv
from framewatt.energy.idle_power import drifts_w, read_calibrations
from framewatt.frames.frames import epochs_frame, runs_frame
from framewatt.frames.totals import Scope
from framewatt.imports.merged_study import machines_in
from framewatt.package.rebuild import DERIVED, rebuild
from framewatt.package.verification.earlier import SINCE_PLACES, added_since, header_of
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.verification.reading import same_tables, same_texts, some
from framewatt.planning.planned import with_own_drift
from framewatt.runs.chain import NAME as CHAIN
from framewatt.runs.records import read_run
from framewatt.study.study import MergedStudy, Source
from framewatt.witness.window import WITNESSED


def frame_problems(package: Opened) -> Iterator[str]:
    """Yield how the frames of runs and epochs differ from the records."""
    planned = package.as_planned
    folder = package.results / "aggregate"
    if len(planned) < len(package.runs) or not folder.is_dir():
        # Frames of all runs cannot be made from some; the missing runs are reported by another check.
        if not folder.is_dir():
            yield "aggregate: not there; a package has the frames of its runs"
        return
    idle = [folder / f"{name}.json" for folder in package.calibrations for name in ("idle", "idle_after")]
    drifts = drifts_w(read_calibrations(idle, mapping_in)) if all(path.is_file() for path in idle) else {}
    records = (with_own_drift(planned) if isinstance(package.study, MergedStudy) else planned).values()
    older = all(record["schema_version"] < SINCE_PLACES for record in records)
    witnessed = any("witness" in window for record in records for window in record["windows"].values())
    # The frames of a package that is older than the witness have no columns for it.
    without = [] if witnessed else WITNESSED
    scope = Scope.from_settings(package.settings)
    frames = {"runs": runs_frame(records, drifts, scope), "epochs": epochs_frame(records, drifts, scope)}
    for name, whole in frames.items():
        stored = folder / f"{name}.parquet", folder / f"{name}.csv"
        added = added_since(name, header_of(stored[1])) if older and stored[1].is_file() else []
        frame = whole.drop(columns=[*without, *added])
        yield from (f"aggregate/{path.name}: not there" for path in stored if not path.is_file())
        if stored[1].is_file() and not same_texts(stored[1].read_text(encoding="utf-8"), to_csv(frame)):
            yield f"aggregate/{name}.csv: is not what the records give"
        if stored[0].is_file():
            # Written and read back, as the stored frame was, so that the types of columns are comparable.
            again = io.BytesIO()
            frame.to_parquet(again, index=False)
            again.seek(0)
            try:
                same = same_tables(pq.read_table(stored[0]), pq.read_table(again))
            except (OSError, ValueError) as error:
                raise FramewattError(
                    f"aggregate/{name}.parquet is not a table ({error}). Use the package as it was written."
                ) from error
            if not same:
                yield f"aggregate/{name}.parquet: is not what the records give"


def derived_problems(archive: Path, results: str, target: Path, root: Path) -> Iterator[str]:
    """Yield the derived files that differ from what records and traces give, or are missing in the package.

    Args:
        archive: the package, already verified.
        results: name of its study's results, below its content.
        target: an empty folder to work in.
        root: the checkout that rebuilds with its code.

    Raises:
        FramewattError: it cannot be rebuilt.
    """
    yield from rebuild(archive, target, root)
    (packed,) = (target / "package").glob(f"*/data/{results}")
    rebuilt = target / "rebuilt" / results
    for folder in DERIVED:
        for path in sorted((rebuilt / folder).rglob("*")):
            inside = path.relative_to(rebuilt)
            if path.is_file() and not _hidden(inside) and not (packed / inside).is_file():
                yield f"{results}/{inside.as_posix()}: records and traces give it, and it is missing from the package"


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def merged_problems(package: Opened, check: Callable[[Path], Iterator[str]]) -> Iterator[str]:
    """Yield what is wrong with the packages of the machines.

    Args:
        package: merged.
        check: all merged_problems of an unpacked package.
    """
    if not isinstance(package.study, MergedStudy):
        return
    for source in package.study.sources:
        yield from some(f"{source.machine}: {line}" for line in check(source.folder))
        yield from _problems_of_source(source)
    yield from _twice(package.study)


def _problems_of_source(source: Source) -> Iterator[str]:
    """Yield a line if a folder has runs of another machine than the folder's."""
    records = map(read_run, sorted(source.results.glob("measure/*/*/run.json")))
    if (machines := machines_in(records)) != [source.machine]:
        yield f"{source.machine}: its runs are of {', '.join(machines) or 'no machine'}"


def _twice(study: MergedStudy) -> Iterator[str]:
    """Yield the packages with chains that start with the same entry: a copy, or a continuation, of another package."""
    first: dict[str, str] = {}
    for source in study.sources:
        chain = source.results / "measure" / CHAIN
        begin = chain.read_bytes().partition(b"\n")[0].decode(errors="replace") if chain.is_file() else ""
        if begin and (other := first.setdefault(begin, source.machine)) != source.machine:
            yield f"{source.machine}: its runs are those of {other}, under the name of another machine"
