"""Numbers the repetitions of a cell from their texts in paths."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

LARGEST_NUMBER = 9999
"""Largest number that is taken as a repetition's; larger ones are dates or times, of which only the order counts."""

ANY = "*"
"""Placeholder in a path for a repetition whose text is unknown."""


def key(text: str) -> str:
    """Normalised text of a repetition: `01` becomes `1`; text that is no number is kept."""
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
    """How repetitions are written.

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
        """What a kind of files writes, or would write, for a repetition."""
        known = next((key for key, found in self.numbers.items() if found == number), None)
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
