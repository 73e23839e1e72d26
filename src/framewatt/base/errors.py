"""The only error that framewatt shows to people: one line of text, no traceback, no control characters."""

import unicodedata


class FramewattError(Exception):
    """An error for the user, in one line: what is wrong with which value and where, then what to do."""

    def __str__(self) -> str:
        return plain(" ".join(super().__str__().split()))


def plain(text: str) -> str:
    """Return text that is safe for a terminal: invisible characters become escapes, except line ends and blanks.

    Invisible are control characters (colours, cursor, window title), marks that change the direction of writing, lone
    surrogates, and unassigned code points. A name from a package may hold any of them.
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_seen, text))


def _seen(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    if unicodedata.category(character) == "Zs" or character == "\t":
        return " "
    return character.encode("unicode_escape").decode("ascii")
