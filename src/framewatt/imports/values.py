"""Cells of logs that are no numbers, or numbers in another country's manner."""

import re

_DECIMAL_COMMA = re.compile(r"\d,\d+(\D|$)")


def is_failed_reading(text: str) -> bool:
    """Whether a tool says by a cell that it could not read: `[N/A]`, `[GPU is lost]`, `<not counted>`, or nothing."""
    text = text.strip()
    bracketed = text[:1] + text[-1:] in ("[]", "<>")
    return bracketed or text.lower() in ("", "n/a", "nan", "none", "null")


def comma_hint(text: str) -> str:
    """A guess, in words, where a number seems to have a comma as its decimal mark; else empty."""
    return " (a comma as decimal mark?)" if _DECIMAL_COMMA.search(text) else ""
