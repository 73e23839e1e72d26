"""Text in a terminal: tables, and a last line that gives way to whatever is printed next."""

import shutil
import sys
from collections.abc import Container, Sequence


def aligned(lines: Sequence[tuple[str, ...]], words: Container[int]) -> list[str]:
    """Return lines with columns as wide as their widest text, words to the left and numbers to the right.

    Args:
        lines: texts, of as many columns each.
        words: places of the columns of words.
    """
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  ".join(
            text.ljust(width) if column in words else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


CLEAR = "\r\x1b[K"
"""Moves to the start of the line and empties it."""


def passing(text: str) -> None:
    """Print a line that the next one replaces on a terminal; elsewhere, as in a log, it stays."""
    if not sys.stdout.isatty():
        print(text, flush=True)
        return
    width = shutil.get_terminal_size().columns - 1
    print(f"{CLEAR}{text if len(text) <= width else text[: width - 1] + '…'}", end="", flush=True)


def lasting(text: str) -> None:
    """Print a line that stays, instead of a passing line."""
    print(f"{CLEAR if sys.stdout.isatty() else ''}{text}", flush=True)
