"""Work that is known only after a step, and steps of two phases: made-up task and engine, simulated meters."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays, Texts
from framewatt.energy import accounting
from framewatt.energy.accounting import spans_of, windows_of
from framewatt.meters.contract import COUNTER, Channel
from framewatt.meters.trace import Trace
from framewatt.runs import events, worker
from framewatt.tasks import phases
from framewatt.tasks.contract import Judged, Metric, Outputs, Step, Task
from framewatt.tasks.phases import PhasedOutputs, PhaseMark, work_done
from framewatt.workloads.contract import Inference, Spec

PROMPTS = np.array([[3, 4, 5], [3, 4, 0], [6, 0, 0], [6, 7, 8]])
ANSWERS = (2, 5, 1, 3)
"""Tokens that the engine generates for each prompt, which nobody knows before."""

PREFILL_S, TOKEN_S = 0.5, 0.25
PREFILL_W, DECODE_W, IDLE_W = 90.0, 40.0, 10.0


class Generation(Task):
    """Tokens that a model generates; outputs are ids, shape (1, width), -1 after their end."""

    name = "made_up_generation"
    unit = "generated token"
    metrics = (Metric("made_up_length", "Length", highest=None),)
    phases: ClassVar = {"prefill": "prompt token", "decode": "generated token"}

    def units_of(self, split: str, data: Arrays, indices: np.ndarray) -> int:
        """Nothing is planned."""
        return 0

    def units_done(self, step: Step, outputs: Any) -> int:
        """The generated tokens."""
        return int((outputs >= 0).sum())

    def units_by_phase(self, step: Step, outputs: Any) -> Mapping[str, int]:
        """Tokens of the prompts, and generated tokens."""
        return {"prefill": int((PROMPTS[step.indices] > 0).sum()), "decode": self.units_done(step, outputs)}

    def predictions(self, outputs: Outputs, data: Arrays) -> None:
        """None."""

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """The mean length."""
        return Judged({"made_up_length": float((outputs >= 0).sum(axis=1).mean())}, None)

    def in_order(self, outputs: Any, steps: Any) -> Outputs:
        """Padded to the longest answer."""
        parts = list(outputs)
        widest = max(part.shape[1] for part in parts)
        wide = [np.pad(part, ((0, 0), (0, widest - part.shape[1])), constant_values=-1) for part in parts]
        return super().in_order(wide, steps)


class Machine:
    """A clock that only work moves, and the power that it draws meanwhile."""

    def __init__(self) -> None:
        self.now_ns = 10**9
        self.drawn: list[tuple[int, int, float]] = []

    def monotonic_ns(self) -> int:
        return self.now_ns

    def work(self, seconds: float, watts: float) -> tuple[int, int]:
        start_ns, self.now_ns = self.now_ns, self.now_ns + round(seconds * 1e9)
        self.drawn.append((start_ns, self.now_ns, watts))
        return start_ns, self.now_ns

    def read_each(self, period_s: float) -> Trace:
        """A counter of joules that is updated and read so often, from before the run to after it."""
        time_ns = np.arange(0, self.now_ns + 2 * 10**9, round(period_s * 1e9))
        joules = IDLE_W * time_ns * 1e-9
        for start_ns, end_ns, watts in self.drawn:
            joules = joules + (watts - IDLE_W) * (np.clip(time_ns, start_ns, end_ns) - start_ns) * 1e-9
        channel = Channel("simulated", "cpu:package-0", "energy_j", COUNTER, period_s, period_s=period_s)
        return Trace((channel,), time_ns, np.zeros(len(time_ns), np.int32), joules)


class Engine(Inference):
    """Generates as many tokens as ANSWERS has, and returns the times of both phases."""

    def __init__(self, machine: Machine, *, marks: bool = True) -> None:
        data = Texts(PROMPTS, np.zeros(4, np.int64), PROMPTS, np.zeros(4, np.int64))
        super().__init__(Spec("made_up", 1, "cpu", "native", 1, 0, None, {}), data)
        self.task, self.machine, self.marks = Generation(), machine, marks

    def setup(self) -> None: ...

    def tensors(self, arrays: Any) -> tuple:
        return tuple(arrays)

    def batches(self, epoch: int = 0) -> Iterator[Any]:
        yield from (int(step.indices[0]) for step in self.steps())

    def warm_up(self, batches: int) -> None: ...

    def run(self, batch: int) -> Any:
        prefill = PhaseMark("prefill", *self.machine.work(PREFILL_S, PREFILL_W))
        decode = PhaseMark("decode", *self.machine.work(TOKEN_S * ANSWERS[batch], DECODE_W))
        outputs = np.zeros((1, ANSWERS[batch]), np.int64)
        return PhasedOutputs(outputs, (prefill, decode)) if self.marks else outputs

    def synchronize(self) -> None: ...

    def facts(self) -> dict:
        return {}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    for module in (worker, events):
        monkeypatch.setattr(module, "time", made)
    return made


def infer(machine: Machine, folder: Path, **window: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The result of a run, and its events."""
    path = folder / "events.jsonl"
    with path.open("a") as file:
        result = worker.infer(Engine(machine), {"warm_up_batches": 0, **window}, worker.Events(file))
    return result, [json.loads(line) for line in path.read_text().splitlines()]


def test_units_are_those_that_were_done_also_in_a_pass_that_ends_early(machine: Machine, tmp_path: Path) -> None:
    whole_s = 4 * PREFILL_S + TOKEN_S * sum(ANSWERS)
    result, _ = infer(machine, tmp_path, minimum_s=whole_s + PREFILL_S + 2 * TOKEN_S + 0.01)
    # One pass, and the first two steps of another: the second starts before the time is over.
    assert result["latency"]["batches"] == 6
    assert result["units"] == {"name": "generated token", "count": sum(ANSWERS) + 2 + 5}
    assert result["phases"] == {
        "prefill": {"name": "prompt token", "count": 3 + 2 + 1 + 3 + 3 + 2},
        "decode": {"name": "generated token", "count": 18},
    }
    assert result["quality"]["made_up_length"]["value"] == sum(ANSWERS) / 4


def test_energy_of_each_phase_is_what_it_drew(machine: Machine, tmp_path: Path) -> None:
    result, marked = infer(machine, tmp_path, minimum_s=0)
    found = windows_of(spans_of(marked), machine.read_each(0.001), {"domains": {}})
    energies = {name: window["domains"]["cpu:package-0"] for name, window in found.items()}
    prefill_j, decode_j = 4 * PREFILL_S * PREFILL_W, TOKEN_S * sum(ANSWERS) * DECODE_W
    assert energies["phase-prefill"]["energy_gross_j"] == pytest.approx(prefill_j, rel=1e-3)
    assert energies["phase-decode"]["energy_gross_j"] == pytest.approx(decode_j, rel=1e-3)
    assert energies["steady"]["energy_gross_j"] == pytest.approx(prefill_j + decode_j, rel=1e-3)
    per_token_j = energies["phase-decode"]["energy_gross_j"] / result["phases"]["decode"]["count"]
    assert per_token_j == pytest.approx(TOKEN_S * DECODE_W, rel=1e-3)
    assert [found[name]["duration_s"] for name in ("phase-prefill", "phase-decode")] == pytest.approx([2.0, 2.75])


def test_a_phase_that_is_too_short_for_the_meter_has_no_energy_and_says_why(machine: Machine, tmp_path: Path) -> None:
    _, marked = infer(machine, tmp_path, minimum_s=0)
    found = windows_of(spans_of(marked), machine.read_each(0.02), {"domains": {}})
    prefill, decode = (found[f"phase-{name}"]["domains"]["cpu:package-0"] for name in ("prefill", "decode"))
    # 20 update periods are 0.4 s: a prefill takes 0.5 s, the shortest decode 0.25 s.
    assert prefill["valid"]
    assert (decode["valid"], decode["energy_gross_j"]) == (False, None)
    assert decode["reasons"] == ["a phase of 0.25 s is shorter than the 0.4 s that this meter needs"]
    assert found["steady"]["domains"]["cpu:package-0"]["valid"]


def test_an_engine_without_marks_is_an_error_that_says_what_to_return(machine: Machine) -> None:
    engine = Engine(machine, marks=False)
    with pytest.raises(FramewattError, match="the engine returned no marks of a step"):
        engine.evaluate()
    with pytest.raises(FramewattError, match=r"returned \['decode'\] of a step"):
        work_done(engine.task, engine.steps(), [PhasedOutputs(ANSWERS, (PhaseMark("decode", 0, 1),))], 1)


def test_windows_of_phases_have_the_names_that_energy_knows() -> None:
    assert phases.PHASE == accounting.PHASE
