"""Profiles of several runs as frames in long form: a row a run and function, a row a run and call."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from framewatt.profiling.api_names import Rule, api_names
from framewatt.profiling.dump import CALL_COLUMNS, FUNCTION_COLUMNS, Profile

_RUN = ["study", "workload", "framework", "phase"]

FUNCTIONS_COLUMNS = [*_RUN, *FUNCTION_COLUMNS, "share_percent", "api_name", "type"]
"""Columns of the functions frame.

Beside what Profile.functions has: `share_percent` is the function's own time in the run's total time, `api_name` the
name by which the framework's users know it, and `type` what makes it costly, both missing where no table tells.
"""

CALLS_COLUMNS = [*_RUN, *CALL_COLUMNS]
"""Columns of the calls frame; functions are named by their rank in the same run."""


@dataclass(frozen=True)
class ProfiledRun:
    """A profile and what ran.

    Attributes:
        workload: name of the model.
        framework: name of the framework, as the rules of API names call it.
        phase: `train` or `infer`.
        profile: what was read.
    """

    workload: str
    framework: str
    phase: str
    profile: Profile


def file_name(*levels: str) -> str:
    """Levels as one name that is fit for a file: `ResNet-50`, `PyTorch` and `train` are `resnet_50_pytorch_train`."""
    return "_".join(re.sub(r"[^a-z0-9]+", "_", level.lower()).strip("_") for level in levels)


def functions_frame(
    study: str, runs: Iterable[ProfiledRun], rules: Sequence[Rule], types: Mapping[str, str]
) -> pd.DataFrame:
    """The functions frame: FUNCTIONS_COLUMNS, runs in their order, functions by own time.

    Args:
        study: name of the study.
        runs: profiled runs.
        rules: of API names.
        types: API name -> type; a name that is not there has none.
    """
    frames = [pd.DataFrame(columns=FUNCTIONS_COLUMNS)]
    for run in runs:
        names = api_names(run.profile, run.framework, run.phase, rules)
        frame = _with_run(run.profile.functions, study, run)
        frame["share_percent"] = 100 * frame["own_time_s"] / run.profile.total_time_s
        frame["api_name"] = pd.Series(names, dtype="str")
        frame["type"] = pd.Series([types.get(name or "") for name in names], dtype="str")
        frames.append(frame)
    return _joined(frames, FUNCTIONS_COLUMNS)


def calls_frame(study: str, runs: Iterable[ProfiledRun]) -> pd.DataFrame:
    """The calls frame: CALLS_COLUMNS, runs in their order."""
    frames = [pd.DataFrame(columns=CALLS_COLUMNS)]
    return _joined(frames + [_with_run(run.profile.calls, study, run) for run in runs], CALLS_COLUMNS)


def of_run(frame: pd.DataFrame, workload: str, framework: str, phase: str) -> pd.DataFrame:
    """The rows of one run, of either frame."""
    wanted = (frame["workload"] == workload) & (frame["framework"] == framework) & (frame["phase"] == phase)
    return frame[wanted].reset_index(drop=True)


def profiled_as(functions: pd.DataFrame) -> pd.Series:
    """What a profile calls each function: built-in ones by their own description, others by where they are."""
    where = functions["file"] + ":" + functions["line"].astype("str") + " " + functions["function"]
    return functions["function"].where(functions["file"] == "~", where)


def _with_run(frame: pd.DataFrame, study: str, run: ProfiledRun) -> pd.DataFrame:
    return frame.assign(study=study, workload=run.workload, framework=run.framework, phase=run.phase)


def _joined(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """All rows, types of columns as those of the frames that have rows."""
    filled = [frame for frame in frames if len(frame)] or list(frames)
    return pd.concat(filled, ignore_index=True)[list(columns)]
