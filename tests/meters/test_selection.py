"""Which meters a study gets on a machine."""

import pytest

from framewatt.base.errors import FramewattError
from framewatt.meters import select_meters
from framewatt.meters.nvml import Nvml
from framewatt.meters.rapl import Rapl

INSTRUMENTS = {"period_s": 0.01, "estimate_idle_w_per_core": 1.0, "estimate_busy_w_per_core": 5.0, "fallback": "none"}


def test_a_named_meter_that_is_missing_is_an_error_that_states_how_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rapl, "available", lambda _: (False, "no such hardware"))
    with pytest.raises(FramewattError, match=r"rapl cannot be read here: no such hardware\. Name "):
        select_meters({**INSTRUMENTS, "meters": ["rapl"]})


@pytest.mark.parametrize("meters", ["auto", ["rapl"]])
def test_an_estimate_is_used_only_where_the_study_allows_it(monkeypatch: pytest.MonkeyPatch, meters: object) -> None:
    monkeypatch.setattr(Rapl, "available", lambda _: (False, "no such hardware"))
    monkeypatch.setattr(Nvml, "available", lambda _: (False, "no driver"))
    assert select_meters({**INSTRUMENTS, "meters": meters, "fallback": "estimate"}) == ["estimate"]


def test_where_rapl_is_there_nothing_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rapl, "available", lambda _: (True, "2 zones"))
    monkeypatch.setattr(Nvml, "available", lambda _: (True, "1 GPU"))
    assert select_meters({**INSTRUMENTS, "meters": "auto", "fallback": "estimate"}) == ["rapl", "nvml"]
