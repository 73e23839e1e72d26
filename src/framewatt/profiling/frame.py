"""Profiles of several runs as frames in long form: one row per run and function, one row per run and call."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from framewatt.frames.frames import PLACES
from framewatt.imports.collect import cell_named
from framewatt.profiling.api_names import Rule, api_names
from framewatt.profiling.dump import CALL_COLUMNS, FUNCTION_COLUMNS, Profile
from framewatt.study.factors import in_order

FIELDS = ("workload", "framework", "phase")
"""Factors of a profiled run."""

KEY = ["cell", "repetition"]
"""Columns that identify the profiled run of a row in its study."""

RUN_COLUMNS = ["study", "cell", *FIELDS, "repetition"]
"""Columns about the run of a row: its key, and the levels of its cell. Profiled runs are counted apart from measured
ones: repetition 1 of both is not the same run."""

PROFILED_COLUMNS = [*RUN_COLUMNS, *FUNCTION_COLUMNS, "share_percent"]
"""Columns of the profiled functions: what Profile.functions has, and the own time's share of the run's total time."""

FUNCTIONS_COLUMNS = [*RUN_COLUMNS, *PLACES, *PROFILED_COLUMNS[len(RUN_COLUMNS) :], "api_name", "type"]
"""Columns of the functions frame.

`machine` and `session` are those of the profiled run, missing where a dump is all that is known; `api_name` is the name
by which the framework's users know a profiled function, and `type` what makes it costly; both are missing where no
table tells.
"""

CALLS_COLUMNS = [*RUN_COLUMNS, *CALL_COLUMNS]
"""Columns of the calls frame; functions are named by their rank in the same run."""


@dataclass(frozen=True)
class ProfiledRun:
    """A profile and what ran.

    Attributes:
        workload: name of the model.
        framework: name of the framework, as the rules of API names call it.
        phase: `train` or `infer`.
        profile: what was read.
        repetition: number of the profiled run in its cell, from 1.
        cell: name of its cell; None where its levels are all that is known of it.
    """

    workload: str
    framework: str
    phase: str
    profile: Profile
    repetition: int = 1
    cell: str | None = None

    @property
    def columns(self) -> dict[str, str | int]:
        """RUN_COLUMNS without the study."""
        levels = {field: str(getattr(self, field)) for field in FIELDS}
        return {"cell": self.cell or cell_of(levels), **levels, "repetition": self.repetition}


def cell_of(levels: Mapping[str, str]) -> str:
    """Name of the cell of some levels, the same as that of runs that are read from files."""
    return cell_named(tuple((field, levels[field]) for field in in_order(FIELDS))).id


def keyed(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with its KEY; one that was written before profiles had keys has one profile a cell, repetition 1.

    Args:
        frame: of functions or calls, or the record of a collection, in which a file without levels has no cell.
    """
    if set(KEY) <= set(frame.columns):
        return frame
    levels = frame[list(FIELDS)]
    cells = {
        row: cell_of(dict(zip(FIELDS, row, strict=True))) for row in levels.dropna().itertuples(index=False, name=None)
    }
    named = [cells.get(row) for row in levels.itertuples(index=False, name=None)]
    return frame.assign(cell=pd.Series(named, frame.index, dtype="str"), repetition=1)


def file_name(*levels: str) -> str:
    """Levels as one name that is fit for a file: `ResNet-50`, `PyTorch` and `train` are `resnet_50_pytorch_train`."""
    return "_".join(re.sub(r"[^a-z0-9]+", "_", level.lower()).strip("_") for level in levels)


def profiled_frame(study: str, runs: Iterable[ProfiledRun]) -> pd.DataFrame:
    """The profiled functions: PROFILED_COLUMNS, runs in their order, functions by own time."""
    frames = []
    for run in runs:
        share = 100 * run.profile.functions["own_time_s"] / run.profile.total_time_s
        frames.append(_with_run(run.profile.functions, study, run).assign(share_percent=share))
    return _joined(frames, PROFILED_COLUMNS)


def calls_frame(study: str, runs: Iterable[ProfiledRun]) -> pd.DataFrame:
    """The calls frame: CALLS_COLUMNS, runs in their order."""
    return _joined([_with_run(run.profile.calls, study, run) for run in runs], CALLS_COLUMNS)


def functions_frame(
    profiled: pd.DataFrame, calls: pd.DataFrame, rules: Sequence[Rule], types: Mapping[str, str]
) -> pd.DataFrame:
    """The functions frame: FUNCTIONS_COLUMNS, rows as those of the profiled functions.

    Args:
        profiled: the profiled functions.
        calls: the calls frame, of the same runs.
        rules: of API names.
        types: API name -> type; a name that is not there has none.
    """
    names: list[str | None] = []
    for (cell, repetition), functions in profiled.groupby(KEY, sort=False):
        framework, phase = functions.iloc[0][["framework", "phase"]]
        names += api_names(functions, of_run(calls, cell, repetition), framework, phase, rules)
    named = profiled.assign(
        api_name=pd.Series(names, profiled.index, dtype="str"),
        type=pd.Series([types.get(name or "") for name in names], profiled.index, dtype="str"),
        **{place: pd.Series(pd.NA, profiled.index, dtype="str") for place in PLACES},
    )
    return named[FUNCTIONS_COLUMNS]


def of_run(frame: pd.DataFrame, cell: str, repetition: int = 1) -> pd.DataFrame:
    """The rows of one profiled run, of any frame that is keyed."""
    return frame[(frame["cell"] == cell) & (frame["repetition"] == repetition)].reset_index(drop=True)


def profiled_as(functions: pd.DataFrame) -> pd.Series:
    """Each function's name in the profile: the description of a built-in one, else its place in the code."""
    where = functions["file"] + ":" + functions["line"].astype("str") + " " + functions["function"]
    return functions["function"].where(functions["file"] == "~", where)


def _with_run(frame: pd.DataFrame, study: str, run: ProfiledRun) -> pd.DataFrame:
    return frame.assign(study=study, **run.columns)


def _joined(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """All rows; where there are none, the columns alone."""
    if not frames:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(frames, ignore_index=True)[list(columns)]
