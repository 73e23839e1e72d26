"""Finds the files of each run: paths below a root become cells, repetitions, and missing files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.imports.pattern import Kind, Writing, factors_of, key, kinds_of, numbering, wanted, writing
from framewatt.study.factors import PlainCell, natural
from framewatt.study.study import FileRun, SourceFile

Levels = tuple[tuple[str, Any], ...]


@dataclass
class _CellFiles:
    """Files of one cell, by the key of their repetition, and the texts of the other fields of the first."""

    fields: dict[str, str]
    files: dict[str, list[SourceFile]] = field(default_factory=dict)


def collect(settings: Mapping[str, Any], root: Path, where: str) -> list[FileRun]:
    """Return all runs below a root, cell by cell.

    Args:
        settings: the study's `files`, with defaults filled in.
        root: the folder that its patterns start from.
        where: the study file, for errors.

    Raises:
        FramewattError: a pattern is invalid or matches nothing, two files have the same fields, two kinds read one file
            in the same way, patterns differ in their factors, or two cells have one name.
    """
    kinds = kinds_of(settings, where)
    factors = factors_of(kinds, where)
    cells: dict[Levels, _CellFiles] = {}
    read: dict[tuple[str, str, str], int] = {}
    written = {}
    for kind in kinds:
        matched = list(kind.pattern.matches(root))
        if not matched and not kind.entry["may_be_absent"]:
            raise FramewattError(
                f"{where}: files.logs.{kind.number}.pattern: {kind.pattern.text!r} matches no file below {root}. "
                "Correct the pattern, or write may_be_absent: true."
            )
        for path, fields in matched:
            _refuse_second_reading(read, kind, path, where)
            _add(cells, kind, factors, fields, path, where)
        written[kind.number] = writing(fields[kind.repetition] for _, fields in matched)
    named = _named(_with_numbers(cells), where)
    return [run for cell, of_cell in named for run in _runs(cell, of_cell, kinds, written, settings["repetitions"])]


def _refuse_second_reading(read: dict[tuple[str, str, str], int], kind: Kind, path: str, where: str) -> None:
    """Refuse two kinds that read one file in the same way, which would count it twice."""
    way = (path, kind.entry["reader"], kind.entry["domain"])
    first = read.setdefault(way, kind.number)
    if first != kind.number:
        raise FramewattError(
            f"{where}: files.logs.{kind.number}.pattern matches {path}, and so does files.logs.{first}; the reader "
            f"{kind.entry['reader']} would read it twice. Write patterns that share no file, for example with an "
            "expression in a field: {name,a|b}."
        )


def _add(
    cells: dict[Levels, _CellFiles], kind: Kind, factors: Sequence[str], fields: dict[str, str], path: str, where: str
) -> None:
    raw = {**kind.entry["constants"], **fields}
    levels = tuple((factor, kind.level(factor, raw[factor])) for factor in factors)
    files = cells.setdefault(levels, _CellFiles(fields)).files.setdefault(key(fields[kind.repetition]), [])
    same = [other for other in files if other.log == kind.number]
    if same:
        raise FramewattError(
            f"{where}: files.logs.{kind.number}.pattern matches {same[0].path} and {path} for the same run. Write a "
            "pattern that matches one file for each run."
        )
    files.append(SourceFile(path, kind.number))


def _with_numbers(cells: Mapping[Levels, _CellFiles]) -> dict[Levels, _CellFiles]:
    """Return the cells. Where all levels of a factor are whole numbers, they become numbers."""
    if not cells:
        return {}
    texts = list(zip(*([str(level) for _, level in levels] for levels in cells), strict=True))
    whole = [all(re.fullmatch(r"0|[1-9]\d*", text) for text in column) for column in texts]
    return {
        tuple(
            (name, int(level) if number else level) for (name, level), number in zip(levels, whole, strict=True)
        ): files
        for levels, files in cells.items()
    }


def _named(cells: Mapping[Levels, _CellFiles], where: str) -> list[tuple[PlainCell, _CellFiles]]:
    """Return the cells with their names, in the order of their levels."""
    named: dict[str, tuple[PlainCell, _CellFiles]] = {}
    for levels, files in cells.items():
        cell = cell_named(levels)
        if cell.id in named:
            raise FramewattError(
                f"{where}: files: two cells have the same name {cell.id}. Rename levels in files.levels."
            )
        named[cell.id] = cell, files
    return sorted(named.values(), key=lambda pair: [natural(level) for _, level in pair[0].levels])


def cell_named(levels: Levels) -> PlainCell:
    """Return the cell with some levels, in the order of the study's factors. Its name comes from the levels."""
    parts = [f"{name[0]}{level}" if isinstance(level, int) else _slug(str(level)) for name, level in levels]
    return PlainCell("-".join(parts), levels)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_.]+", "_", text.lower()).strip("_.") or "none"


def _runs(
    cell: PlainCell, of_cell: _CellFiles, kinds: Sequence[Kind], written: Mapping[int, Writing], expected: int | None
) -> list[FileRun]:
    """Return the runs of a cell: each repetition with a file, gaps between them, and those that the study expects."""
    levels = cell.to_dict()
    able = {kind.number: texts for kind in kinds if (texts := kind.texts(levels, of_cell.fields)) is not None}
    numbers = numbering(list(of_cell.files), from_zero=any(written[number].from_zero for number in able))
    by_number = {number: of_cell.files[text] for text, number in numbers.numbers.items()}
    runs = []
    for repetition in range(1, max(*by_number, expected or 1) + 1):
        files = sorted(by_number.get(repetition, []), key=lambda file: file.log)
        there = {file.log for file in files}
        paths = wanted([(kinds[number], able[number]) for number in able], numbers, repetition, written)
        missing = tuple(path for number, path in paths.items() if number not in there)
        runs.append(FileRun(cell, repetition, tuple(files), missing))
    return runs
