"""What is derived: frames from records, all else made again and compared, and packages of several machines."""

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
    """Where a frame of runs or epochs is not that of the records."""
    planned = package.as_planned
    folder = package.results / "aggregate"
    if len(planned) < len(package.runs) or not folder.is_dir():
        # Frames of all runs cannot be made of some; that they are missing is said already.
        if not folder.is_dir():
            yield "aggregate: not there; a package has the frames of its runs"
        return
    idle = [folder / f"{name}.json" for folder in package.calibrations for name in ("idle", "idle_after")]
    drifts = drifts_w(read_calibrations(idle, mapping_in)) if all(path.is_file() for path in idle) else {}
    records = (with_own_drift(planned) if isinstance(package.study, MergedStudy) else planned).values()
    older = all(record["schema_version"] < SINCE_PLACES for record in records)
    witnessed = any("witness" in window for record in records for window in record["windows"].values())
    # The frames of a package from before there was a witness have no columns of it.
    without = [] if witnessed else WITNESSED
    scope = Scope.from_settings(package.settings)
    frames = {"runs": runs_frame(records, drifts, scope), "epochs": epochs_frame(records, drifts, scope)}
    for name, whole in frames.items():
        kept = folder / f"{name}.parquet", folder / f"{name}.csv"
        added = added_since(name, header_of(kept[1])) if older and kept[1].is_file() else []
        frame = whole.drop(columns=[*without, *added])
        yield from (f"aggregate/{path.name}: not there" for path in kept if not path.is_file())
        if kept[1].is_file() and not same_texts(kept[1].read_text(encoding="utf-8"), to_csv(frame)):
            yield f"aggregate/{name}.csv: is not what the records give"
        if kept[0].is_file():
            # What is compared went the same way: types that a file gives are those that a file gave.
            again = io.BytesIO()
            frame.to_parquet(again, index=False)
            again.seek(0)
            try:
                same = same_tables(pq.read_table(kept[0]), pq.read_table(again))
            except (OSError, ValueError) as error:
                raise FramewattError(
                    f"aggregate/{name}.parquet is not a table ({error}). Use the package as it was written."
                ) from error
            if not same:
                yield f"aggregate/{name}.parquet: is not what the records give"


def derived_problems(archive: Path, results: str, target: Path, root: Path) -> Iterator[str]:
    """Where derived files are not what records and traces give, and where the package has not all of them.

    Args:
        archive: the package, which verification found nothing wrong with.
        results: name of its study's results, below its content.
        target: an empty folder to work in.
        root: the checkout whose code rebuilds.

    Raises:
        FramewattError: it cannot be rebuilt.
    """
    yield from rebuild(archive, target, root)
    (packed,) = (target / "package").glob(f"*/data/{results}")
    made = target / "rebuilt" / results
    for folder in DERIVED:
        for path in sorted((made / folder).rglob("*")):
            inside = path.relative_to(made)
            if path.is_file() and not _hidden(inside) and not (packed / inside).is_file():
                yield f"{results}/{inside.as_posix()}: records and traces give it, and the package has it not"


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def merged_problems(package: Opened, check: Callable[[Path], Iterator[str]]) -> Iterator[str]:
    """What is wrong with the packages of machines.

    Args:
        package: merged.
        check: all merged_problems of an unpacked package.
    """
    if not isinstance(package.study, MergedStudy):
        return
    for source in package.study.sources:
        yield from some(f"{source.machine}: {line}" for line in check(source.folder))
        yield from _of_machine(source)
    yield from _twice(package.study)


def _of_machine(source: Source) -> Iterator[str]:
    """Runs of another machine than the one in whose folder they are."""
    records = map(read_run, sorted(source.results.glob("measure/*/*/run.json")))
    if (found := machines_in(records)) != [source.machine]:
        yield f"{source.machine}: its runs are of {', '.join(found) or 'no machine'}"


def _twice(study: MergedStudy) -> Iterator[str]:
    """Packages whose chains begin with the same entry: one is the other, or goes on from it."""
    first: dict[str, str] = {}
    for source in study.sources:
        chain = source.results / "measure" / CHAIN
        begin = chain.read_bytes().partition(b"\n")[0].decode(errors="replace") if chain.is_file() else ""
        if begin and (other := first.setdefault(begin, source.machine)) != source.machine:
            yield f"{source.machine}: its runs are those of {other}, under the name of another machine"
