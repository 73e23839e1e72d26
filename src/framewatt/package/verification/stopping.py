"""After how many blocks a study stopped, recounted from its records."""

from collections.abc import Iterator

from framewatt.base.errors import FramewattError
from framewatt.base.spreadsheet import to_csv
from framewatt.imports.file_study import FileStudy
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.stopping.history import NAME as CHANGES
from framewatt.stopping.history import changes_of, sentences
from framewatt.stopping.record import frame_of, record_of

RECORD, ROWS = "stopping/stopping.json", "stopping/stopping.csv"


def problems(package: Opened) -> Iterator[str]:
    """Where what stopped the study is not what its records say, or is there of a study that has no rule."""
    yield from _changed(package)
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


def _changed(package: Opened) -> Iterator[str]:
    """Changes of the repetitions that are none, or that do not lead to those that the study has."""
    path = package.results / "plan" / CHANGES
    if not path.is_file():
        return
    try:
        told = changes_of(package.results)
        # What the report says of each; a change of another form has none.
        sentences(told)
        last = told[-1]["to"]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        allowed = "from, to, seen_blocks, kept_runs"
        raise FramewattError(f"plan/{CHANGES}: found no list of changes; allowed: {allowed}") from error
    now = package.settings["repetitions"]
    if last != now:
        yield f"plan/{CHANGES}: the last change is to {last}, the study has {now}"
