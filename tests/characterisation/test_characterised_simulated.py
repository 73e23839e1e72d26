"""Hardware that follows a plan of loads is characterised from end to end, on simulated time.

The meters, the sampling loop, the analysis and the report are the real ones. Only the loads do not run: they are
taken to have been on time to a few milliseconds.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hardware.characterised import (
    CPU_W,
    FROZEN,
    REPEATS,
    SETTLED_S,
    STEP_S,
    WAVE_S,
    assert_frozen_are_doubted,
    assert_trusted,
    channels_of,
    plan,
    script_of,
)
from simulated.process_clock import ORIGIN_NS
from simulated.sampling_process import sample_script

from framewatt.characterisation.measure import Characterisation, look
from framewatt.characterisation.schedule import ALL_CORES, GPU, GPU_CLOSED, IDLE, ONE_CORE, Stretch, period_of
from framewatt.workflow import characterise as module
from framewatt.workflow.characterise import Extent, characterise_here

LEAD_S = 3.0
LATE_S = 0.003
"""Processes that compute begin and end up to so late."""

Play = Callable[..., dict]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    """Characterise scripted hardware: what the script returns, prints and writes, as `play_plan` has it."""
    monkeypatch.setenv("FRAMEWATT_LOCK_FOLDER", str(tmp_path))

    def played(change: dict, stands_still: Sequence[tuple[float, float]] = ()) -> dict:
        script = script_of(change, LEAD_S)

        def characterise(meters: list[str], _: object, _load: object, plan: list, *_rest: object) -> Characterisation:
            stretches = stretches_of(plan)
            end_s = (stretches[-1].end_ns - ORIGIN_NS) * 1e-9 + 1
            (tmp_path / "machine").mkdir()
            sampled = sample_script(
                script,
                tmp_path / "machine",
                end_s,
                meters=meters,
                smi_period_s=0.1,
                stands_still=stands_still,
                start_s=LEAD_S - 1,
            )
            assert "error" not in sampled.answers[-1]
            return look(sampled.trace, stretches)

        monkeypatch.setattr(module, "availability", lambda names, _: dict.fromkeys(names, (True, "scripted")))
        monkeypatch.setattr(module, "check_machine", lambda **_: [])
        monkeypatch.setattr(module, "loads", every_load)
        monkeypatch.setattr(module, "characterise", characterise)
        code = characterise_here(tmp_path / "record", Extent(REPEATS, STEP_S, WAVE_S))
        return {
            "rc": code,
            "out": capsys.readouterr().out,
            "record": json.loads((tmp_path / "record/characterisation.json").read_text()),
            "trace": (tmp_path / "record/trace.parquet").exists(),
            "picture": (tmp_path / "record/steps.svg").read_text()[:200],
        }

    return played


@contextmanager
def every_load(names: list[str], _pythons: object) -> object:
    """Take the place of `loads.loads`, on a machine that can run every load."""
    assert names == [ONE_CORE, ALL_CORES, GPU]
    yield SimpleNamespace(names=names)


def stretches_of(steps: list[tuple[str, float]]) -> list[Stretch]:
    """Return the stretches of a plan, whose processes were late by some milliseconds."""
    rng, at_s, stretches = np.random.default_rng(1), LEAD_S, []
    for load, seconds in steps:
        begin_s, end_s = at_s, at_s + seconds
        if load not in (IDLE, GPU_CLOSED):
            begin_s, end_s = begin_s + rng.uniform(0, LATE_S), end_s + rng.uniform(0, LATE_S)
        edges_ns = (ORIGIN_NS + round(edge * 1e9) for edge in (begin_s, end_s))
        stretches.append(Stretch(load, *edges_ns, others=0.0, busy=0.5 if period_of(load) else None))
        at_s += seconds
    return stretches


def test_a_machine_with_right_meters_is_trusted(play: Play) -> None:
    assert_trusted(play({}))


def test_counters_that_freeze_are_not_trusted_and_a_counter_that_wraps_is(play: Play) -> None:
    assert_frozen_are_doubted(play(FROZEN))


def test_played_counters_that_are_held_up_at_an_edge_lack_so_much_power(play: Play) -> None:
    """Why one play in about 25 failed in real time: the program that plays counters may be held up for 0.08 s."""
    delayed_s = 0.08
    (load, *_) = [one for one in stretches_of(plan()) if one.load == ALL_CORES]
    end_s = (load.end_ns - ORIGIN_NS) * 1e-9
    played = play({}, stands_still=[(end_s - delayed_s, end_s + 0.001)])
    (seen,) = [
        one for one in channels_of(played)["cpu:package-0 energy_j rapl"]["responses"] if one["load"] == ALL_CORES
    ]
    assert seen["power_w"] == pytest.approx(CPU_W[ALL_CORES] * (1 - delayed_s / SETTLED_S), rel=0.01)
    with pytest.raises(AssertionError, match=r"cpu:package-0 energy_j (rapl|pyrapl): "):
        assert_trusted(played)
    assert_trusted(played, delayed_s)
