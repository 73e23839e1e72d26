"""pyRAPL's faults, guarded: what is no number of joules never becomes one."""

import math
import sys
from types import ModuleType, SimpleNamespace

import pytest
from meter_values import values

from framewatt.base.errors import FramewattError
from framewatt.meters.pyrapl import PyRapl


class Measurement:
    """pyRAPL's measurement, whose results are scripted: a pair of packages and DRAM each, in microjoules."""

    results: list[tuple]

    def __init__(self, _label: str) -> None:
        self.result: SimpleNamespace | None = None

    def begin(self) -> None: ...
    def end(self) -> None:
        pkg, dram = self.results.pop(0)
        self.result = SimpleNamespace(pkg=pkg, dram=dram)


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """What pyRAPL will say, one after the other."""
    module = ModuleType("pyRAPL")
    Measurement.results = []
    module.setup, module.Measurement = (lambda: None), Measurement  # type: ignore[attr-defined]  # an empty module takes any name
    monkeypatch.setitem(sys.modules, "pyRAPL", module)
    return Measurement.results


def test_a_domain_is_what_has_a_number(results: list[tuple]) -> None:
    results += [([10.0, -1], None), ([2_500_000.0, -1], None)]
    meter = PyRapl()
    assert [channel.domain for channel in meter.open()] == ["cpu:package-0"]
    assert values(meter) == [2.5]


@pytest.mark.parametrize("bad", [[-200_000_000.0], [None], None])
def test_negative_and_none_are_failed_reads(results: list[tuple], bad: list | None) -> None:
    results += [([10.0], [3.0]), (bad, [1_000_000.0])]
    meter = PyRapl()
    meter.open()
    package, dram = values(meter)
    assert math.isnan(package)
    assert dram == 1.0


def test_where_it_has_no_number_at_all_it_is_an_error(results: list[tuple]) -> None:
    results += [(None, None)]
    with pytest.raises(FramewattError, match="meter pyrapl: its result has no number"):
        PyRapl().open()


def test_a_machine_without_rapl_is_a_reason() -> None:
    available, reason = PyRapl().available()
    # The real pyRAPL, on this machine.
    assert available or reason.startswith(("pyRAPL finds no RAPL here", "pyRAPL may not read"))
