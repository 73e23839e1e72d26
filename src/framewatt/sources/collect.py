"""Which files belong to which run: paths below a root become cells, repetitions, and what is missing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from framewatt.errors import FramewattError
from framewatt.factors import PlainCell, in_order, natural
from framewatt.sources.pattern import Pattern, parse_pattern

Levels = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class SourceFile:
    """A file of a run.

    Attributes:
        path: below the root.
        log: number of its entry in the study's `files.logs`.
    """

    path: str
    log: int


@dataclass(frozen=True)
class FileRun:
    """A run that files tell of.

    Attributes:
        cell: its configuration.
        repetition: its number in the cell, from 1.
        files: what is there.
        missing: paths of files that should be there.
    """

    cell: PlainCell
    repetition: int
    files: tuple[SourceFile, ...]
    missing: tuple[str, ...]


@dataclass
class _Found:
    """Files of one cell, by repetition as its path has it, and the texts of its other fields."""

    fields: dict[str, str]
    files: dict[str, list[SourceFile]] = field(default_factory=dict)


def collect(settings: Mapping[str, Any], root: Path, where: str) -> list[FileRun]:
    """All runs below a root, cell by cell.

    Args:
        settings: the study's `files`, with defaults filled in.
        root: the folder that its patterns start from.
        where: the study file, for errors.

    Raises:
        FramewattError: a pattern is none or matches nothing, two files have the same fields, patterns differ in their
            factors, or two cells have one name.
    """
    logs = settings["logs"]
    patterns = [parse_pattern(log["pattern"], f"{where}: files.logs.{n}.pattern") for n, log in enumerate(logs)]
    factors = _factors(settings, patterns, where)
    cells: dict[Levels, _Found] = {}
    for number, (log, pattern) in enumerate(zip(settings["logs"], patterns, strict=True)):
        matched = list(pattern.matches(root))
        if not matched and not log["may_be_absent"]:
            raise FramewattError(
                f"{where}: files.logs.{number}.pattern: {pattern.text!r} matches no file below {root}; "
                "allowed: a pattern that matches at least one, or may_be_absent: true"
            )
        for path, fields in matched:
            _add(cells, _levels(settings, log, factors, fields), fields, SourceFile(path, number), settings, where)
    named = _named(_with_numbers(cells), where)
    return [run for cell, found in named for run in _runs(cell, found, settings, patterns)]


def _factors(settings: Mapping[str, Any], patterns: Sequence[Pattern], where: str) -> list[str]:
    """The factors of the study, which all of its patterns share."""
    repetition = settings["repetition"]
    sets = []
    for number, (log, pattern) in enumerate(zip(settings["logs"], patterns, strict=True)):
        key = f"{where}: files.logs.{number}"
        if repetition not in pattern.fields:
            raise FramewattError(
                f"{key}.pattern: found no field {{{repetition}}} in {pattern.text!r}; allowed: one with the field that "
                "files.repetition names"
            )
        if both := set(log["constants"]) & set(pattern.fields):
            raise FramewattError(f"{key}.constants: found {both.pop()}, which is a field too; allowed: either")
        sets.append([*log["constants"], *(name for name in pattern.fields if name != repetition)])
        if set(sets[-1]) != set(sets[0]):
            raise FramewattError(
                f"{key}: found the factors {', '.join(sorted(sets[-1])) or 'none'}; allowed: "
                f"{', '.join(sorted(sets[0]))}, as in the first entry (constants give a factor that a path does not)"
            )
    if not sets[0]:
        raise FramewattError(f"{where}: files.logs.0.pattern: found only the repetition's field; allowed: a factor too")
    return in_order(sets[0])


def _levels(
    settings: Mapping[str, Any], log: Mapping[str, Any], factors: Sequence[str], fields: Mapping[str, str]
) -> Levels:
    """Levels of a file's cell, by the names that the study gives them."""
    names = settings["levels"]
    raw = {**log["constants"], **fields}
    return tuple((factor, names.get(factor, {}).get(str(raw[factor]), raw[factor])) for factor in factors)


def _add(
    cells: dict[Levels, _Found],
    levels: Levels,
    fields: dict[str, str],
    file: SourceFile,
    settings: Mapping[str, Any],
    where: str,
) -> None:
    repetition = fields[settings["repetition"]]
    files = cells.setdefault(levels, _Found(fields)).files.setdefault(repetition, [])
    same = [other for other in files if other.log == file.log]
    if same:
        raise FramewattError(
            f"{where}: files.logs.{file.log}.pattern: found {same[0].path} and {file.path} for the same run; "
            "allowed: one file a run and pattern"
        )
    files.append(file)


def _with_numbers(cells: Mapping[Levels, _Found]) -> dict[Levels, _Found]:
    """The cells with levels as numbers wherever all levels of a factor are whole numbers."""
    if not cells:
        return {}
    texts = list(zip(*([str(level) for _, level in levels] for levels in cells), strict=True))
    whole = [all(re.fullmatch(r"0|[1-9]\d*", text) for text in of_factor) for of_factor in texts]
    return {
        tuple(
            (name, int(level) if number else level) for (name, level), number in zip(levels, whole, strict=True)
        ): found
        for levels, found in cells.items()
    }


def _named(cells: Mapping[Levels, _Found], where: str) -> list[tuple[PlainCell, _Found]]:
    """The cells with their names, in order of their levels."""
    named: dict[str, tuple[PlainCell, _Found]] = {}
    for levels, found in cells.items():
        parts = [f"{name[0]}{level}" if isinstance(level, int) else _slug(str(level)) for name, level in levels]
        cell = PlainCell("-".join(parts), levels)
        if cell.id in named:
            raise FramewattError(
                f"{where}: files: found two cells that are both called {cell.id}; allowed: other levels"
            )
        named[cell.id] = cell, found
    return sorted(named.values(), key=lambda pair: [natural(level) for _, level in pair[0].levels])


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_.]+", "_", text.lower()).strip("_.") or "none"


def _runs(cell: PlainCell, found: _Found, settings: Mapping[str, Any], patterns: Sequence[Pattern]) -> list[FileRun]:
    """The runs of a cell: every repetition that a file tells of, those between, and those that the study expects."""
    numbers = _numbers(list(found.files))
    by_number = {numbers[text]: text for text in found.files}
    last = max(*by_number, settings["repetitions"] or 1)
    raw = {str(k): str(v) for k, v in found.fields.items()}
    levels = cell.to_dict()
    wanted = [n for n, log in enumerate(settings["logs"]) if _applies(log, levels, settings)]
    runs = []
    for repetition in range(1, last + 1):
        text = by_number.get(repetition)
        files = sorted(found.files[text], key=lambda file: file.log) if text else []
        there = {file.log for file in files}
        fields = raw | {settings["repetition"]: text or str(repetition)}
        missing = [patterns[n].filled(fields) for n in wanted if n not in there]
        runs.append(FileRun(cell, repetition, tuple(files), tuple(missing)))
    return runs


def _applies(log: Mapping[str, Any], levels: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """Whether the runs of a cell have a file of a pattern: it holds no other constant level than theirs."""
    names = settings["levels"]
    return all(levels[f] == names.get(f, {}).get(str(level), level) for f, level in log["constants"].items())


def _numbers(texts: Sequence[str]) -> dict[str, int]:
    """Numbers from 1 of the repetitions of a cell: their own where they have any, else by name."""
    if all(re.fullmatch(r"\d+", text) for text in texts) and len({int(text) for text in texts}) == len(texts):
        shift = 1 if any(int(text) == 0 for text in texts) else 0
        return {text: int(text) + shift for text in texts}
    return {text: number for number, text in enumerate(sorted(texts), 1)}
