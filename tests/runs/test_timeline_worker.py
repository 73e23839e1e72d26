"""What of a run is recorded: its steps, in its timed windows, for so long and no longer."""

import io
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framewatt.runs import timeline_worker
from framewatt.runs.timeline_worker import Recording
from framewatt.tasks import task_of
from framewatt.workloads.profilers import STEP, Span

SECOND = 10**9


class Clock:
    """Time goes on when a step is taken, by a second."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 5 * SECOND
        monkeypatch.setattr(timeline_worker.time, "monotonic_ns", lambda: self.now_ns)


class Profiler:
    def __init__(self, clock: Clock) -> None:
        self.clock, self.spans, self.started, self.stopped = clock, [], 0, 0

    def start(self) -> None:
        self.started += 1

    @contextmanager
    def step(self) -> Any:
        began_ns = self.clock.now_ns
        yield
        self.spans.append(Span(STEP, "", "", 0, began_ns, self.clock.now_ns))

    def stop(self) -> list[Span]:
        self.stopped += 1
        return self.spans


class Workload:
    """Its steps have 4 and 2 samples."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.task = clock, task_of(None)

    def steps(self, epoch: int = 0) -> list[Any]:
        return [SimpleNamespace(units=4), SimpleNamespace(units=2)]

    def run(self, batch: int) -> int:
        self.clock.now_ns += SECOND
        return batch


class Run:
    """A recording of a phase, its profiler, and the workload that is watched."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, phase: str, epochs: int = 0) -> None:
        self.clock = Clock(monkeypatch)
        self.profiler, self.workload = Profiler(self.clock), Workload(self.clock)
        monkeypatch.setattr(timeline_worker, "make_profiler", lambda *_: self.profiler)
        self.recording = Recording({"phase": phase, "engine": "torch", "training": {"epochs": epochs}}, tmp_path)
        self.recording.watch(self.workload)  # type: ignore[arg-type]
        file = io.StringIO()
        file.name = "events"
        self.events = self.recording.events(file)

    def mark(self, window: str, edge: str) -> None:
        self.events.mark(window, edge, self.clock.now_ns)

    def steps(self, count: int) -> None:
        assert [self.workload.run(number) for number in range(count)] == list(range(count))


def test_what_runs_before_the_window_is_not_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path, "infer")
    run.steps(3)
    run.mark("warm_up", "end")
    run.mark("steady", "start")
    run.steps(3)
    run.mark("steady", "end")
    run.steps(1)
    assert (run.profiler.started, run.profiler.stopped) == (1, 1)
    assert run.recording.spans is not None
    assert run.recording.spans.steps_ns.tolist() == [[s * SECOND, (s + 1) * SECOND] for s in (8, 9, 10)]
    assert (run.recording.units, run.recording.until_ns) == (10, None)


def test_a_long_window_is_recorded_for_ten_seconds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path, "infer")
    run.mark("warm_up", "end")
    run.mark("steady", "start")
    run.steps(25)
    run.mark("steady", "end")
    assert run.profiler.stopped == 1
    assert run.recording.spans is not None
    assert len(run.recording.spans.steps_ns) == 11
    assert run.recording.until_ns == (5 + 11) * SECOND
    assert run.recording.units == 5 * 6 + 4


def test_a_training_is_recorded_over_its_epochs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = Run(monkeypatch, tmp_path, "train", epochs=2)
    run.mark("setup", "end")
    for epoch in (1, 2):
        run.mark(f"epoch-{epoch}", "start")
        run.steps(2)
        run.mark(f"epoch-{epoch}", "end")
        run.mark(f"evaluate-{epoch}", "end")
    assert run.profiler.stopped == 1
    assert (run.recording.units, run.recording.until_ns) == (12, None)
    assert run.recording.spans is not None
    assert len(run.recording.spans.steps_ns) == 4
