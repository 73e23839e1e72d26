"""Arguments of the scripts that the workflow runs from a shell line (they may run in a container)."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from framewatt.errors import FramewattError

_TYPES: dict[str, Callable[[str], Any]] = {
    "job": json.loads,
    "options": json.loads,
    "preflight": json.loads,
    "idle-s": float,
    "device": str,
}
_OPTIONAL = ("model", "check", "body")


def arguments(description: str | None, *names: str) -> argparse.Namespace:
    """Parse named arguments, which are paths unless `_TYPES` says otherwise.

    `--model`, `--check` and `--body` may be empty, which is None.
    """
    parser = argparse.ArgumentParser(description=description)
    for name in names:
        optional = name in _OPTIONAL
        parser.add_argument(
            f"--{name}", type=_TYPES.get(name, _path), required=not optional, nargs="?" if optional else None
        )
    return parser.parse_args()


def run(main: Callable[[], None]) -> None:
    """Call a script's `main`; what framewatt has to say to people becomes one line and exit code 1."""
    try:
        main()
    except FramewattError as error:
        sys.exit(f"framewatt: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def _path(text: str) -> Path | None:
    return Path(text) if text else None
