"""JSON schemas as their standard reads them, and texts as a study may have them."""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators

PROSE = ("description",)
"""Keys whose texts may have several lines."""


_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode's categories of control characters, of what stands for bytes that are no text, and of ends of lines."""

_DIRECTIONS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Unicode's marks that turn the direction of writing."""

_LINES = str.maketrans("\n\t", "  ")


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """Python's `$` also matches before a last line end, where the standard's is the end of the text."""
    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


@functools.cache
def _compiled(pattern: str) -> "re.Pattern[str]":
    return re.compile(re.sub(r"(?<!\\)\$\Z", r"\\Z", pattern))


Validator: Any = validators.extend(Draft202012Validator, {"pattern": _pattern})
"""Draft 2020-12, in which a name that ends in a line end does not pass as one without."""


def unseen_text(content: Any, key: str = "") -> tuple[str, str] | None:
    """The first text, or name of a key, that holds a character which nobody sees; None where there is none.

    Such are control characters and line ends, which end a line of a shell, a log or a table where nobody looks for
    it, and marks that turn the direction of writing.

    Args:
        content: what a file says.
        key: where in the file that is.

    Returns:
        where it is, and the text.
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
    return next((found for found in below if found), None)


def unseen(text: str) -> bool:
    """Whether any of a text's characters is not seen, or ends its line."""
    return not (text.isascii() and text.isprintable()) and any(
        unicodedata.category(character) in _CATEGORIES or unicodedata.bidirectional(character) in _DIRECTIONS
        for character in text
    )
