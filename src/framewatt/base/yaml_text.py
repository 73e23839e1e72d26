"""YAML from anyone: read safely, and only where what it stands for is of a sane size.

Six kilobytes of anchors that name each other stand for gigabytes; they are counted before anything is made of them.
"""

import math
from typing import Any

import yaml

from framewatt.base.errors import FramewattError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader, the quick one where PyYAML was built with it."""

LARGEST_B = 2**22
"""Bytes of a YAML file."""

MOST_NODES = 200_000
"""Keys and values of a file, each counted as often as aliases repeat it."""

_DEEPEST = 60


def parse_yaml(text: str) -> Any:
    """What a YAML text stands for.

    Raises:
        FramewattError: it is not YAML, too large, too deep, or holds a number that is none; no file is named yet.
    """
    if len(text) > LARGEST_B:
        raise FramewattError(f"found {len(text)} characters; allowed: at most {LARGEST_B}")
    try:
        _check_size(text)
        content = yaml.load(text, _LOADER)  # noqa: S506  # a safe one
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # ValueError: a date that the calendar has not, a number of more digits than Python reads.
        raise FramewattError(f"not YAML: {error}") from error
    _check_numbers(content)
    return content


def _check_size(text: str) -> None:
    """Count nodes as aliases multiply them, from the parser's events, so that nothing grows before it is counted."""
    total = 0
    sizes: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, _LOADER):
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent):
            if anchor not in sizes:
                raise FramewattError(f"found an alias of {anchor!r}, which is not closed there; allowed: what was said")
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
            raise FramewattError(f"found more than {MOST_NODES} values, counted with aliases; allowed: at most as many")
        if len(open_) > _DEEPEST:
            raise FramewattError(f"found values nested deeper than {_DEEPEST}; allowed: at most as deep")


def _check_numbers(content: Any) -> None:
    """Refuse NaN and infinities, which pass every comparison or none."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list | tuple | set):
            waiting += value
        elif isinstance(value, float) and not math.isfinite(value):
            raise FramewattError(f"found {value} as a number; allowed: finite ones")
