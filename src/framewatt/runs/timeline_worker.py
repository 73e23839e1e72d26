"""The recorded process: what the worker does, under the framework's own profiler.

`python -m framewatt.runs.timeline_worker <job.json>` runs inside a framework's environment, as the worker does. The
profiler runs from before the first primary window to after the last one.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TextIO

from framewatt.base.files import read_json
from framewatt.runs import worker
from framewatt.runs.events import Events
from framewatt.workloads.contract import Workload
from framewatt.workloads.profilers import VARIABLES, Profiler, Spans, make_profiler


class Recording:
    """Starts and stops a profiler by the windows of a run, and puts every step in a span.

    Args:
        job: of the run.
        scratch: a folder for what the profiler writes.
    """

    def __init__(self, job: dict[str, Any], scratch: Path) -> None:
        self._job, self._scratch = job, scratch
        train = job["phase"] == "train"
        self._first = ("setup" if train else "warm_up", "end")
        self._last = (f"epoch-{job['training']['epochs']}" if train else "steady", "end")
        self._workload: Workload | None = None
        self._profiler: Profiler | None = None
        self._steps_ns: list[tuple[int, int]] = []
        self.spans: Spans | None = None

    def watch(self, workload: Workload) -> None:
        """Have a workload's steps taken in spans while the profiler runs."""
        self._workload, run = workload, workload.run

        def stepped(batch: Any) -> Any:
            if self._profiler is None or self.spans is not None:
                return run(batch)
            before_ns = time.monotonic_ns()
            with self._profiler.step():
                done = run(batch)
            self._steps_ns.append((before_ns, time.monotonic_ns()))
            return done

        workload.run = stepped  # type: ignore[method-assign]

    def events(self, file: TextIO) -> Events:
        """Events that start and stop the profiler."""
        return _RecordedEvents(file, self)

    def marked(self, window: str, edge: str) -> None:
        """Take note of an edge that is written."""
        if (window, edge) == self._first:
            assert self._workload is not None
            profiler = make_profiler(self._job["engine"], self._workload, self._scratch)
            profiler.start()
            self._profiler = profiler
        elif (window, edge) == self._last:
            assert self._profiler is not None
            self.spans = Spans.of(self._profiler.stop(), self._steps_ns)


class _RecordedEvents(Events):
    def __init__(self, file: TextIO, recording: Recording) -> None:
        super().__init__(file)
        self._recording = recording

    def mark(self, window: str, edge: str, monotonic_ns: int) -> None:
        """Write an edge, then start or stop the profiler if it is time."""
        super().mark(window, edge, monotonic_ns)
        self._recording.marked(window, edge)


def main(job_path: str) -> None:
    """Run the job as the worker does, and write the spans to `job["spans"]`."""
    job = read_json(Path(job_path))
    # Libraries read these when the engine is imported.
    os.environ.update(VARIABLES.get(job["engine"], {}))
    with tempfile.TemporaryDirectory() as scratch:
        recorded = Recording(job, Path(scratch))
        worker.main(job_path, recorded.events, recorded.watch)
    assert recorded.spans is not None
    recorded.spans.save(Path(job["spans"]))


if __name__ == "__main__":
    main(sys.argv[1])
