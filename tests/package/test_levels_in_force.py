"""Levels that a package's runs say were in force are those of their cells."""

from typing import Any

import pytest
from frames_factory import cell

from framewatt.host.memory import RETURNED
from framewatt.package.verification.plan import in_force
from framewatt.study.cell import Chosen
from framewatt.study.options import HEAP_STAYS


@pytest.mark.parametrize(
    ("option", "level", "fact", "right", "wrong"),
    [
        ("heap", HEAP_STAYS, "heap", HEAP_STAYS, RETURNED),
        ("loss_read", "step", "loss_read", "step", "epoch"),
        ("update", "foreach", "update", "foreach", "fused"),
        ("weight_inputs", "removed", "weights_among_inputs", 0, 160),
    ],
)
def test_a_package_whose_runs_had_another_level_in_force_is_found_out(
    option: str, level: str, fact: str, right: Any, wrong: Any
) -> None:
    one = cell(options=(Chosen(option, level, default=False),))
    assert list(in_force(one, {"status": "ok", "workload": {"in_force": {fact: right}}})) == []
    assert list(in_force(one, {"status": "failed", "workload": None})) == []
    assert list(in_force(cell(), {"status": "ok", "workload": {"in_force": {}}})) == []
    for told in ({fact: wrong}, {}):
        (line,) = in_force(one, {"status": "ok", "workload": {"in_force": told}})
        assert line == f"workload.in_force.{fact}: the record states {told.get(fact)}, the cell {right}"
