"""The file of a study with runs that are read from logs of other tools (`source: files`)."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.validation import validate
from framewatt.imports.collect import collect
from framewatt.imports.contract import Options
from framewatt.study.factors import RESERVED
from framewatt.study.statistical_tests import WELCH
from framewatt.study.study import FILES, FileRun, FileStudy, LeftOut
from framewatt.study.study_file import without_unset
from framewatt.tasks import METRICS


def leave_out(
    runs: Sequence[FileRun], rules: Sequence[Mapping[str, Any]], where: str
) -> tuple[list[FileRun], list[LeftOut]]:
    """Split runs into those that are read and those that the rules leave out, both in order.

    Args:
        runs: all runs with files.
        rules: the study's `files.leave_out`, with defaults filled in.
        where: the study file, for errors.

    Raises:
        FramewattError: a rule, or a level or repetition in it, matches no run; or no run is left.
    """
    reasons: dict[int, list[str]] = {}
    for number, rule in enumerate(rules):
        for place in _left_out_by(rule, runs, f"{where}: files.leave_out.{number}"):
            reasons.setdefault(place, []).append(rule["reason"])
    to_read = [run for place, run in enumerate(runs) if place not in reasons]
    if runs and not to_read:
        raise FramewattError(
            f"{where}: files.leave_out leaves out all {len(runs)} runs. Leave at least one run to be read."
        )
    left_out = [LeftOut(runs[place], "; ".join(dict.fromkeys(texts))) for place, texts in sorted(reasons.items())]
    return to_read, left_out


def _left_out_by(rule: Mapping[str, Any], runs: Sequence[FileRun], key: str) -> list[int]:
    """Return the indices of the runs that a rule leaves out."""
    wanted = {factor: _texts(levels) for factor, levels in rule["where"].items()}
    factors = list(runs[0].cell.to_dict()) if runs else []
    for factor, levels in wanted.items():
        if factor not in factors:
            raise FramewattError(
                f"{key}.where: {factor!r} is not a factor of the study. Use one of {', '.join(factors)}."
            )
        known = list(dict.fromkeys(str(run.cell.to_dict()[factor]) for run in runs))
        for level in levels:
            if level not in known:
                raise FramewattError(
                    f"{key}.where.{factor}: {level!r} is not a level of {factor}. Use one of {', '.join(known)}."
                )
    places = [place for place, run in enumerate(runs) if _fits(run.cell.to_dict(), wanted)]
    if not places:
        together = ", ".join(f"{factor} {' or '.join(texts)}" for factor, texts in wanted.items())
        raise FramewattError(f"{key}.where: no run has {together}. Use levels that some run has together.")
    if rule["repetitions"] is None:
        return places
    known_repetitions = sorted({runs[place].repetition for place in places})
    for repetition in rule["repetitions"]:
        if repetition not in known_repetitions:
            allowed = ", ".join(map(str, known_repetitions))
            raise FramewattError(f"{key}.repetitions: no such run is repetition {repetition}. Use one of {allowed}.")
    return [place for place in places if runs[place].repetition in rule["repetitions"]]


def _texts(levels: Any) -> list[str]:
    return [str(level) for level in (levels if isinstance(levels, list) else [levels])]


def _fits(levels: Mapping[str, Any], wanted: Mapping[str, Sequence[str]]) -> bool:
    return all(str(levels[factor]) in texts for factor, texts in wanted.items())


_KEYS = (
    "study",
    "title",
    "description",
    "replicates",
    "source",
    "files",
    "seed",
    "accept_unavailable",
    "statistics",
    "archive",
)
"""Keys that such a study may have: none about measuring."""


def options_of(study: FileStudy, log: int) -> Options:
    """Return how the files of an entry of `files.logs` are read."""
    entry = study.settings["files"]["logs"][log]
    return Options(
        columns=entry["columns"],
        interval_s=entry["interval_s"],
        domain=entry["domain"],
        measured=tuple(entry["measured"]),
        drop_head=entry["drop_head"],
        drop_tail=entry["drop_tail"],
    )


def is_file_study(content: Mapping[str, Any]) -> bool:
    """Return whether the content of a study file states that its runs come from files."""
    return content.get("source") == FILES


def schema_of_files(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of the study schema that applies to studies of files.

    Other tools' logs do not record blocks of runs, so runs are independent unless the study names another test.
    The compared factors have no default.
    """
    own = copy.deepcopy(dict(schema))
    own["required"] = ["study", "title", "source", "files", "statistics"]
    own["properties"] = {key: own["properties"][key] for key in _KEYS}
    statistics = own["properties"]["statistics"]
    statistics["required"] = ["compare"]
    statistics["properties"]["test"]["default"] = WELCH
    return own


def load_file_study(
    path: Path, content: Mapping[str, Any], schema: Mapping[str, Any], config: Mapping[str, Any], results: Path
) -> FileStudy:
    """Check a study of files and find its files.

    Args:
        path: the study file.
        content: its content.
        schema: of all study files.
        config: the configuration, which may name the root.
        results: the folder of all results; a study that already has results there does not need its files.

    Raises:
        FramewattError: one line that names the file, the key, its value and what is allowed.
    """
    settings = validate(content, schema_of_files(schema), str(path))
    settings["statistics"] = without_unset(settings["statistics"])
    root = _root(path, settings["files"], config)
    if root is None or not root.is_dir():
        if (results / settings["study"] / "plan" / "plan.json").is_file():
            return FileStudy(path, settings, None, ())
        raise FileStudy(path, settings, None, ()).root_error(root)
    every = collect(settings["files"], root, str(path))
    if not every:
        return FileStudy(path, settings, root, ())
    available, left_out = leave_out(every, settings["files"]["leave_out"], str(path))
    factors = every[0].cell.to_dict()
    if taken := sorted(set(factors) & (RESERVED | METRICS.keys())):
        raise FramewattError(
            f"{path}: files.logs: the factor {taken[0]} has the name of a result. Give the field another name."
        )
    for factor in settings["statistics"]["compare"]:
        if factor not in factors:
            raise FramewattError(
                f"{path}: statistics.compare: {factor!r} is not a factor of the study. Use one of {', '.join(factors)}."
            )
    return FileStudy(path, settings, root, tuple(available), tuple(left_out))


def _root(path: Path, files: Mapping[str, Any], config: Mapping[str, Any]) -> Path | None:
    """Return the folder that the configuration or the study names; None where neither does."""
    if files["root_config"]:
        named = config.get(files["root_config"], "")
        return Path(named) if named else None
    return path.parent / str(files["root"])
