"""What is compared covers the same parts of the machine: processors against a GPU, where only the GPU has a meter."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from frames_factory import cell
from records_factory import energy, run_record, window
from report_factory import STATISTICS, judged, material, page

from framewatt.figures import energy_time
from framewatt.frames.frames import runs_frame
from framewatt.frames.totals import OF_A_STUDY, Scope
from framewatt.report import Material
from framewatt.statistics.answers import answer

CPU, CUDA = cell("torch2onnx", provider="cpu"), cell("torch2onnx", provider="cuda")
JOULES = {
    # By the processors' estimate and by the GPU's counter: at work on the processors, the GPU rests for longer.
    CPU: {"cpu:estimate": 60.0, "gpu:0": 25.0},
    CUDA: {"cpu:estimate": 8.0, "gpu:0": 55.0},
}
THEN = Scope(unmetered=None)


def study_of(scope: Scope = OF_A_STUDY, left_out: tuple[str, ...] = ()) -> Material:
    """Six blocks of both cells, by these meters."""
    records = []
    for block in range(1, 7):
        for place, (one, joules) in enumerate(JOULES.items()):
            varied = 1 + 0.01 * ((block + place) % 3)
            domains: dict[str, Any] = {
                name: energy(varied * value, estimated=name == "cpu:estimate")
                for name, value in joules.items()
                if name not in left_out
            }
            if one == CPU:
                domains["gpu:0"]["unused"] = True
            record = run_record(
                windows={"process": window(domains), "steady": window(domains)},
                cell_id=one.id,
                cell=one.to_dict(),
                position=2 * block + place,
                study="synthetic",
                **dict.fromkeys(("repetition", "block"), block),
            )
            fixed = material().records[0]
            records.append(record | {name: fixed[name] for name in ("identity", "machine", "sampler")})
    runs, known = runs_frame(records, scope=scope), material()
    order = [{"cell": record["cell_id"], "repetition": record["repetition"]} for record in records]
    plan = {**known.plan, "cells": [{"id": one.id, **one.to_dict()} for one in JOULES], "order": order}
    made = judged(runs, known.epochs) | {"answers": answer(runs, STATISTICS, list(JOULES))}
    return dataclasses.replace(known, plan=plan, records=records, runs=runs, **made)


def answer_of(found: Material) -> dict[str, Any]:
    (row,) = found.answers[found.answers["quantity"] == "energy_per_sample_j"].to_dict("records")
    return row


def test_processors_do_not_win_because_they_have_no_meter(figures: Path) -> None:
    before, now = study_of(THEN), study_of()
    assert (answer_of(before)["best"], answer_of(before)["estimated"]) == (CPU.id, False)
    row = answer_of(now)
    assert (row["settled"], row["best"], row["estimated"]) == (True, CUDA.id, True)
    assert row["ratio"] == pytest.approx(85 / 63, rel=0.02)
    soup = page(now, figures)
    assert "cuda takes the least energy (estimated)" in soup.select_one(".head").text
    banner = soup.select_one("#estimate-banner").text
    assert banner.startswith("Energy partly estimated, not measured")
    assert "No energy counter was read" not in banner
    drawn = energy_time.draw(now.runs, now.cells)
    assert "Energy partly estimated, not measured" in [text.get_text() for text in drawn.texts]


def test_where_no_estimate_is_allowed_the_run_without_a_meter_has_no_total() -> None:
    for found in (study_of(Scope(unmetered="leave_out")), study_of(left_out=("cpu:estimate",))):
        row = answer_of(found)
        assert (row["settled"], row["without"], row["n_cells"]) == (False, CPU.id, 1)
        told = found.cells[found.cells["cell"] == CPU.id]["left_out_reasons"].iloc[0]
        assert "no meter covers the processors, which did all of the work" in told


def test_the_total_of_a_run_on_a_gpu_without_a_meter_is_unknown_and_never_that_of_the_processors() -> None:
    def total(device: str, one: Any, domains: dict[str, Any], scope: Scope = OF_A_STUDY) -> dict[str, Any]:
        windows = {"process": window(domains), "steady": window(domains)}
        record = run_record(windows=windows, cell_id=one.id, cell=one.to_dict(), device=device)
        frame = runs_frame([record], scope=scope)
        (row,) = frame[frame["domain"] == "total"].to_dict("records")
        return dict(row)

    processors = {"cpu:package-0": energy(60.0)}
    for domains in (processors, {"cpu:estimate": energy(60.0, estimated=True)}, {"cpu:psys": energy(60.0)}):
        row = total("cuda", CUDA, domains)
        assert row["valid"] is False
        assert row["reasons"] == "no meter covers the GPU, which did the work"
    assert total("cuda", cell("torch"), processors)["valid"] is False
    # A provider that computes on processors; a wall meter, which covers all; a study on processors.
    assert total("cuda", CPU, processors)["valid"] is True
    assert total("cuda", CUDA, {"external:wall": energy(90.0)})["valid"] is True
    assert total("cuda", CUDA, processors | {"gpu:0": energy(55.0)})["energy_gross_j"] == 115.0
    assert total("cpu", cell("torch"), processors)["valid"] is True
    assert total("cuda", CUDA, processors, THEN)["valid"] is True, "a package of before says what it said"
