"""A terminal's last line: a passing line gives way to whatever is printed next."""

import shutil
import sys

CLEAR = "\r\x1b[K"
"""To the begin of the line, which is emptied."""


def passing(text: str) -> None:
    """Print a line that the next one replaces on a terminal; elsewhere, as in a log, it stays."""
    if not sys.stdout.isatty():
        print(text, flush=True)
        return
    width = shutil.get_terminal_size().columns - 1
    print(f"{CLEAR}{text if len(text) <= width else text[: width - 1] + '…'}", end="", flush=True)


def lasting(text: str) -> None:
    """Print a line that stays, in place of a passing one."""
    print(f"{CLEAR if sys.stdout.isatty() else ''}{text}", flush=True)
