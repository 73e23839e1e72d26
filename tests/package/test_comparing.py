"""Two packages side by side: what is refused, what is told, and with which exit code a comparison ends."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import package_factory
import pytest
from checkout import ROOT
from merged_factory import package_of

from framewatt.base.errors import FramewattError
from framewatt.comparing.compared import Compared, compare
from framewatt.comparing.side import Side, side_of
from framewatt.comparing.summary import lines_of, sentence_of
from framewatt.package.unpack import unpack

LONGER = {**package_factory.STUDY, "repetitions": 4}
CELL = "infer-resnet50-digits-torch-b8"


def side(root: Path, processors: int, watts: float = 1.0, study: dict[str, Any] = LONGER, **how: Any) -> Side:
    """A package of a machine, as one of two."""
    with mock.patch.object(package_factory, "STUDY", study):
        path = package_of(root / "made", processors, watts, **how)
    return side_of(path, unpack(path, root / "out"))


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Side]:
    """The same study, on two machines, at 20 times the watts, estimated, and under another window."""
    root = tmp_path_factory.mktemp("sides")
    shorter = {**LONGER, "window": {"minimum_s": package_factory.MINIMUM_S, "warm_up_batches": 3}}
    fewer = {**LONGER, "factors": LONGER["factors"][:1]}
    return {
        "old": side(root / "old", 4),
        "new": side(root / "new", 8),
        "hot": side(root / "hot", 8, 20.0),
        "estimated": side(root / "estimated", 8, estimated=True),
        "other": side(root / "other", 8, study=shorter),
        "fewer": side(root / "fewer", 8, study=fewer),
        "once": side(root / "once", 8, study={**LONGER, "repetitions": 1}),
    }


def compared(sides: dict[str, Side], old: str, new: str, quantity: str = "energy", margin: float = 0.05) -> Compared:
    return compare(sides[old], sides[new], quantity, margin)


def summing(side: Side, parts: list[str]) -> Side:
    """The side, as if the totals of its runs in turn summed some domains."""
    return replace(side, rows=side.rows.assign(parts=[parts[place % len(parts)] for place in range(len(side.rows))]))


def text_of(found: Compared) -> str:
    return "\n".join([*lines_of(found), sentence_of(found)])


class TestTold:
    def test_a_cell_that_costs_far_more_fails(self, sides: dict[str, Side]) -> None:
        found = compared(sides, "old", "hot")
        assert list(found.failing(strict=False)["cell"]) == list(found.cells["cell"])
        assert found.cells["ratio"].to_list() == pytest.approx([20, 20, 20], rel=0.05)
        assert "3 known to cost over 5 % more" in text_of(found)

    def test_the_other_way_round_it_costs_less(self, sides: dict[str, Side]) -> None:
        found = compared(sides, "hot", "old")
        assert found.failing(strict=True).empty
        assert set(found.cells["changed"]) == {"less"}

    def test_what_cannot_be_told_fails_where_that_is_asked_for(self, sides: dict[str, Side]) -> None:
        found = compared(sides, "old", "new")
        assert found.failing(strict=False).empty
        assert len(found.failing(strict=True)) == 3

    def test_the_machine_that_differs_is_told(self, sides: dict[str, Side]) -> None:
        told = {what: (old, new) for what, old, new in compared(sides, "old", "new").differs}
        assert told["processors"] == ("4", "8")
        assert "machine" in told
        assert "processors: 4 -> 8" in text_of(compared(sides, "old", "new"))

    def test_cells_of_one_package_alone_are_listed(self, sides: dict[str, Side]) -> None:
        found = compared(sides, "old", "fewer")
        assert (found.only_old, found.only_new) == (["train-resnet50-digits-torch-b16"], [])
        assert "Only in the first: train-resnet50-digits-torch-b16" in text_of(found)

    def test_a_cell_that_lost_its_runs_fails(self, sides: dict[str, Side]) -> None:
        new = sides["new"]
        rows = new.rows.assign(counts=new.rows["counts"] & (new.rows["cell"] != CELL))
        found = compare(sides["old"], Side(new.path, new.plan, rows, new.records, new.packages), "energy", 0.05)
        assert list(found.failing(strict=False)["cell"]) == [CELL]
        assert "no run counts any more" in text_of(found)

    def test_json_has_no_nan(self, sides: dict[str, Side]) -> None:
        json.dumps(compared(sides, "old", "new").to_dict(), allow_nan=False)


class TestRefused:
    @pytest.mark.parametrize(
        ("old", "new", "told"),
        [
            ("old", "old", "12 runs that .* has too"),
            ("old", "other", "another setting: window.warm_up_batches is 3, in .* 10"),
            ("old", "estimated", "that is ESTIMATED, in .* that is measured"),
            ("estimated", "old", "that is measured, in .* that is ESTIMATED"),
        ],
    )
    def test_what_does_not_compare(self, sides: dict[str, Side], old: str, new: str, told: str) -> None:
        with pytest.raises(FramewattError, match=told):
            compared(sides, old, new)

    @pytest.mark.parametrize(
        ("old", "new", "told"),
        [
            # One GPU fewer costs less, whatever the other one does.
            (["gpu:0 + gpu:1"], ["gpu:0"], "of gpu, in .* of gpu \\+ gpu"),
            (["cpu:package-0"], ["cpu:package-0 + cpu:dram-0"], "of cpu:dram \\+ cpu:package, in .* of cpu:package"),
            (["cpu:package-0"], ["cpu:package-0", "cpu:package-0 + cpu:dram-0"], ", in other runs cpu:package, in"),
            (["cpu:package-0", "gpu:3"], ["cpu:package-0"], "of cpu:package, in other runs gpu, in"),
        ],
    )
    def test_totals_that_sum_other_domains(
        self, sides: dict[str, Side], old: list[str], new: list[str], told: str
    ) -> None:
        with pytest.raises(FramewattError, match=told):
            compare(summing(sides["old"], old), summing(sides["new"], new), "energy", 0.05)

    def test_a_gpu_of_another_number_is_a_gpu(self, sides: dict[str, Side]) -> None:
        found = compare(summing(sides["old"], ["gpu:0"]), summing(sides["new"], ["gpu:3"]), "energy", 0.05)
        assert len(found.cells) == 3

    def test_runs_of_one_cell_that_are_estimated_in_part(self, sides: dict[str, Side]) -> None:
        mixed = [
            replace(side, rows=side.rows.assign(estimated=side.rows["repetition"] > 1))
            for side in (sides["old"], sides["new"])
        ]
        with pytest.raises(FramewattError, match="that is ESTIMATED, in other runs measured, in"):
            compare(*mixed, "energy", 0.05)

    def test_times_compare_whatever_the_meter_is(self, sides: dict[str, Side]) -> None:
        assert len(compared(sides, "old", "estimated", "time").cells) == 3

    def test_no_cell_in_common(self, sides: dict[str, Side]) -> None:
        plan = {**sides["new"].plan, "cells": []}
        other = Side(sides["new"].path, plan, sides["new"].rows, sides["new"].records, {})
        with pytest.raises(FramewattError, match="have no cell in common"):
            compare(sides["old"], other, "energy", 0.05)


def run_compare(sides: dict[str, Side], new: str, *words: str) -> "subprocess.CompletedProcess[str]":
    paths = f"'{sides['old'].path}' '{sides[new].path}'"
    return subprocess.run(
        [sys.executable, "-P", ROOT / "scripts/compare.py", "--archives", paths, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("new", "fail_above", "code", "told"),
    [
        ("hot", "5%", 1, "train-resnet50-digits-torch-b16 costs more than it may"),
        ("hot", "rubbish", 2, "FAIL_ABOVE: 'rubbish' is not a share"),
        ("hot", "", 2, "FAIL_ABOVE: '' is not a share"),
        ("once", "5%", 2, "no ratio has an interval (too few runs)"),
    ],
)
def test_exit_codes(sides: dict[str, Side], tmp_path: Path, new: str, fail_above: str, code: int, told: str) -> None:
    done = run_compare(sides, new, "--fail-above", fail_above, "--table", str(tmp_path / "x.csv"))
    assert done.returncode == code, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert told in done.stderr
    compared_at_all = new == "once" or code == 1
    assert (tmp_path / "x.csv").is_file() == (tmp_path / "x.json").is_file() == compared_at_all


def test_a_table_that_cannot_be_written_is_not_told_as_a_cell_that_costs_more(sides: dict[str, Side]) -> None:
    done = run_compare(sides, "new", "--table", "/proc/x.csv")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("framewatt: TABLE: /proc/x.csv cannot be written (")
    assert len(done.stderr.splitlines()) == 1
