"""Reads untrusted YAML: safely, and only if its expanded content has a sane size.

Six kilobytes of nested anchors can expand to gigabytes; nodes are counted before anything is built.
"""

import math
from typing import Any

import yaml

from framewatt.base.errors import FramewattError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader, in its fast version where PyYAML was built with it."""

LARGEST_B = 2**22
"""Most bytes of a YAML file."""

MOST_NODES = 200_000
"""Most keys and values of a file, each counted as often as aliases repeat it."""

_DEEPEST = 60


def parse_yaml(text: str) -> Any:
    """Return the content of a YAML text.

    Raises:
        FramewattError: it is not YAML, too large, too deep, or holds NaN or an infinity; the message names no file yet.
    """
    if len(text) > LARGEST_B:
        raise FramewattError(f"{len(text)} characters are more than {LARGEST_B}. Shorten the file.")
    try:
        _check_size(text)
        content = yaml.load(text, _LOADER)  # noqa: S506  # a safe loader
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # ValueError: an impossible date, or a number with more digits than Python reads.
        raise FramewattError(f"not YAML: {error}. Correct that line.") from error
    _check_numbers(content)
    return content


def _check_size(text: str) -> None:
    """Count nodes, with the repeats by aliases, from the parser's events, before anything is expanded."""
    total = 0
    sizes: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, _LOADER):
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent):
            if anchor not in sizes:
                raise FramewattError(f"an alias of {anchor!r} is inside {anchor!r} itself. Write out the content.")
            total += sizes[anchor]
        elif isinstance(event, yaml.NodeEvent):
            total += 1
            if isinstance(event, yaml.CollectionStartEvent):
                open_.append((anchor, total))
            elif anchor:
                sizes[anchor] = 1
        elif isinstance(event, yaml.CollectionEndEvent):
            name, begin = open_.pop()
            if name:
                sizes[name] = total - begin + 1
        if total > MOST_NODES:
            raise FramewattError(f"more than {MOST_NODES} values, counted with aliases. Write fewer.")
        if len(open_) > _DEEPEST:
            raise FramewattError(f"values are nested deeper than {_DEEPEST}. Nest them less.")


def _check_numbers(content: Any) -> None:
    """Refuse NaN and infinities, which would pass or fail every range check."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list | tuple | set):
            waiting += value
        elif isinstance(value, float) and not math.isfinite(value):
            raise FramewattError(f"{value} is not a finite number. Write a finite number.")
