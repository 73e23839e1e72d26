"""When runs were measured: none beside another."""

import itertools
from collections.abc import Iterator
from typing import Any

from framewatt.file_study import FileStudy
from framewatt.package.verification.opened import Opened


def problems(package: Opened) -> Iterator[str]:
    """Runs that one machine made at the same time by both of its clocks, one of which alone may have been set."""
    if isinstance(package.study, FileStudy):
        return
    spans: dict[Any, list[tuple[int, int, str, str, str]]] = {}
    for run, record in package.records:
        window = record["windows"].get("process")
        if window and window["start_utc"] and window["end_utc"]:
            times = window["start_monotonic_ns"], window["end_monotonic_ns"], window["start_utc"], window["end_utc"]
            spans.setdefault(record["machine"].get("fingerprint"), []).append((*times, run.where))
    for of_machine in spans.values():
        for one, other in itertools.pairwise(sorted(of_machine)):
            if other[0] < one[1] and one[2] < other[3] and other[2] < one[3]:
                yield f"{other[4]}: measured beside {one[4]}, or its copy: both ran at {other[2]}"
