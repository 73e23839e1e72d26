"""A neighbour was busy for some minutes: what it disturbed is in no number, and the page says so."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from frames_factory import Cell
from records_factory import energy, run_record, window
from report_factory import MXNET, STATISTICS, TENSORFLOW, TORCH, judged, material, page

from framewatt.frames.frames import runs_frame
from framewatt.report import Material
from framewatt.runs.aside import set_aside
from framewatt.statistics.answers import answer
from framewatt.witness.judgement import Seen, judge_window
from framewatt.witness.window import DISTURBED_BY, WITNESSED

QUIET_S = {TORCH: 0.20, TENSORFLOW: 0.45, MXNET: 0.11}
"""Seconds that 100 samples take where nobody disturbs them, at 6.6 W."""

VARIATION = (1.0, 1.02, 0.98, 1.01, 0.99, 1.0)
NOTHING = {name: 0.0 for name in WITNESSED if name != DISTURBED_BY}
Slowed = dict[tuple[Cell, int], float]


def witness(others: float) -> dict[str, Any]:
    stalls_s = {"cpu": 0.0, "memory": 0.0, "io": 0.0}
    return NOTHING | judge_window(Seen(10.0, 0.0, 2.0, 20 * others, 0.0, stalls_s, 0.0, 0.0, 0.0))


def records_of(slowed: Slowed) -> list[tuple[Path, dict[str, Any]]]:
    """Records of six blocks: what is slowed took so many times as long, and others took half of the machine from it."""
    found, number = [], 0
    for block in range(1, len(VARIATION) + 1):
        for place, (cell, quiet_s) in enumerate(QUIET_S.items()):
            number += 1
            times = slowed.get((cell, block), 1.0)
            seconds = quiet_s * VARIATION[(block + 2 * place) % len(VARIATION)] * times
            steady = window({"cpu:package-0": energy(6.6 * seconds)})
            steady |= {"duration_s": seconds, "witness": witness(0.5 if times > 1 else 0.0)}
            record = run_record(
                windows={"process": steady, "steady": steady},
                chain={"sequence": number, "previous_sha256": "0" * 64},
                cell_id=cell.id,
                cell=cell.to_dict(),
                position=number,
                study="synthetic",
                sampler={
                    "rate_per_s": 99.0,
                    "reads": 990,
                    "missed_reads": 10,
                    "core_share": 0.004,
                    "lateness_p99_s": 0.001,
                },
                **dict.fromkeys(("repetition", "block"), block),
            )
            record["identity"] = material().records[0]["identity"]
            record["machine"] |= {"memory_b": 2**34, "gpus": [], "kernel": "6.1"}
            found.append((Path("measure", cell.id, str(block), "run.json"), record))
    return found


def study_of(slowed: Slowed, disturbance: str = "set_aside") -> Material:
    """The study with these runs slowed, and with everything that its page reads."""
    held = set_aside(records_of(slowed), {"disturbance": disturbance})
    runs, one = runs_frame(held.values()), material()
    order = [{"cell": record["cell_id"], "repetition": record["repetition"]} for record in held.values()]
    cells = [{"id": cell.id, **cell.to_dict()} for cell in QUIET_S]
    settings = {**one.plan["settings"], "repetitions": len(VARIATION), "disturbance": disturbance}
    made = judged(runs, one.epochs) | {"answers": answer(runs, STATISTICS, list(QUIET_S))}
    plan = {**one.plan, "cells": cells, "order": order, "settings": settings}
    return dataclasses.replace(one, plan=plan, records=list(held.values()), runs=runs, **made)


def mean_mj(found: Material, cell: Cell) -> float:
    rows = found.cells[(found.cells["quantity"] == "energy_per_sample_j") & (found.cells["cell"] == cell.id)]
    return 1000 * float(rows["mean"].iloc[0])


MINUTES: Slowed = {(MXNET, 2): 17.0, (MXNET, 3): 25.0}
"""What a neighbour did in four minutes."""


def test_two_slow_runs_of_six_no_longer_make_the_mean_and_the_answer(figures: Path) -> None:
    before, now = study_of(MINUTES, "flag"), study_of(MINUTES)
    assert mean_mj(before, MXNET) == pytest.approx(56, rel=0.05)
    assert mean_mj(now, MXNET) == pytest.approx(7.26, rel=0.01)
    assert mean_mj(now, TORCH) == mean_mj(before, TORCH)
    (was,) = before.answers[before.answers["quantity"] == "energy_per_sample_j"].to_dict("records")
    (answered,) = now.answers[now.answers["quantity"] == "energy_per_sample_j"].to_dict("records")
    assert (was["settled"], was["best"].count(";")) == (False, 1)
    assert (answered["settled"], answered["best"], answered["next"]) == (True, MXNET.id, TORCH.id)
    assert answered["ratio"] == pytest.approx(0.20 / 0.11, rel=0.02)
    assert 1.5 < answered["ratio_low"] < answered["ratio"] < answered["ratio_high"] < 2.2
    soup = page(now, figures)
    head = soup.select_one(".head").text
    assert "mxnet takes the least energy" in head
    assert "16 of 18 planned runs count. 2 of 18 runs were set aside, because others took more than 25 %" in head
    rows = [[part.text for part in row.select("td")] for row in soup.select("#table-aside-runs tbody tr")]
    assert rows == [[MXNET.id, "2"], [MXNET.id, "3"]]
    assert "other work took 50 % of the processors" in soup.select_one("#table-aside-runs caption").text
    assert not soup.select("#aside-banner, #table-failed-runs")
    assert "With all runs, also those that were set aside: Not settled between" in soup.select_one("#answers").text


def test_a_study_that_nobody_disturbed_says_the_same_as_before(figures: Path) -> None:
    flagged, now = study_of({}, "flag"), study_of({})
    for name in ("runs", "cells", "answers", "comparisons", "drift", "choices"):
        assert getattr(now, name).equals(getattr(flagged, name)), name
    assert "set aside" not in page(now, figures).text
    # The same answer with and without a run is said to be the same.
    assert "With all runs the answers by energy are the same." in page(study_of({(TENSORFLOW, 2): 1.5}), figures).text


def test_where_most_runs_of_a_cell_were_disturbed_the_page_says_so_first(figures: Path) -> None:
    told = "Others disturbed most runs of 1 of 3 cells, and these do not count."
    # Two runs of the cell are left: too few to tell anything of it, and the group is open.
    found = study_of({(MXNET, block): 3.0 for block in (1, 2, 3, 4)})
    first = next(page(found, figures).select_one(".head").stripped_strings)
    assert first == f"{told} Close other programs, or measure over night."
    (answered,) = found.answers[found.answers["quantity"] == "energy_per_sample_j"].to_dict("records")
    assert answered["settled"] is False
    # None is left: it may be the cheapest all the same.
    found = study_of({(MXNET, block): 3.0 for block in range(1, 7)})
    (answered,) = found.answers[found.answers["quantity"] == "energy_per_sample_j"].to_dict("records")
    assert (answered["settled"], answered["best"], answered["without"]) == (False, f"{TORCH.id}; {MXNET.id}", MXNET.id)
    assert "too disturbed to be compared" in answered["note"]
    head = page(found, figures).select_one(".head").text
    assert told in head
    assert "Not settled between torch and mxnet" in head
    assert "how far they are apart is not known" in head
    assert "Not compared, since none of its runs counts: mxnet." in head
