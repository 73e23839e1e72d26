"""How long a window of one of framewatt's loops took."""

import json
from collections.abc import Callable, Mapping
from tempfile import NamedTemporaryFile
from typing import Any

from framewatt.runs.events import Events


def samples_per_second(loop: Callable[[Events], Mapping[str, Any]], window: str) -> float:
    """Samples that a loop processed, over the seconds of its window.

    Args:
        loop: marks its windows in the events that it is handed.
        window: name of the one that counts.
    """
    with NamedTemporaryFile("a+") as file:
        result = loop(Events(file))
        file.seek(0)
        edges = [json.loads(line) for line in file]
    start, end = (edge["monotonic_ns"] for edge in edges if edge["window"] == window)
    return float(result["units"]["count"] / ((end - start) * 1e-9))
