"""Kinds of log files, and which runs have one: a kind applies to the cells that its pattern can name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.imports.pattern import Pattern, parse_pattern
from framewatt.imports.repetitions import ANY, Numbering, Writing
from framewatt.study.factors import in_order


@dataclass(frozen=True)
class Kind:
    """An entry of `files.logs`.

    Attributes:
        number: its index there.
        pattern: of its paths.
        entry: its content.
        names: the study's `files.levels`: factor -> text in a path -> level.
        repetition: the field that numbers repetitions.
    """

    number: int
    pattern: Pattern
    entry: Mapping[str, Any]
    names: Mapping[str, Mapping[str, Any]]
    repetition: str

    @property
    def fields(self) -> list[str]:
        """The fields that are factors."""
        return [name for name in self.pattern.fields if name != self.repetition]

    def level(self, factor: str, text: Any) -> str:
        """The level that the study assigns to a text in a path, or the constant level of the factor."""
        return str(self.names.get(factor, {}).get(str(text), text))

    def texts(self, levels: Mapping[str, Any], seen: Mapping[str, str]) -> dict[str, str] | None:
        """The text of each factor's field in paths of a cell; None where no path of this kind names the cell.

        Args:
            levels: of the cell.
            seen: texts in a path of the cell, of any kind.
        """
        if any(self.level(name, constant) != str(levels[name]) for name, constant in self.entry["constants"].items()):
            return None
        found = {}
        for name in self.fields:
            wanted = str(levels[name])
            possible = [*([seen[name]] if name in seen else []), *self.names.get(name, {}), wanted]
            fitting = (text for text in possible if self.level(name, text) == wanted)
            text = next((text for text in fitting if self.pattern.accepts(name, text)), None)
            if text is None:
                return None
            found[name] = text
        return found


def kinds_of(settings: Mapping[str, Any], where: str) -> list[Kind]:
    """The kinds of a study.

    Args:
        settings: the study's `files`, with defaults filled in.
        where: the study file, for errors.

    Raises:
        FramewattError: a pattern is invalid or has no field for repetitions, or a constant factor is also a field.
    """
    repetition = settings["repetition"]
    kinds = []
    for number, entry in enumerate(settings["logs"]):
        key = f"{where}: files.logs.{number}"
        pattern = parse_pattern(entry["pattern"], f"{key}.pattern")
        if repetition not in pattern.fields:
            raise FramewattError(
                f"{key}.pattern: found no field {{{repetition}}} in {pattern.text!r}; allowed: one with the field that "
                "files.repetition names"
            )
        if both := set(entry["constants"]) & set(pattern.fields):
            raise FramewattError(f"{key}.constants: found {both.pop()}, which is a field too; allowed: either")
        kinds.append(Kind(number, pattern, entry, settings["levels"], repetition))
    return kinds


def factors_of(kinds: Sequence[Kind], where: str) -> list[str]:
    """The factors of the study, which all of its kinds share.

    Raises:
        FramewattError: the kinds differ in their factors, or there are none.
    """
    sets = [[*kind.entry["constants"], *kind.fields] for kind in kinds]
    for number, found in enumerate(sets):
        if set(found) != set(sets[0]):
            raise FramewattError(
                f"{where}: files.logs.{number}: found the factors {', '.join(sorted(found)) or 'none'}; allowed: "
                f"{', '.join(sorted(sets[0]))}, as in the first entry (constants give a factor that a path does not)"
            )
    if not sets[0]:
        raise FramewattError(f"{where}: files.logs.0.pattern: found only the repetition's field; allowed: a factor too")
    return in_order(sets[0])


def wanted(
    able: Sequence[tuple[Kind, Mapping[str, str]]], numbers: Numbering, number: int, written: Mapping[int, Writing]
) -> dict[int, str]:
    """The expected path of a run for each kind that can name it.

    Args:
        able: the kinds that can name its cell, with the texts of its factors.
        numbers: numbering of the repetitions of its cell.
        number: the run's repetition.
        written: how each kind writes repetitions.

    Returns:
        number of the kind -> path. A kind whose expression does not match the repetition is left out, unless none
        matches.
    """
    paths, fitting = {}, set()
    for kind, texts in able:
        text = numbers.text(number, written[kind.number])
        paths[kind.number] = kind.pattern.filled({**texts, kind.repetition: text})
        if text == ANY or kind.pattern.accepts(kind.repetition, text):
            fitting.add(kind.number)
    return {kind: path for kind, path in paths.items() if kind in fitting} or paths
