"""The one error that framewatt shows to people: a line of text, no traceback."""


class FramewattError(Exception):
    """What was found, where, what is allowed and how to mend it, in one line."""

    def __str__(self) -> str:
        return " ".join(super().__str__().split())
