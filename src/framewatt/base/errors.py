"""The one error that framewatt shows to people: a line of text, no traceback, nothing that moves the cursor."""

import unicodedata


class FramewattError(Exception):
    """What was found, where, what is allowed and how to mend it, in one line."""

    def __str__(self) -> str:
        return plain(" ".join(super().__str__().split()))


def plain(text: str) -> str:
    """Text as a terminal may have it: characters that are not seen become escapes, but for line ends and blanks.

    Those are control characters (colours, cursor, title of the window), marks that turn the direction of writing,
    lone surrogates, and what Unicode has not assigned. A name out of a package may hold any of them.
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_seen, text))


def _seen(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    if unicodedata.category(character) == "Zs" or character == "\t":
        return " "
    return character.encode("unicode_escape").decode("ascii")
