"""After how many blocks a study stopped, recounted from its records."""

from collections.abc import Iterator

from framewatt.base.spreadsheet import to_csv
from framewatt.file_study import FileStudy
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.stopping.record import frame_of, record_of

RECORD, ROWS = "stopping/stopping.json", "stopping/stopping.csv"


def problems(package: Opened) -> Iterator[str]:
    """Where what stopped the study is not what its records say, or is there of a study that has no rule."""
    there = [name for name in (RECORD, ROWS) if (package.results / name).is_file()]
    if isinstance(package.study, FileStudy) or package.stopping_path is None:
        yield from (f"{name}: of a study that has a fixed number of blocks" for name in there)
        return
    path = package.stopping_path
    if not path.stopped:
        yield f"{RECORD}: the records of {len(path.steps)} blocks do not end the study"
        return
    yield from (f"{name}: not there" for name in (RECORD, ROWS) if name not in there)
    if RECORD in there:
        told = mapping_in(package.results / RECORD)
        yield from some(differences(told, record_of(path), by="it says", why="the records give"), RECORD)
    if ROWS in there and (package.results / ROWS).read_text(encoding="utf-8") != to_csv(frame_of(path)):
        yield f"{ROWS}: is not what the records give"
