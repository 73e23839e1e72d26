"""Cells of logs that are failed readings, or numbers with a decimal comma."""

import re

_DECIMAL_COMMA = re.compile(r"\d,\d+(\D|$)")


def is_failed_reading(text: str) -> bool:
    """Whether a cell marks a failed reading: `[N/A]`, `[GPU is lost]`, `<not counted>`, or empty."""
    text = text.strip()
    bracketed = text[:1] + text[-1:] in ("[]", "<>")
    return bracketed or text.lower() in ("", "n/a", "nan", "none", "null")


def comma_hint(text: str) -> str:
    """A hint for the error text where a number seems to have a decimal comma; else empty."""
    return " (a comma as decimal mark?)" if _DECIMAL_COMMA.search(text) else ""
