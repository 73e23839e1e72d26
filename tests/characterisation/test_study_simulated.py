"""A wall meter is characterised before a study, on simulated time: what tests/measured/test_in_studies.py measures."""

from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from hardware.cases import CPU, WALL
from hardware.script import Script
from simulated.process_clock import ORIGIN_NS
from simulated.sampling_process import sample_script

from framewatt.characterisation import measure
from framewatt.characterisation.measure import Characterisation, characterise_for_study, look
from framewatt.characterisation.measured import in_force
from framewatt.characterisation.schedule import ALL_CORES, IDLE, Stretch
from framewatt.meters.contract import GAUGE, Channel

IDLE_W, BUSY_W = 50.0, 250.0
LINE_S = 0.05
LEAD_S = 3.0


@contextmanager
def loads(names: Sequence[str], _pythons: object) -> object:
    """Take the place of `loads.loads`, on a machine that can run them all."""
    yield SimpleNamespace(names=list(names))


@pytest.mark.parametrize("lag_s", [0.0, 0.2])
def test_a_wall_meter_is_characterised_before_a_study(
    lag_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def characterise(
        meters: list[str], _options: object, _load: object, plan: list[tuple[str, float]], _path: object
    ) -> Characterisation:
        # An estimate follows its formula: it is not characterised.
        assert meters == ["external"]
        at_s, stretches, wall = LEAD_S, [], [[0.0, IDLE_W]]
        for load, seconds in plan:
            edges_ns = (ORIGIN_NS + round(edge * 1e9) for edge in (at_s, at_s + seconds))
            stretches.append(Stretch(load, *edges_ns, others=0.0))
            wall.append([at_s + lag_s, IDLE_W if load == IDLE else BUSY_W])
            at_s += seconds
        script = Script(watts={CPU: [[0.0, 1.0]], WALL: wall})
        (tmp_path / "machine").mkdir()
        sampled = sample_script(script, tmp_path / "machine", at_s + 1, meters=meters, start_s=LEAD_S - 1)
        return look(sampled.trace, stretches)

    monkeypatch.setattr(measure, "loads", loads)
    monkeypatch.setattr(measure, "characterise", characterise)
    record = characterise_for_study(["external", "estimate"], {}, 2.0, tmp_path, tmp_path / "trace.bin")
    assert record is not None
    (one,) = record["channels"]
    assert one["problems"] == []
    (response,) = one["responses"]
    assert (response["load"], response["seen"]) == (ALL_CORES, True)
    assert response["power_w"] == pytest.approx(BUSY_W)
    assert one["idle_w"] == pytest.approx(IDLE_W)
    assert one["lateness"]["delay"]["value"] == pytest.approx(lag_s, abs=LINE_S)
    documented = Channel("external", "external:wall", "power_w", GAUGE, LINE_S)
    (channel,) = in_force([documented], {"characterisation": record})
    assert channel.fit_window_s > 0
