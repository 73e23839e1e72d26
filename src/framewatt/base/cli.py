"""Arguments of the scripts that the workflow runs from a shell line (they may run in a container)."""

import argparse
import errno
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from framewatt.base.ending import Ended, endings_heeded
from framewatt.base.errors import FramewattError, plain
from framewatt.privacy.secrets import Secrets

_TYPES: dict[str, Callable[[str], Any]] = {
    "job": json.loads,
}
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""The disk is full, the quota is used up, or the disk is mounted read-only."""

_SEVERAL = ("others",)
_OPTIONAL = ("model", "check", "body", "after", "reference")


def arguments(description: str | None, *names: str) -> argparse.Namespace:
    """Return the named command-line arguments, parsed: paths, unless `_TYPES` has another type for the name.

    Arguments in `_OPTIONAL` may be empty and are None then; those in `_SEVERAL` are lists.
    """
    parser = argparse.ArgumentParser(description=description)
    for name in names:
        optional = name in _OPTIONAL
        nargs = "*" if name in _SEVERAL else "?" if optional else None
        parser.add_argument(f"--{name}", type=_TYPES.get(name, _path), required=not optional, nargs=nargs)
    return parser.parse_args()


def run(main: Callable[[], None]) -> None:
    """Call a script's `main`; a FramewattError becomes one line and exit code 1.

    On Ctrl-C, SIGTERM or SIGHUP the script removes its folders and ends its children, and the exit code is 128 plus the
    number of the signal. For any other error the traceback is printed without secrets, since people share their logs.
    """
    with endings_heeded():
        try:
            main()
        except FramewattError as error:
            sys.exit(f"framewatt: {error}")
        except KeyboardInterrupt as ended:
            number = ended.number if isinstance(ended, Ended) else int(signal.SIGINT)
            print(f"framewatt: ended by {signal.Signals(number).name}", file=sys.stderr)
            sys.exit(128 + number)
        except OSError as error:
            if error.errno not in _DISK_ERRORS:
                sys.exit(Secrets.from_this_machine().redact(traceback.format_exc()))
            where = f" ({error.filename})" if error.filename else ""
            message = f"the disk cannot be written{where}: {os.strerror(error.errno)}. Free space or allow writing; "
            message += "then the same command continues."
            sys.exit(f"framewatt: {Secrets.from_this_machine().redact(message)}")
        except Exception:
            sys.exit(Secrets.from_this_machine().redact(traceback.format_exc()))


def say(text: str) -> None:
    """Print and flush, with terminal control characters escaped: names and reasons may come from untrusted files."""
    print(plain(text), flush=True)


def _path(text: str) -> Path | None:
    return Path(text) if text else None
