"""Every planned run is there, once, with its trace and events, and no other is."""

from collections.abc import Iterator

from framewatt.package.verification.opened import Opened
from framewatt.runs.predictions import NAME as PREDICTIONS

_FILES = ("run.json", "power.parquet", "events.parquet")


def problems(package: Opened) -> Iterator[str]:
    """Runs that are missing, of which a file is missing, that nobody planned, or that are another one's copy."""
    for run in package.runs:
        where = run.path.relative_to(package.data).as_posix()
        if run.problem:
            yield f"{where}: {run.problem}"
        else:
            yield from (f"{where}: has no {name}" for name in _FILES if not (run.path / name).is_file())
    planned = {run.path for run in package.runs}
    answered = {run.path for run, record in package.records if "predictions" in record}
    folders = {path.parent for path in package.results.glob("measure/*/**/*") if path.is_file()}
    for folder in sorted(folders - planned):
        yield f"{folder.relative_to(package.data).as_posix()}: files of a run that is not planned"
    for folder in sorted(folders & planned):
        allowed = {*_FILES, *([PREDICTIONS] if folder in answered else [])}
        strange = sorted(path.name for path in folder.iterdir() if path.name not in allowed)
        yield from (f"{(folder / name).relative_to(package.data).as_posix()}: no file of a run" for name in strange)
