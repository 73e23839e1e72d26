"""Stands in for a framework's operators: a convolution that takes as long as in a step; a training is one whole."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from framewatt.workloads.repeaters import Case, UnrepeatableError

LASTS_S: float | None = 0.02


class StandInRepeater:
    def __init__(self, spec: Any) -> None:
        self._spec = spec

    def captured(self, workload: Any, batches: Iterable[Any]) -> list[Case]:
        if self._spec.artefact is None:
            raise UnrepeatableError("a stand-in trains as a whole")
        steps = [workload.run(batch) for batch in batches]
        return [Case("convolution", "[8]", {"seconds": LASTS_S}, (1,) * len(steps))]

    def make_call(self, case: Case) -> Callable[[], object]:
        if case.arguments["seconds"] is None:
            raise UnrepeatableError("its argument is unknown")
        return lambda: time.sleep(case.arguments["seconds"])

    def synchronize(self) -> None: ...


def make_repeater(spec: Any, folder: Path) -> StandInRepeater:
    return StandInRepeater(spec)
