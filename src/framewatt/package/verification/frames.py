"""The frames, as they follow from the records."""

import io
from collections.abc import Iterator

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.base.spreadsheet import to_csv
from framewatt.energy.idle_power import drifts_w, read_calibrations
from framewatt.frames.frames import epochs_frame, runs_frame
from framewatt.frames.totals import Scope
from framewatt.imports.merged_study import MergedStudy
from framewatt.package.verification.earlier import SINCE_PLACES, added_since, header_of
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.planning.merged_runs import with_own_drift
from framewatt.witness.columns import WITNESSED


def problems(package: Opened) -> Iterator[str]:
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
    scope = Scope.of(package.settings)
    frames = {"runs": runs_frame(records, drifts, scope), "epochs": epochs_frame(records, drifts, scope)}
    for name, whole in frames.items():
        kept = folder / f"{name}.parquet", folder / f"{name}.csv"
        added = added_since(name, header_of(kept[1])) if older and kept[1].is_file() else []
        frame = whole.drop(columns=[*without, *added])
        yield from (f"aggregate/{path.name}: not there" for path in kept if not path.is_file())
        if kept[1].is_file() and kept[1].read_text(encoding="utf-8") != to_csv(frame):
            yield f"aggregate/{name}.csv: is not what the records give"
        if kept[0].is_file():
            # What is compared went the same way: types that a file gives are those that a file gave.
            again = io.BytesIO()
            frame.to_parquet(again, index=False)
            again.seek(0)
            try:
                same = pd.read_parquet(kept[0]).equals(pd.read_parquet(again))
            except (OSError, ValueError) as error:
                raise FramewattError(f"aggregate/{name}.parquet: found no frame: {error}") from error
            if not same:
                yield f"aggregate/{name}.parquet: is not what the records give"
