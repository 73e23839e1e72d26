"""Patterns of paths with fields that become factors, and kinds of log files with such a pattern.

A pattern is `{environment}/{architecture}/gpu-power-{run}.csv`. A kind applies to the cells that its pattern can name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.paths import usable
from framewatt.base.schema import unseen
from framewatt.study.factors import in_order

_FIELD = re.compile(r"\{([a-z][a-z0-9_]*)(?:,((?:[^{}]|\{[^{}]*\})+))?\}")
_ANY = "[^/]+"
_ALLOWED = "a relative path with fields like {run} or {run,[0-9]+}, each once, and * for what does not matter"


@dataclass(frozen=True)
class Pattern:
    """A pattern of paths below a root.

    Attributes:
        text: as in the study.
        fields: names of its fields, in order.
        regex: matches a whole path, with one group per field.
        expressions: by field, the regular expression that its text must match.
        glob: glob pattern that finds all candidates.
    """

    text: str
    fields: tuple[str, ...]
    regex: "re.Pattern[str]"
    expressions: "Mapping[str, re.Pattern[str]]"
    glob: str

    def matches(self, root: Path) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the path below the root and the text of each field for every file that fits, in order of paths.

        Raises:
            FramewattError: a path holds an invisible character, which would get into names of levels, or a brace, which
                is a wildcard of Snakemake.
        """
        for path in sorted(root.glob(self.glob)):
            inside = path.relative_to(root).as_posix()
            if (match := self.regex.fullmatch(inside)) and path.is_file():
                if unseen(inside):
                    raise FramewattError(
                        f"{root}: the path {inside!r} has a character that cannot be seen. Rename the file or folder."
                    )
                usable(path)
                yield inside, match.groupdict()

    def accepts(self, field: str, text: str) -> bool:
        """Return whether a field could have that text in a path."""
        return bool(self.expressions[field].fullmatch(text))

    def filled(self, fields: Mapping[str, str]) -> str:
        """Return the path that some fields would have."""
        return _FIELD.sub(lambda field: fields.get(field[1], "*"), self.text)


def parse_pattern(text: str, where: str) -> Pattern:
    """Parse a pattern.

    Args:
        text: the pattern; a field matches anything within one part of a path, or the regular expression after its
            comma.
        where: file and key, for errors.

    Raises:
        FramewattError: a field occurs twice or is invalid, or the path leads out of the root.
    """
    names = [field[1] for field in _FIELD.finditer(text)]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise FramewattError(f"{where}: the field {{{twice[0]}}} is twice in {text!r}. Use {_ALLOWED}.")
    plain = _FIELD.sub("", text)
    if not names or "{" in plain or "}" in plain or text.startswith("/") or ".." in text.split("/"):
        raise FramewattError(f"{where}: {text!r} is not a pattern. Use {_ALLOWED}.")
    regex, glob, at = "", "", 0
    for field in _FIELD.finditer(text):
        fixed = text[at : field.start()]
        regex += _literal(fixed) + f"(?P<{field[1]}>{field[2] or _ANY})"
        glob += fixed + "*"
        at = field.end()
    regex, glob = regex + _literal(text[at:]), glob + text[at:]
    try:
        whole = re.compile(regex)
    except re.error as error:
        raise FramewattError(
            f"{where}: an expression in {text!r} is not a regular expression ({error}). Use {_ALLOWED}."
        ) from error
    expressions = {field[1]: _alone(field[2] or _ANY) for field in _FIELD.finditer(text)}
    return Pattern(text, tuple(names), whole, expressions, glob)


def _alone(expression: str) -> "re.Pattern[str]":
    """Return the expression of a single field; one that refers to another field matches anything here."""
    try:
        return re.compile(expression)
    except re.error:
        return re.compile(_ANY)


def _literal(text: str) -> str:
    """Return the regular expression of text between fields, in which only a star is special."""
    return "[^/]*".join(re.escape(part) for part in text.split("*"))


LARGEST_NUMBER = 9999
"""Largest number that is taken as a repetition's. Larger numbers are dates or times; only their order counts."""

ANY = "*"
"""Placeholder in a path for a repetition with a text that is not known."""


def key(text: str) -> str:
    """Return the normalised text of a repetition: `01` becomes `1`; text that is no number stays."""
    return str(int(text)) if re.fullmatch("[0-9]+", text) else text


@dataclass(frozen=True)
class Writing:
    """How a kind of files writes repetitions.

    Attributes:
        from_zero: whether the first is 0.
        width: number of digits, with leading zeros.
    """

    from_zero: bool = False
    width: int = 1


def writing(texts: Iterable[str]) -> Writing:
    """Return how repetitions are written.

    Args:
        texts: of all files of a kind.
    """
    numbers = [text for text in texts if re.fullmatch("[0-9]+", text)]
    filled_up = any(text.startswith("0") and len(text) > 1 for text in numbers)
    return Writing("0" in map(key, numbers), max(map(len, numbers)) if filled_up else 1)


@dataclass(frozen=True)
class Numbering:
    """The repetitions of a cell.

    Attributes:
        numbers: key -> number, from 1.
        shift: number minus key; None where keys are no numbers.
    """

    numbers: Mapping[str, int]
    shift: int | None

    def text(self, number: int, written: Writing) -> str:
        """Return what a kind of files writes, or would write, for a repetition."""
        known = next((key for key, each in self.numbers.items() if each == number), None)
        if self.shift is None:
            return known or ANY
        return str(number - self.shift).zfill(written.width)


def numbering(keys: Sequence[str], *, from_zero: bool) -> Numbering:
    """Number the repetitions of a cell: by their keys where those are small numbers, else in order.

    Args:
        keys: of the repetitions that have files.
        from_zero: whether the files of the cell count from 0.
    """
    whole = all(re.fullmatch("[0-9]+", text) for text in keys)
    if whole and max(map(int, keys)) <= LARGEST_NUMBER:
        shift = 1 if from_zero else 0
        return Numbering({text: int(text) + shift for text in keys}, shift)
    ordered = sorted(keys, key=lambda text: (int(text) if whole else 0, text))
    return Numbering({text: number for number, text in enumerate(ordered, 1)}, None)


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
        """Return the level that the study assigns to a text in a path, or the constant level of the factor."""
        return str(self.names.get(factor, {}).get(str(text), text))

    def texts(self, levels: Mapping[str, Any], seen: Mapping[str, str]) -> dict[str, str] | None:
        """Return the text of each factor's field in paths of a cell; None where no path of this kind names the cell.

        Args:
            levels: of the cell.
            seen: texts in a path of the cell, of any kind.
        """
        if any(self.level(name, constant) != str(levels[name]) for name, constant in self.entry["constants"].items()):
            return None
        texts = {}
        for name in self.fields:
            wanted = str(levels[name])
            possible = [*([seen[name]] if name in seen else []), *self.names.get(name, {}), wanted]
            fitting = (text for text in possible if self.level(name, text) == wanted)
            text = next((text for text in fitting if self.pattern.accepts(name, text)), None)
            if text is None:
                return None
            texts[name] = text
        return texts


def kinds_of(settings: Mapping[str, Any], where: str) -> list[Kind]:
    """Return the kinds of a study.

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
                f"{key}.pattern: {pattern.text!r} has no field {{{repetition}}}. Add the field that files.repetition "
                "names."
            )
        if both := set(entry["constants"]) & set(pattern.fields):
            raise FramewattError(
                f"{key}.constants: {both.pop()} is also a field of the pattern. Remove it from the constants or from "
                "the pattern."
            )
        kinds.append(Kind(number, pattern, entry, settings["levels"], repetition))
    return kinds


def factors_of(kinds: Sequence[Kind], where: str) -> list[str]:
    """Return the factors of the study, which all of its kinds share.

    Raises:
        FramewattError: the kinds differ in their factors, or there are none.
    """
    sets = [[*kind.entry["constants"], *kind.fields] for kind in kinds]
    for number, factors in enumerate(sets):
        if set(factors) != set(sets[0]):
            raise FramewattError(
                f"{where}: files.logs.{number} has the factors {', '.join(sorted(factors)) or 'none'}, but the first "
                f"entry has {', '.join(sorted(sets[0])) or 'none'}. Give all entries the same factors; constants give "
                "a factor that a path does not have."
            )
    if not sets[0]:
        raise FramewattError(
            f"{where}: files.logs.0.pattern has only the field of the repetition. Add a field for a factor."
        )
    return in_order(sets[0])


def wanted(
    able: Sequence[tuple[Kind, Mapping[str, str]]], numbers: Numbering, number: int, written: Mapping[int, Writing]
) -> dict[int, str]:
    """Return the expected path of a run for each kind that can name it.

    Args:
        able: the kinds that can name its cell, with the texts of its factors.
        numbers: numbering of the repetitions of its cell.
        number: the run's repetition.
        written: how each kind writes repetitions.

    Returns:
        number of the kind -> path. A kind with an expression that does not match the repetition is left out, unless
        none matches.
    """
    paths, fitting = {}, set()
    for kind, texts in able:
        text = numbers.text(number, written[kind.number])
        paths[kind.number] = kind.pattern.filled({**texts, kind.repetition: text})
        if text == ANY or kind.pattern.accepts(kind.repetition, text):
            fitting.add(kind.number)
    return {kind: path for kind, path in paths.items() if kind in fitting} or paths
