"""Path patterns whose fields become factors: `{environment}/{architecture}/gpu-power-{run}.csv`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.paths import usable
from framewatt.base.schema import unseen

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
        """Path below the root, and text of every field, of every file that fits, in order of paths.

        Raises:
            FramewattError: a path holds an invisible character, which would get into names of levels, or a brace, which
                is a wildcard of Snakemake.
        """
        for path in sorted(root.glob(self.glob)):
            inside = path.relative_to(root).as_posix()
            if (found := self.regex.fullmatch(inside)) and path.is_file():
                if unseen(inside):
                    raise FramewattError(f"{root}: found {inside!r}; allowed: names of characters that are seen")
                usable(path)
                yield inside, found.groupdict()

    def accepts(self, field: str, text: str) -> bool:
        """Whether a field could have that text in a path."""
        return bool(self.expressions[field].fullmatch(text))

    def filled(self, fields: Mapping[str, str]) -> str:
        """The path that some fields would have."""
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
        raise FramewattError(f"{where}: found field {{{twice[0]}}} twice in {text!r}; allowed: {_ALLOWED}")
    plain = _FIELD.sub("", text)
    if not names or "{" in plain or "}" in plain or text.startswith("/") or ".." in text.split("/"):
        raise FramewattError(f"{where}: found {text!r}; allowed: {_ALLOWED}")
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
        raise FramewattError(f"{where}: found {text!r}, in which {error}; allowed: {_ALLOWED}") from error
    expressions = {field[1]: _alone(field[2] or _ANY) for field in _FIELD.finditer(text)}
    return Pattern(text, tuple(names), whole, expressions, glob)


def _alone(expression: str) -> "re.Pattern[str]":
    """The expression of a single field; one that refers to another field matches anything here."""
    try:
        return re.compile(expression)
    except re.error:
        return re.compile(_ANY)


def _literal(text: str) -> str:
    """The regular expression of text between fields, in which only a star is special."""
    return "[^/]*".join(re.escape(part) for part in text.split("*"))
