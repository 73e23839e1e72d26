"""Joules by operator: counted again from the timelines and traces that the package holds."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from framewatt.base.spreadsheet import read_csv
from framewatt.package.verification.opened import Opened
from framewatt.planning import jobs
from framewatt.profiling.operators import KEYS, frame_of
from framewatt.study.study import Study

JOULES, ABOUT = "operators/joules.csv", "operators/timelines.csv"

_ALIKE = 0.01
"""Largest relative difference of a number counted on another machine: a search for the likeliest spreads ends where it
is near enough, see framewatt.profiling.spreads."""

_SMALL_J = 1e-6


def problems(package: Opened, study: Study) -> Iterator[str]:
    """Joules that do not follow from the timelines, or are missing."""
    cells = jobs.timeline_cells_of(study)
    if not cells:
        return
    if not all((package.results / name).is_file() for name in (JOULES, ABOUT)):
        yield f"{JOULES}: not there, of a study that tells joules by operator"
        return
    frame, about = frame_of([package.results / "timelines" / cell for cell in cells])
    told = {(row["cell"], row["status"]) for row in read_csv(package.results / ABOUT).to_dict("records")}
    if told != (found := {(row["cell"], row["status"]) for row in about}):
        yield f"{ABOUT}: it says {sorted(told)}, timelines give {sorted(found)}"
    says, gives = (
        {tuple(row[key] for key in KEYS): row for row in one.to_dict("records")}
        for one in (read_csv(package.results / JOULES), frame)
    )
    if says.keys() != gives.keys():
        yield f"{JOULES}: it has {len(says)} rows, timelines give {len(gives)}, or others"
        return
    for key, row in says.items():
        for name in ("seconds", "energy_j", "uncertainty_j", "calls"):
            if not _alike(row, gives[key], name):
                yield f"{JOULES}: {', '.join(map(str, key))}: {name} is {row[name]}, timelines give {gives[key][name]}"


def _alike(says: Mapping[str, Any], gives: Mapping[str, Any], name: str) -> bool:
    # What is a hundredth of the joules does not matter where it is their uncertainty.
    scale_j = _ALIKE * abs(gives["energy_j"]) if name == "uncertainty_j" else _SMALL_J
    return math.isclose(says[name], gives[name], rel_tol=_ALIKE, abs_tol=scale_j)
