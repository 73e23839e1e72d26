"""The profiled process: what the worker does, under cProfile.

`python -m framewatt.runs.profiled_worker <job.json>` runs inside a framework's environment, as the worker does. It
imports the worker under the profiler where the whole program is profiled.
"""

import cProfile
import json
import sys
from pathlib import Path
from typing import TextIO

from framewatt.runs.events import Events, is_primary
from framewatt.study.cell import PROGRAM


class ProfiledEvents(Events):
    """Events that switch a profiler on where a primary window starts, and off where it ends.

    Args:
        file: see Events.
        profiler: it is off.
    """

    def __init__(self, file: TextIO, profiler: cProfile.Profile) -> None:
        super().__init__(file)
        self._profiler = profiler

    def mark(self, window: str, edge: str, monotonic_ns: int) -> None:
        """Write an edge, with the profiler off."""
        if is_primary(window) and edge == "end":
            self._profiler.disable()
        super().mark(window, edge, monotonic_ns)
        if is_primary(window) and edge == "start":
            self._profiler.enable()


def main(job_path: str) -> None:
    """Run the job as the worker does, and write the dump to `job["dump"]`."""
    job = json.loads(Path(job_path).read_text(encoding="utf-8"))
    profiler = cProfile.Profile()
    if job["profile"] == PROGRAM:
        profiler.enable()
        from framewatt.runs import worker

        worker.main(job_path)
        profiler.disable()
    else:
        from framewatt.runs import worker

        worker.main(job_path, lambda file: ProfiledEvents(file, profiler))
    profiler.dump_stats(job["dump"])


if __name__ == "__main__":
    main(sys.argv[1])
