"""The recorded process: what the worker does, under the framework's own profiler.

`python -m framewatt.runs.timeline_worker <job.json>` runs inside a framework's environment, as the worker does. The
profiler runs from before the first primary window to after the last one, or until LONGEST_S of them are recorded: what
follows is done without it, and is no part of the timeline.
"""

import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from framewatt.base.files import read_json, write_json
from framewatt.runs import worker
from framewatt.runs.events import Events, is_primary
from framewatt.tasks.contract import Step
from framewatt.tasks.phases import without_marks
from framewatt.workloads.contract import Workload
from framewatt.workloads.profilers import Profiler, Spans, make_profiler, profiler_variables

LONGEST_S = 10.0
"""Seconds from the start of the first primary window that are recorded; a profiler keeps all of them in memory."""


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
        epochs = job["training"]["epochs"] if train else 0
        self._last = (f"epoch-{epochs}" if train else "steady", "end")
        self._epochs = range(1, epochs + 1) if train else range(1)
        self._steps_of: dict[int, list[Step]] = {}
        self._workload: Workload | None = None
        self._profiler: Profiler | None = None
        self._steps_ns: list[tuple[int, int]] = []
        self._since_ns: int | None = None
        self._steps: Iterator[Step] = iter(())
        self.units = 0
        self.until_ns: int | None = None
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
            after_ns = time.monotonic_ns()
            self._steps_ns.append((before_ns, after_ns))
            self.units += self._units_of(next(self._steps), done)
            if self._since_ns is not None and after_ns - self._since_ns > LONGEST_S * 1e9:
                self.until_ns = after_ns
                self._stop()
            return done

        workload.run = stepped  # type: ignore[method-assign]  # of this one object, as long as the process lives

    def events(self, file: TextIO) -> Events:
        """Events that start and stop the profiler."""
        return _RecordedEvents(file, self)

    def marked(self, window: str, edge: str, monotonic_ns: int) -> None:
        """Take note of an edge that is written."""
        if is_primary(window) and edge == "start":
            self._begin(window, monotonic_ns)
        if (window, edge) == self._first:
            assert self._workload is not None
            # Before any window begins.
            self._steps_of = {epoch: self._workload.steps(epoch) for epoch in self._epochs}
            profiler = make_profiler(self._job["engine"], self._workload, self._scratch)
            profiler.start()
            self._profiler = profiler
        elif (window, edge) == self._last and self.spans is None:
            self._stop()

    def _begin(self, window: str, monotonic_ns: int) -> None:
        """A primary window begins: of an epoch, or of all passes of inference."""
        if self._since_ns is None:
            self._since_ns = monotonic_ns
        self._steps = itertools.cycle(self._steps_of[0 if window == "steady" else int(window.rpartition("-")[2])])

    def _units_of(self, step: Step, returned: Any) -> int:
        """Return the units that a step did: in training those that were planned."""
        assert self._workload is not None
        task = self._workload.task
        inference = self._job["phase"] != "train"
        return task.units_done(step, without_marks(task, returned)) if inference else step.units

    def _stop(self) -> None:
        assert self._profiler is not None
        self.spans = Spans.from_spans(self._profiler.stop(), self._steps_ns)


class _RecordedEvents(Events):
    def __init__(self, file: TextIO, recording: Recording) -> None:
        super().__init__(file)
        self._recording = recording

    def mark(self, window: str, edge: str, monotonic_ns: int) -> None:
        """Write an edge, then start or stop the profiler if it is time."""
        super().mark(window, edge, monotonic_ns)
        self._recording.marked(window, edge, monotonic_ns)


def main(job_path: str) -> None:
    """Run the job as the worker does, and write its spans.

    The spans go to `job["spans"]`. A JSON file next to it, with the same stem, records how much work they cover.
    """
    job = read_json(Path(job_path))
    # Libraries read these when the engine is imported.
    os.environ.update(profiler_variables(job["engine"]))
    with tempfile.TemporaryDirectory() as scratch:
        recorded = Recording(job, Path(scratch))
        worker.main(job_path, recorded.events, recorded.watch)
    assert recorded.spans is not None
    path = Path(job["spans"])
    recorded.spans.save(path)
    write_json(path.with_suffix(".json"), {"units": recorded.units, "until_ns": recorded.until_ns})


if __name__ == "__main__":
    main(sys.argv[1])
