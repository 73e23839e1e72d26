"""JSON schemas read strictly by their standard, and a check for invisible characters in texts."""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators

PROSE = ("description",)
"""Keys with texts of several lines."""


_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode categories of control characters, surrogates (undecodable bytes), and line and paragraph separators."""

_DIRECTIONS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Unicode bidirectional classes of marks that change the direction of writing."""

_LINES = str.maketrans("\n\t", "  ")


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """`pattern` with the standard's `$`, the end of the text: Python's also matches before a trailing line end."""
    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


@functools.cache
def _compiled(pattern: str) -> "re.Pattern[str]":
    return re.compile(re.sub(r"(?<!\\)\$\Z", r"\\Z", pattern))


Validator: Any = validators.extend(Draft202012Validator, {"pattern": _pattern})
"""Draft 2020-12, in which a trailing line end does not slip through a `pattern`."""


def unseen_text(content: Any, key: str = "") -> tuple[str, str] | None:
    """Return the first text or key that has an invisible character; None where there is none.

    Invisible are control characters and line ends, which could end a line of a shell, a log or a table unnoticed, and
    marks that change the direction of writing.

    Args:
        content: content of a file.
        key: its place in the file.

    Returns:
        the place in the file, and the text.
    """
    if isinstance(content, str):
        prose = key.rpartition(".")[2] in PROSE
        return (key, content) if unseen(content.translate(_LINES) if prose else content) else None
    if isinstance(content, Mapping):
        named = next((name for name in content if isinstance(name, str) and unseen(name)), None)
        if named is not None:
            return key or "the file", named
        parts: Iterable[tuple[Any, Any]] = content.items()
    else:
        parts = enumerate(content) if isinstance(content, list | tuple) else ()
    below = (unseen_text(value, f"{key}.{name}" if key else str(name)) for name, value in parts)
    return next((place for place in below if place), None)


def unseen(text: str) -> bool:
    """Return whether a text has an invisible character or a line end."""
    return not (text.isascii() and text.isprintable()) and any(
        unicodedata.category(character) in _CATEGORIES or unicodedata.bidirectional(character) in _DIRECTIONS
        for character in text
    )
