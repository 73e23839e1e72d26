"""The numbered lines of a log, for errors that name the line, and cells that are failed readings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.imports.contract import Options


@dataclass(frozen=True)
class Text:
    """The lines of a file from some line on.

    Attributes:
        path: the file.
        data: its bytes from that line on.
        first: number of the first line, from 1.
    """

    path: Path
    data: bytes
    first: int = 1

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of every line that is not blank."""
        for number, line in enumerate(self.data.decode("utf-8", "replace").split("\n"), self.first):
            if line.strip():
                yield number, line.strip()

    @property
    def last(self) -> int | None:
        """Number of the last line if it lacks a newline, so that it may be truncated; else None."""
        return None if self.data.endswith(b"\n") else self.first + self.data.count(b"\n")

    def from_line(self, number: int) -> "Text":
        """Return the lines from a number on."""
        at = 0
        for _ in range(number - self.first):
            at = self.data.find(b"\n", at) + 1 or len(self.data)
        return Text(self.path, self.data[at:], number)

    def dropped(self, options: Options) -> "Text":
        """Return the lines without those that the study drops at head and tail."""
        if not options.drop_head and not options.drop_tail:
            return self
        lines = self.data.splitlines(keepends=True)
        rest = lines[options.drop_head : len(lines) - options.drop_tail]
        return Text(self.path, b"".join(rest), self.first + options.drop_head)

    def wrong(self, line: int, value: str, allowed: str) -> FramewattError:
        """Return the error of a line. It names the file, the line's number, the value there and what is allowed."""
        return FramewattError(f"{self.path}: line {line}: found {value}; allowed: {allowed}")


def read_text(path: Path) -> Text:
    """Return all lines of a file.

    Raises:
        FramewattError: the file cannot be read, or is empty.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FramewattError(f"{path}: cannot be read: {error.strerror}; allowed: a file that can") from error
    if not data.strip():
        raise FramewattError(f"{path}: found an empty file; allowed: one with readings")
    return Text(path, data)


_DECIMAL_COMMA = re.compile(r"\d,\d+(\D|$)")


def is_failed_reading(text: str) -> bool:
    """Return whether a cell marks a failed reading: `[N/A]`, `[GPU is lost]`, `<not counted>`, or empty."""
    text = text.strip()
    bracketed = text[:1] + text[-1:] in ("[]", "<>")
    return bracketed or text.lower() in ("", "n/a", "nan", "none", "null")


def comma_hint(text: str) -> str:
    """Return a hint for the error text where a number seems to have a decimal comma; else an empty text."""
    return " (a comma as decimal mark?)" if _DECIMAL_COMMA.search(text) else ""
