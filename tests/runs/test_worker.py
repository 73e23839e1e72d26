"""What is timed and what is not: the worker's loops, on a scripted workload and a clock that only it moves."""

import json
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framewatt.datasets.contract import Images
from framewatt.datasets.storing import save_arrays
from framewatt.runs import events, worker
from framewatt.runs.worker import peak_memory_b
from framewatt.tasks.classification import Classification
from framewatt.tasks.contract import TRAIN
from framewatt.workloads.contract import Inference, Spec, Training

ROOT = Path(__file__).parents[2]

TEN = Images(
    x_train=np.zeros((10, 1, 2, 2), np.float32),
    y_train=np.arange(10) % 2,
    x_test=np.zeros((10, 1, 2, 2), np.float32),
    y_test=np.arange(10) % 2,
)
SPEC = Spec(model="m", batch_size=4, device="cpu", provider=None, threads=1, seed=1, artefact=None, training=None)


class Clock:
    """Nanoseconds, which only work moves."""

    def __init__(self) -> None:
        self.now_ns = 1000

    def monotonic_ns(self) -> int:
        return self.now_ns


class Scripted(Inference):
    """A model that takes 1 ns a sample once it is synchronised, and notes when it was called."""

    def __init__(self, clock: Clock, fails_at: int | None = None) -> None:
        super().__init__(SPEC, TEN)
        self.clock, self.fails_at = clock, fails_at
        self.calls: list[tuple[str, int, int]] = []
        self._queued_ns = 0

    def _note(self, what: str, size: int = 0) -> None:
        self.calls.append((what, self.clock.now_ns, size))

    def setup(self) -> None:
        self._note("setup")
        self.clock.now_ns += 500

    def tensors(self, arrays: Any) -> tuple:
        return tuple(arrays)

    def labels(self, values: Any) -> Any:
        return values

    def batches(self, epoch: int = 0) -> Iterator[tuple]:
        self.clock.now_ns += 70  # what is ready before the window costs it nothing
        for step in self.steps():
            yield TEN.x_test[step.rows], TEN.y_test[step.rows]

    def run(self, batch: Any) -> Any:
        self._note("run", len(batch[0]))
        if self.fails_at == len(self.calls):
            raise MemoryError
        self._queued_ns += len(batch[0])
        return np.eye(2)[batch[1]]

    def synchronize(self) -> None:
        self.clock.now_ns += self._queued_ns
        self._queued_ns = 0
        self._note("synchronize")

    def facts(self) -> dict:
        return {}


class ScriptedTraining(Scripted, Training):
    """The same, that learns: three samples at a time, so that one of ten is left out of every epoch."""

    split = TRAIN
    spec = Spec(model="m", batch_size=3, device="cpu", provider=None, threads=1, seed=1, artefact=None, training=None)

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.spec = ScriptedTraining.spec

    def batches(self, epoch: int = 0) -> Iterator[tuple]:
        for step in self.steps(epoch):
            yield TEN.x_train[step.indices], TEN.y_train[step.indices]

    def loss_of(self, step: Any) -> float:
        self._note("loss")
        return 0.5

    def evaluate(self) -> Any:
        self._note("evaluate")
        self.clock.now_ns += 5000
        return np.eye(2)[TEN.y_test]

    def save(self, folder: Path) -> None: ...


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in (worker, events):
        monkeypatch.setattr(module, "time", made)
    return made


def windows(path: Path) -> dict[str, list[int]]:
    """Edges by window."""
    found: dict[str, list[int]] = {}
    for event in map(json.loads, path.read_text().splitlines()):
        found.setdefault(event["window"], []).append(event["monotonic_ns"])
    return found


def infer(workload: Scripted, path: Path, minimum_s: float, **window: float) -> dict[str, Any]:
    with path.open("a") as file:
        settings = {"warm_up_batches": 5, "minimum_s": minimum_s, **window}
        return worker.infer(workload, settings, worker.Events(file))


def inside(workload: Scripted, edges: list[int], what: str) -> list[int]:
    """Sizes of the calls of a kind that began within a window."""
    start_ns, end_ns = edges
    return [size for name, at_ns, size in workload.calls if name == what and start_ns <= at_ns < end_ns]


def test_the_window_of_an_inference_holds_one_whole_pass_and_nothing_else(clock: Clock, tmp_path: Path) -> None:
    workload = Scripted(clock)
    result = infer(workload, tmp_path / "events", minimum_s=1e-9)
    found = windows(tmp_path / "events")
    assert inside(workload, found["steady"], "run") == [4, 4, 2]
    assert np.diff(found["steady"]) == [10]
    assert result["units"] == {"name": "sample", "count": 10}
    assert result["quality"]["accuracy"]["value"] == 1
    # Warm-up starts over where the data are short, and lies before the window whole.
    assert inside(workload, found["warm_up"], "run") == [4, 4, 2, 4, 4]
    assert found["setup"][1] <= found["warm_up"][0] < found["warm_up"][1] <= found["steady"][0]


def test_a_longer_window_goes_on_and_counts_partial_batches_as_they_are(clock: Clock, tmp_path: Path) -> None:
    workload = Scripted(clock)
    result = infer(workload, tmp_path / "events", minimum_s=21e-9)
    found = windows(tmp_path / "events")
    # 10 in the first pass, then 4, 4 and 2 more; at 20 ns the 21 are not yet over.
    assert inside(workload, found["steady"], "run") == [4, 4, 2, 4, 4, 2, 4]
    assert result["units"]["count"] == 24
    assert result["latency"]["batches"] == 7
    assert result["latency"]["max_s"] == pytest.approx(4e-9)
    assert result["latency"]["mean_s"] == pytest.approx(24e-9 / 7)


def test_a_window_of_several_passes_holds_them_whole_and_ends_where_its_time_is_over(
    clock: Clock, tmp_path: Path
) -> None:
    workload = Scripted(clock)
    result = infer(workload, tmp_path / "events", minimum_s=1e-9, passes=3)
    assert inside(workload, windows(tmp_path / "events")["steady"], "run") == [4, 4, 2] * 3
    assert result["units"]["count"] == 30
    longer = infer(Scripted(clock), tmp_path / "longer", minimum_s=31e-9, passes=3)
    assert longer["units"]["count"] == 34


def test_work_that_was_queued_before_is_done_before_the_window_opens(clock: Clock, tmp_path: Path) -> None:
    workload = Scripted(clock)
    workload._queued_ns = 10_000
    workload.warm_up = lambda batches: None  # a workload that forgets to wait
    infer(workload, tmp_path / "events", minimum_s=1e-9)
    assert np.diff(windows(tmp_path / "events")["steady"]) == [10]


def test_a_workload_that_fails_in_its_window_leaves_the_window_open(clock: Clock, tmp_path: Path) -> None:
    workload = Scripted(clock, fails_at=11)  # the second batch of the window
    with pytest.raises(MemoryError):
        infer(workload, tmp_path / "events", minimum_s=1e-9)
    found = windows(tmp_path / "events")
    assert len(found["steady"]) == 1
    assert len(found["warm_up"]) == 2


def test_epochs_are_timed_and_scoring_between_them_is_not(clock: Clock, tmp_path: Path) -> None:
    workload = ScriptedTraining(clock)
    with (tmp_path / "events").open("a") as file:
        result = worker.train(workload, epochs=2, events=worker.Events(file))
    found = windows(tmp_path / "events")
    for epoch in (1, 2):
        edges = found[f"epoch-{epoch}"]
        assert inside(workload, edges, "run") == [3, 3, 3]
        assert inside(workload, edges, "evaluate") == []
        assert np.diff(edges) == [9]
    # The last incomplete batch is left out, and no sample of it is counted.
    assert [row["units"] for row in result["epochs"]] == [9, 9]
    assert result["units"]["count"] == 18
    assert [row["loss_mean"] for row in result["epochs"]] == [0.5, 0.5]


@pytest.mark.parametrize(("level", "read_in_window"), [("epoch", 0), ("step", 3)])
def test_losses_are_read_after_the_epoch_or_in_each_step_and_are_the_same(
    clock: Clock, tmp_path: Path, level: str, read_in_window: int
) -> None:
    workload = ScriptedTraining(clock)
    workload.spec = replace(workload.spec, options={} if level == "epoch" else {"loss_read": level})
    with (tmp_path / "events").open("a") as file:
        result = worker.train(workload, epochs=2, events=worker.Events(file))
    for epoch in (1, 2):
        assert len(inside(workload, windows(tmp_path / "events")[f"epoch-{epoch}"], "loss")) == read_in_window
    assert sum(name == "loss" for name, *_ in workload.calls) == 6, "each once"
    assert [row["loss_mean"] for row in result["epochs"]] == [0.5, 0.5]


def test_what_is_not_made_ahead_is_made_within_the_window_and_told(clock: Clock, tmp_path: Path) -> None:
    ahead = infer(Scripted(clock), tmp_path / "ahead", minimum_s=1e-9)
    workload = Scripted(clock)
    streamed = infer(workload, tmp_path / "streamed", minimum_s=1e-9, ahead_gb=0)
    bytes_of_ten = 10 * 2 * 2 * 4
    assert ahead["batches"] == {"made": "ahead", "pass_b": bytes_of_ten}
    assert streamed["batches"] == {"made": "streamed", "pass_b": bytes_of_ten}
    window = windows(tmp_path / "streamed")["steady"]
    # A nanosecond a sample, and the 70 that it takes to begin a pass, which is over before a window of batches ahead.
    assert np.diff(windows(tmp_path / "ahead")["steady"]) == [10]
    assert np.diff(window) == [80]
    assert inside(workload, window, "run") == [4, 4, 2]
    assert streamed["units"] == ahead["units"]
    assert streamed["quality"] == ahead["quality"]


@pytest.mark.parametrize("ahead_gb", [1e-9, 8])
def test_epochs_are_the_same_however_their_batches_are_made(clock: Clock, tmp_path: Path, ahead_gb: float) -> None:
    workload = ScriptedTraining(clock)
    with (tmp_path / "events").open("a") as file:
        result = worker.train(workload, 2, worker.Events(file), ahead_gb)
    assert result["batches"] == {"made": "ahead" if ahead_gb == 8 else "streamed", "pass_b": 10 * (2 * 2 * 4 + 8)}
    for epoch in (1, 2):
        assert inside(workload, windows(tmp_path / "events")[f"epoch-{epoch}"], "run") == [3, 3, 3]
    assert [row["units"] for row in result["epochs"]] == [9, 9]


def test_the_batches_of_an_epoch_are_gone_when_it_is_over(clock: Clock, tmp_path: Path) -> None:
    """Two epochs need not fit into memory, nor one beside an evaluation."""
    alive: list[int] = []
    made: list[weakref.ref[np.ndarray]] = []

    class Watched(ScriptedTraining):
        def batches(self, epoch: int = 0) -> Iterator[tuple]:
            alive.append(sum(batch() is not None for batch in made))
            for inputs, labels in super().batches(epoch):
                made.append(weakref.ref(inputs))
                yield inputs, labels

        def evaluate(self) -> Any:
            alive.append(sum(batch() is not None for batch in made))
            return super().evaluate()

    with (tmp_path / "events").open("a") as file:
        worker.train(Watched(clock), 2, worker.Events(file))
    assert len(made) == 6
    assert alive == [0, 0, 0, 0]


def test_answers_are_judged_when_no_timed_window_is_open(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    judged = Classification.judge

    def judge(task: Classification, outputs: Any, data: Images) -> Any:
        path = tmp_path / ("infer.jsonl" if (tmp_path / "infer.jsonl").exists() else "train.jsonl")
        seen.append([name for name, edges in windows(path).items() if len(edges) == 1])
        return judged(task, outputs, data)

    monkeypatch.setattr(Classification, "judge", judge)
    with (tmp_path / "train.jsonl").open("a") as file:
        trained = worker.train(ScriptedTraining(clock), 2, worker.Events(file))
    inferred = infer(Scripted(clock), tmp_path / "infer.jsonl", 0)
    assert seen == [["evaluate-1"], ["evaluate-2"], ["evaluate"]]
    assert trained["right"].all()
    assert inferred["right"].tolist() == [True] * 10


def test_the_memory_of_a_run_is_not_that_of_what_started_it() -> None:
    held = bytearray(400 << 20)
    held[:: 1 << 12] = b"x" * len(held[:: 1 << 12])
    code = "from framewatt.runs.worker import peak_memory_b; print(peak_memory_b())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert 10e6 < int(done.stdout) < 250e6
    assert peak_memory_b() > 400e6
    del held


def test_a_result_tells_of_variables_that_change_how_libraries_compute(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_arrays(tmp_path / "data.npz", TEN)
    monkeypatch.setattr(worker, "make_inference", lambda engine, spec, data: Scripted(clock))
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    paths = {name: str(tmp_path / name) for name in ("data.npz", "events", "result.json")}
    job = {
        **{"phase": "infer", "engine": "torch", "weights": "trained", "data": paths["data.npz"], "model": "m"},
        **{"events": paths["events"], "result": paths["result.json"], "batch_size": 4, "device": "cpu"},
        **{"provider": "native", "threads": 1, "seed": 1, "training": {}},
        "window": {"warm_up_batches": 1, "minimum_s": 0},
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    worker.main(str(tmp_path / "job.json"))
    told = json.loads((tmp_path / "result.json").read_text())["workload"]
    assert told["variables"] == {"TF_ENABLE_ONEDNN_OPTS": "0"}
    assert told["in_force"] == {"heap": "returned"}
    assert 20e6 < told["peak_memory_b"] < 100e9
