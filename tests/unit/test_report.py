"""The report: what it must contain, and what must not get into it."""

import dataclasses
import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import frames_factory
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from documented_commands import printed_in

from framewatt.figures import energy_runtime_batch, energy_time, epochs
from framewatt.figures.deploy import draw as draw_deploy
from framewatt.figures.save import save
from framewatt.frames.factor_columns import factors_of
from framewatt.frames.frames import TOTAL
from framewatt.planning.plan import planned_cells
from framewatt.replication.contract import Finding, claims_table
from framewatt.report import Material, build_report, deploy, problems, words
from framewatt.report.answered import answered
from framewatt.report.head import head
from framewatt.statistics.answers import answer
from framewatt.statistics.cells import summarise_cells
from framewatt.statistics.comparisons import compare_cells
from framewatt.statistics.correlation import correlate
from framewatt.statistics.deploy import judge_choices
from framewatt.statistics.drift import drift
from framewatt.statistics.equivalence import TestSets
from framewatt.statistics.omnibus import omnibus
from framewatt.statistics.to_accuracy import to_accuracy
from framewatt.statistics.trends import fit_trends

STATISTICS = {
    "compare": ["runtime", "provider"],
    "test": "t",
    "correction": "holm",
    "alpha": 0.05,
    "confidence": 0.95,
    "equal_margin": 0.05,
    "noise": 0.05,
    "accuracy_targets": [0.5],
    "accuracy_margin": 0.01,
}
FIGURES = ("energy_time", "energy_runtime_batch", "deploy", "epochs")
TABLES = (
    *("energy_time", "accuracy", "fairness", "export_agreement", "deploy", "comparisons", "epochs"),
    *("to_accuracy", "failures"),
)
FAILURE = "took longer than timeout_s"


def run_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """A run record, in the fields that the report reads, from a total row of the runs frame."""
    ok = row["status"] == "ok"
    energy = {"instrument": row["instrument"], "source": "energy_j", "estimated": row["estimated"]}
    return {
        "framewatt_version": "1.0",
        "cell_id": row["cell"],
        "cell": {name: row[name] for name in frames_factory.FACTORS},
        "workload": None,
        "repetition": row["repetition"],
        "position": row["position"],
        "clock": {"monotonic_ns": row["position"], "utc": "2026-01-01T00:00:00+00:00"},
        "status": row["status"],
        "valid": row["valid"],
        "reasons": [row["reasons"]] if row["reasons"] else [],
        "flags": ["attempt 2; earlier ones failed"] if row["position"] == 1 else [],
        "windows": {"steady": {"domains": {"cpu:package-0": energy}}} if ok else {},
        "primary_window": "steady" if ok else None,
        "identity": {
            "code": {"commit": "c0ffee5", "modified": False, "sha256": "5eed"},
            "data_sha256": "da7a",
            "artefact_sha256": f"a{row['batch_size']}",
            "environment": {"name": row["runtime"]},
        },
        "machine": {"cpu_model": "Abacus 3000", "memory_b": 2**34, "gpus": [], "kernel": "6.1", "fingerprint": "f"},
        "preflight": [{"topic": "SMT", "found": "on", "meaning": "threads share a core", "remedy": "switch it off"}],
        "sampler": {
            "rate_per_s": 99.0 + row["repetition"] / 10,
            "reads": 990,
            "missed_reads": 10,
            "core_share": 0.004,
            "lateness_p99_s": 0.0012,
        },
    }


@functools.cache
def frames(*, estimated: bool, repetitions: int, fail: bool) -> dict[str, pd.DataFrame]:
    """The frames of a study in the demo's shape, with their statistics; not to be changed."""
    runs = frames_factory.study_frame(repetitions, estimated=estimated)
    if fail:
        runs = _with_failure(runs)
    train = [frames_factory.cell(runtime, "train", 16) for runtime in ("torch", "tensorflow", "mxnet")]
    epochs = frames_factory.epochs_frame(train, repetitions, estimated=estimated)
    return {"runs": runs, "epochs": epochs} | _judged(runs, epochs)


def _judged(runs: pd.DataFrame, epochs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {
        "cells": summarise_cells(runs, STATISTICS),
        "answers": answer(runs, STATISTICS),
        "drift": drift(runs, STATISTICS),
        "comparisons": compare_cells(runs, STATISTICS),
        "correlations": correlate(runs, STATISTICS),
        "omnibus": omnibus(runs, STATISTICS),
        "trends": fit_trends(epochs, runs, STATISTICS),
        "to_accuracy": to_accuracy(epochs, runs, STATISTICS),
        "choices": judge_choices(runs, STATISTICS),
    }


def material(
    *, estimated: bool = False, repetitions: int = 4, fail: bool = False, idle_after_w: float = 12.5, **plan: Any
) -> Material:
    """A study in the demo's shape with everything that the report reads."""
    made = frames(estimated=estimated, repetitions=repetitions, fail=fail)
    runs = made["runs"]
    totals = runs[runs["domain"] == TOTAL]
    cells = (
        totals[["cell", *factors_of(totals)]].drop_duplicates("cell").rename(columns={"cell": "id"}).to_dict("records")
    )
    settings = {
        "window": {"warm_up_batches": 5, "minimum_s": 3},
        "training": {"epochs": 3, "batch_size": 32, "optimizer": "sgd", "learning_rate": 0.001},
        "weights": "trained",
        "statistics": STATISTICS,
        "cool_down": {"rest_s": 0.5, "idle_band": None, "timeout_s": 300},
        "instruments": {"period_s": 0.01},
    }
    defaults: dict[str, Any] = {
        "study": "synthetic",
        "title": "What does it cost?",
        "description": "A study of nothing.",
        "device": "cpu",
        "repetitions": repetitions,
        "seed": 1,
        "order": [{"cell": one["id"], "repetition": r} for one in cells for r in range(1, repetitions + 1)],
        "cells": cells,
        "excluded": ["infer-resnet50-digits-mxnet-b1024"],
        "unsupported": [{"cell": "train-resnet50-digits-tf2onnx-cpu-b16", "reason": "ONNX Runtime does not train"}],
        "significance": {"sentence": "With 4 blocks little can be told."},
        "settings": settings,
    }
    idle = {"mean_power_w": 12.3, "sd_power_w": 0.4, "estimated": estimated, "instrument": "rapl"}
    model = {"model": "resnet50-digits-torch", "framework": "torch", "samples": 360, "opset": 18, "checker": "ok"}
    return Material(
        plan=defaults | plan,
        records=[run_record(row) for row in totals.to_dict("records")],
        idle={"duration_s": 10.0, "domains": {"cpu:package-0": idle}},
        idle_after={"duration_s": 10.0, "domains": {"cpu:package-0": idle | {"mean_power_w": idle_after_w}}},
        models=[{"model": "resnet50-digits-torch", "status": "failed", "reason": "out of memory"}],
        exports=[
            model | {"status": "ok", "reason": None, "max_abs_difference": 2e-6, "tolerance": 1e-3},
            model | {"model": "resnet50-digits-mxnet", "status": "invalid", "reason": "ONNX Runtime: no kernel"},
        ],
        environments=[
            {"name": "torch", "status": "ok", "reason": None, "lock_sha256": "10c4", "python_version": "3.11.9"},
            {"name": "mxnet/cpu", "status": "failed", "reason": "uv pip: no wheel", "lock_sha256": "10c5"},
        ],
        **made,
    )


def _with_failure(runs: pd.DataFrame) -> pd.DataFrame:
    """The first run failed; its numbers are left in, for nothing may count them."""
    first = runs["position"] == 1
    runs = runs[~first | (runs["domain"] == TOTAL)].copy()
    runs.loc[runs["position"] == 1, ["status", "valid", "reasons"]] = ["failed", False, FAILURE]
    return runs


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with figures of an estimated study."""
    folder, found = tmp_path_factory.mktemp("figures"), material(estimated=True)
    drawn = {
        "energy_time": energy_time.draw(found.runs, found.cells),
        "energy_runtime_batch": energy_runtime_batch.draw(found.runs, found.cells),
        "deploy": draw_deploy(found.runs, found.choices),
        "epochs": epochs.draw(found.epochs, found.runs),
    }
    for name, figure in drawn.items():
        save(figure, [folder / f"{name}.svg"])
    return folder


@pytest.fixture(scope="module")
def plain(figures: Path) -> str:
    """The page of a study in which nothing is odd."""
    return build_report(material(), figures)


def page(found: Material, figures: Path) -> BeautifulSoup:
    return BeautifulSoup(build_report(found, figures), "html.parser")


def test_page_holds_every_table_and_figure_under_its_id(plain: str) -> None:
    soup = BeautifulSoup(plain, "html.parser")
    for name in TABLES:
        table = soup.select_one(f"table#table-{name}")
        assert table is not None
        assert table.caption is not None
        assert table.select("th[scope=col]")
    for name in FIGURES:
        figure = soup.select_one(f"figure#figure-{name}")
        assert figure is not None
        assert figure.figcaption is not None
        svg = figure.select_one("svg[role=img]")
        assert svg is not None
        assert len(svg["aria-label"]) > 20


def test_sections_come_in_the_order_of_a_reviewer(plain: str) -> None:
    found = [section["id"] for section in BeautifulSoup(plain, "html.parser").select("main > section")]
    assert found == [
        "measured",
        "machine",
        "answers",
        "deploy",
        "figures",
        "tables",
        "problems",
        "flags",
        "preflight",
        "significance",
        "reproduce",
    ]


def test_how_weights_were_made_is_told(plain: str) -> None:
    measured = BeautifulSoup(plain, "html.parser").select_one("section#measured")
    assert measured is not None
    assert "3 epochs of SGD at learning rate 0.001, in batches of 32" in measured.text


def test_what_a_study_replicates_has_a_section_of_its_own(figures: Path) -> None:
    claim = Finding("a-claim", "Abstract", "torch is cheaper", "2", "of 2", 1.0, 2, "in part", 0.03, "not so: BERT")
    found = material()
    plan = dict(found.plan) | {"settings": found.plan["settings"] | {"replicates": "alizadeh2024"}}
    found = dataclasses.replace(found, plan=plan, replication=[claims_table("alizadeh2024", [claim])])
    section = page(found, figures).select_one("section#replication")
    assert section is not None
    assert section.h2 is not None
    assert section.h2.text == "Beside alizadeh2024"
    told = [cell.text for cell in section.select("table#table-claims td")]
    assert told == ["Abstract", "torch is cheaper", "2 of 2", "1 of 2", "in part", "0.0300", "not so: BERT"]
    assert "replication/claims.csv" in section.text


def test_page_needs_no_network_and_no_other_file(plain: str) -> None:
    text, soup = plain, BeautifulSoup(plain, "html.parser")
    references = [
        tag[name] for tag in soup.find_all(True) for name in ("src", "href", "xlink:href") if tag.has_attr(name)
    ]
    assert references
    assert all(reference.startswith(("#", "data:image/png;base64,")) for reference in references)
    assert not soup.select("script, link, iframe, img, object, embed")
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_ids_are_unique_and_every_reference_has_its_target(plain: str) -> None:
    text, soup = plain, BeautifulSoup(plain, "html.parser")
    ids = [tag["id"] for tag in soup.find_all(id=True)]
    assert len(ids) == len(set(ids))
    references = [tag[n] for tag in soup.find_all(True) for n in ("href", "xlink:href") if tag.has_attr(n)]
    targets = {reference[1:] for reference in references if reference.startswith("#")}
    targets |= set(re.findall(r"url\(#([^)]+)\)", text))
    assert any(target.startswith("svg-energy_time-") for target in targets)
    assert targets <= set(ids)
    assert "<?xml" not in text
    assert "<!DOCTYPE svg" not in text
    assert text.count("<!DOCTYPE") == 1


@pytest.mark.parametrize("estimated", [True, False])
def test_banner_shows_when_and_only_when_energy_is_estimated(figures: Path, estimated: bool) -> None:
    soup = page(material(estimated=estimated), figures)
    banner = soup.select_one("#estimate-banner")
    assert (banner is not None) == estimated
    assert ("Energy estimated, not measured" in soup.select_one("p.lead").text) == estimated
    assert ("estimated, not measured" in soup.select_one("#figure-energy_time figcaption").text) == estimated
    assert ("(estimated)" in soup.select_one("#table-energy_time").text) == estimated


def test_a_measured_total_beside_an_estimated_domain_is_measured(figures: Path) -> None:
    found = material()
    runs = found.runs.copy()
    runs.loc[runs["domain"] != TOTAL, "estimated"] = True
    assert page(dataclasses.replace(found, runs=runs), figures).select_one("#estimate-banner") is None


def test_hostile_texts_are_escaped(figures: Path) -> None:
    hostile = '<script>alert("1")</script>'
    found = material(title=hostile, description=hostile, fail=True, excluded=[hostile])
    found.records[0]["reasons"][:] = [hostile]
    text = build_report(found, figures)
    assert "<script" not in text
    assert BeautifulSoup(text, "html.parser").h1.text == hostile
    assert hostile in BeautifulSoup(text, "html.parser").select_one("#table-failed-runs").text


def test_failed_run_is_listed_with_its_reason_and_does_not_count(figures: Path) -> None:
    found = material(fail=True)
    soup = page(found, figures)
    row = soup.select_one("#table-failed-runs tbody tr")
    assert [cell.text for cell in row.select("td")] == [found.records[0]["cell_id"], "1", "failed", FAILURE]
    assert f"{found.planned - 1} of {found.planned} planned runs count" in soup.select_one("p.lead").text


def test_what_is_missing_or_left_out_is_listed_with_its_reason(figures: Path) -> None:
    found = material()
    lost = found.records[-1]
    soup = page(dataclasses.replace(found, records=found.records[:-1]), figures)
    assert lost["cell_id"] in soup.select_one("#table-missing-runs").text
    assert "uv pip: no wheel" in soup.select_one("#table-failed-environments").text
    assert "ONNX Runtime: no kernel" in soup.select_one("#table-failed-exports").text
    left_out = soup.select_one("#table-left-out").text
    assert "excluded by the study" in left_out
    assert "unsupported: ONNX Runtime does not train" in left_out


def test_reproduction_names_commands_locks_and_hashes(plain: str) -> None:
    assert printed_in(plain) == [
        "git checkout c0ffee5",
        "snakemake --cores 1 report --config study=synthetic",
        "snakemake --cores 1 archive --config study=synthetic",
    ]
    text = BeautifulSoup(plain, "html.parser").select_one("#reproduce").text
    for expected in (
        "10c4",
        "da7a",
        "5eed",
    ):
        assert expected in text


def test_nothing_that_counts_is_said_in_words(figures: Path) -> None:
    found = material()
    runs = found.runs[found.runs["domain"] == TOTAL].assign(status="failed", valid=False)
    epochs = found.epochs.iloc[:0]
    soup = page(dataclasses.replace(found, runs=runs, epochs=epochs, **_judged(runs, epochs)), figures)
    assert "the study has no answer" in soup.select_one("p.lead").text
    assert f"0 of {found.planned} planned runs count" in soup.select_one("p.lead").text


def test_frames_read_back_from_csv_give_the_same_page(figures: Path, tmp_path: Path) -> None:
    found = material(fail=True)
    names = ("cells", "answers", "comparisons", "correlations", "drift", "omnibus", "trends", "to_accuracy", "choices")
    for name in names:
        getattr(found, name).to_csv(tmp_path / name, index=False)
    again = dataclasses.replace(found, **{name: pd.read_csv(tmp_path / name) for name in names})
    assert build_report(again, figures) == build_report(found, figures)


def answered_study(levels: dict, **settings: Any) -> Material:
    """A study of these joules of a sample, whose cells are its plan's."""
    runs = frames_factory.runs_frame(levels)
    one = material()
    statistics = STATISTICS | settings
    planned = [{"id": name.id, **name.to_dict()} for name in levels]
    order = [{"cell": name.id, "repetition": r + 1} for name, values in levels.items() for r in range(len(values))]
    plan = {
        **one.plan,
        "cells": planned,
        "order": order,
        "settings": {**one.plan["settings"], "statistics": statistics},
    }
    made = _judged(runs, one.epochs) | {
        "answers": answer(runs, statistics, levels),
        "omnibus": omnibus(runs, statistics),
    }
    return dataclasses.replace(one, plan=plan, records=[], runs=runs, **made)


TORCH, TENSORFLOW, MXNET = (frames_factory.cell(name) for name in ("torch", "tensorflow", "mxnet"))


def test_the_head_names_the_one_that_costs_least_with_its_interval_and_blocks() -> None:
    for cheap, dear in ((TORCH, TENSORFLOW), (TENSORFLOW, TORCH)):
        found = answered_study({cheap: [1.0, 1.1, 0.9, 1.0], dear: [2.02, 2.2, 1.8, 1.98]})
        # Ratios 2.02, 2, 2, 1.98: 1 - 1/2 = 50 %; Student's interval of their logarithms is 1.974 to 2.026.
        assert head(found) == (
            f"On this machine, in this session: {cheap.runtime} costs least energy for one sample "
            f"(Inference, batch 1 (resnet50, digits)), 50 % less than {dear.runtime} (95 % interval 49 to 51 %), "
            "after 4 blocks. 8 of 8 planned runs count."
        )


def test_the_head_says_what_is_not_settled_and_what_the_others_cost_at_least() -> None:
    near = [1.00, 1.02, 0.99, 1.01, 1.00, 1.01]
    dear = [1.50, 1.52, 1.49, 1.50, 1.51, 1.50]
    found = answered_study({TORCH: near, TENSORFLOW: [1.001 * j for j in near[::-1]], MXNET: dear})
    assert head(found).startswith(
        "On this machine, in this session: Not settled between torch and tensorflow in energy for one sample "
        "(Inference, batch 1 (resnet50, digits)): less than 2.2 % apart; the other, mxnet, costs at least 47 % more; "
        "after 6 blocks."
    )


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ({TORCH: [1.0, 1.1]}, "No two comparable cells have an energy that counts, so the study has no answer."),
        ({TORCH: [None], MXNET: [None]}, "No two comparable cells have an energy that counts"),
        ({TORCH: [1.0, 1.1], MXNET: [None, None]}, "No two comparable cells have an energy that counts"),
        ({TORCH: [1.0], MXNET: [9.0]}, "digits)): one block says nothing of the noise; after 1 block."),
        ({TORCH: [1.0] * 3, MXNET: [2.0] * 3}, "how far they are apart is not known; after 3 blocks."),
        ({TORCH: [1.0] * 8, MXNET: [2.0] * 8}, "50 % less than mxnet (no interval: the ratio is the same in every bl"),
        ({TORCH: [1.0, None, 1.1], MXNET: [None, 2.0, None]}, "one block says nothing of the noise; after 0 blocks"),
    ],
)  # fmt: skip
def test_a_study_with_too_little_says_so(levels: dict, told: str) -> None:
    assert told in head(answered_study(levels))


def test_runs_that_are_no_blocks_are_no_blocks_in_the_head() -> None:
    found = answered_study({TORCH: [1.0, 1.1, 0.9, 1.0], MXNET: [2.0, 2.2, 1.8]}, test="welch")
    assert head(found).endswith("after 3 runs of each. 7 of 7 planned runs count.")
    assert head(dataclasses.replace(found, plan={**found.plan, "source": "files"})).startswith(
        "In the runs that were read: torch costs least"
    )


def test_one_disturbed_run_gives_no_sentence_against_the_one_that_costs_less_in_all_others() -> None:
    base = [1.0, 1.03, 0.98, 1.01, 0.97, 1.02, 1.04, 0.99, 1.0, 1.01, 0.96, 1.02]
    cheaper = [0.9 * j * f for j, f in zip(base, [1, 1.01, 0.99] * 4, strict=True)]
    disturbed = [*cheaper[:-1], 25 * cheaper[-1]]
    found = answered_study({TORCH: base, MXNET: disturbed})
    assert "Not settled between torch and mxnet" in head(found)
    said = " ".join(sentence for one in words.answers(found) for sentence in one.sentences)
    assert "torch costs least" not in said
    flags = found.comparisons["flags"]
    assert flags.str.contains("which costs more depends on the estimate").any()


def test_a_study_that_drifts_says_so_among_its_answers_and_flags() -> None:
    rising = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
    found = answered_study({TORCH: rising, MXNET: [2 * j for j in rising], TENSORFLOW: [3 * j for j in rising]})
    said = " ".join(sentence for one in words.answers(found) for sentence in one.sentences)
    assert (
        "Over the study energy drifted: the last runs took 50 % more than the first (r = 1.00 over 6 blocks)." in said
    )
    (row, _) = next(table.rows for table in problems.flag_tables(found) if table.name == "drift")
    assert row[:3] == ["energy_per_sample_j", "6 blocks", "+50"]
    steady = answered_study({TORCH: [1.0, 1.1, 0.9, 1.0], MXNET: [2.0, 2.2, 1.8, 2.1]})
    assert "drift" not in {table.name for table in problems.flag_tables(steady)}


def test_one_procedure_speaks_unless_the_study_asks_for_another() -> None:
    levels = {TORCH: [1.0, 1.1, 0.9, 1.0], MXNET: [2.0, 2.2, 1.8, 2.1], TENSORFLOW: [3.0, 3.2, 2.8, 3.1]}
    for test, beside in (("t", False), ("wilcoxon", True)):
        said = " ".join(s for one in words.answers(answered_study(levels, test=test)) for s in one.sentences)
        assert "torch costs least energy" in said
        assert ("Friedman" in said) == beside
        assert "significant" not in said


def test_largest_variation_is_named_with_its_cell() -> None:
    found = material()
    cells = found.cells.copy()
    row = cells.index[(cells["quantity"] == "energy_per_sample_j")][2]
    cells.loc[row, "cv_percent"] = 104.0
    answer = next(a for a in words.answers(dataclasses.replace(found, cells=cells)) if "repeat" in a.question)
    assert "104 %" in answer.sentences[0]
    assert cells.loc[row, "cell"] in answer.sentences[0]
    assert answer.sentences[1].startswith("1 of 15 cells")


def test_a_calibration_that_others_disturbed_is_told(figures: Path) -> None:
    found = material()
    cause = "other work took 12 % of the processors"
    calibrated = {"disturbed": [cause], "unknown": None}
    disturbed = dataclasses.replace(found, idle_after={**found.idle_after, "witness": calibrated})
    assert f"after them, {cause}" in page(disturbed, figures).text
    assert cause not in page(found, figures).text


@pytest.mark.parametrize(("idle_after_w", "told"), [(12.5, False), (20.0, True)])
def test_idle_power_that_changed_over_the_study_is_told(figures: Path, idle_after_w: float, told: bool) -> None:
    text = page(material(idle_after_w=idle_after_w), figures).get_text(" ", strip=True)
    assert (
        "cpu:package-0 from 12.3\N{NO-BREAK SPACE}W to 20.0\N{NO-BREAK SPACE}W: the uncertainty of net energy holds it"
        in text
    ) == told


def recommended(energies: dict, accuracy: dict | None = None, *, estimated: bool = False, **settings: Any) -> list[str]:
    """What the report says of what to deploy, of models that were tested on 5,000 samples."""
    runs = frames_factory.runs_frame(energies, None, accuracy, estimated=estimated)
    found = material()
    plan = {**found.plan, "settings": {**found.plan["settings"], **settings}}
    tested = TestSets(samples={one.id: 5000 for one in energies})
    made = _judged(runs, found.epochs) | {"choices": judge_choices(runs, STATISTICS, tested)}
    found = dataclasses.replace(found, plan=plan, runs=runs, **made)
    ((task, sentences),) = deploy.recommendations(found)
    assert task == "resnet50 on digits"
    return sentences


STEADY = [1.0, 1.01, 0.99, 1.02, 0.98, 1.03, 0.97, 1.04]


def test_the_best_is_told_with_what_the_next_takes_and_what_inferences_take() -> None:
    torch, onnx = frames_factory.cell("torch"), frames_factory.cell("torch2onnx")
    costs = {"intensity_g_per_kwh": 360.0, "intensity_source": "", "price": {"per_kwh": 0.1, "currency": "EUR"}}
    dear = [2 * j * f for j, f in zip(STEADY, [1, 1.01, 0.99, 1] * 2, strict=True)]
    said = recommended(
        {torch: dear, onnx: STEADY}, dict.fromkeys((torch, onnx), [0.99] * 8), estimated=True, costs=costs
    )
    assert said[0] == (
        "torch is the most accurate, 0.990; equal to it within 0.01: torch2onnx/cpu (0.990, p < 0.001, by the size of "
        "a test set of 5000 samples)."
    )
    assert said[1].replace("\N{NO-BREAK SPACE}", " ") == (
        "Least energy a sample: torch2onnx/cpu, 1.00 J (estimated); torch takes 2.00 times as much [1.99, 2.01]."
    )
    assert said[4] == (
        "1,000 inferences take 0.000279 kWh, 0.100 gCO2e, 2.79e-05 EUR (estimated) by torch2onnx/cpu; "
        "0.000558 kWh, 0.201 gCO2e, 5.58e-05 EUR (estimated) by torch, 2.00 times as much [1.99, 2.01]."
    )
    assert said[5] == "On the Pareto front of mean energy, latency and accuracy: torch2onnx/cpu."


def test_no_best_is_told_where_nothing_shows_one() -> None:
    torch, batched = frames_factory.cell("torch"), frames_factory.cell("torch", batch_size=32)
    said = recommended({torch: [1.0, 1.2, 1.1], batched: [1.05, 1.15, 1.0]}, dict.fromkeys((torch, batched), [1.0] * 3))
    assert said[1].replace("\N{NO-BREAK SPACE}", " ") == (
        "Least energy a sample: not settled; torch batch 32, 1.07 J, and torch batch 1 (1.03 times as much "
        "[0.859, 1.23]) may be the best."
    )


def test_less_accurate_choices_are_left_out_and_unknown_accuracy_is_told() -> None:
    torch, onnx = frames_factory.cell("torch"), frames_factory.cell("torch2onnx")
    energies = {torch: [2 * j for j in STEADY], onnx: STEADY}
    said = recommended(energies, {torch: [0.9] * 8, onnx: [0.8] * 8})
    assert said[0] == (
        "torch is the most accurate, 0.900; not shown to be equal, and left out below: "
        "torch2onnx/cpu (0.800, p = 1, by the size of a test set of 5000 samples)."
    )
    assert said[1].endswith("; there is no other choice.")
    said = recommended(energies, dict.fromkeys(energies, [float("nan")] * 8))
    assert said[0] == "Accuracy is unknown of every choice, so that choices are compared without it."
    assert said[-1] == "On the Pareto front of mean energy, latency: torch2onnx/cpu."


def test_what_the_study_leaves_out_and_a_cell_without_runs_are_told() -> None:
    one = material()
    levels = one.plan["cells"][0]
    gone = {**levels, "id": "gone", "runtime": "tvm"}
    left_out = [{"cell": "gone", "repetition": 2, "files": ["gone-2.csv"], "reason": "the cable was loose"}]
    found = material(cells=[*one.plan["cells"], gone], left_out=left_out)
    by_id = {table.name: table.rows for table in problems.problem_tables(found)}
    assert by_id["left-out-runs"] == [["gone", "2", "gone-2.csv", "the cable was loose"]]
    assert by_id["empty-cells"] == [["gone", "1 run left out by the study"]]
    found = dataclasses.replace(found, answers=answer(found.runs, STATISTICS, planned_cells(found.plan)))
    said = " ".join(sentence for one in words.answers(found) for sentence in one.sentences)
    assert "Not compared, since none of its runs counts: tvm." in said
    assert "Not compared" not in " ".join(s for told in words.answers(one) for s in told.sentences)
    assert "empty-cells" not in {table.name for table in problems.problem_tables(one)}


def test_only_a_planned_run_can_be_missing() -> None:
    one = material()
    first = (one.plan["cells"][0]["id"], 4)
    order = [entry for entry in one.plan["order"] if (entry["cell"], entry["repetition"]) != first]
    records = [record for record in one.records if (record["cell_id"], record["repetition"]) != first]
    found = dataclasses.replace(one, plan={**one.plan, "order": order}, records=records)
    assert "missing-runs" not in {table.name for table in problems.problem_tables(found)}


def witnessed(found: Material, disturbed: Mapping[int, list[str] | None], repeated: int = 0) -> Material:
    """A study whose runs had a witness, which saw something in those at some positions (None: nothing can be told)."""
    records = []
    for record in found.records:
        causes = disturbed.get(record["position"], [])
        steady = {**record["windows"]["steady"], "witness": {"disturbed": causes}}
        flags = [f"disturbed: {cause}" for cause in causes or []]
        first = {"first_try": {"disturbed": ["other work took 77 % of the processors"]}}
        again = first if record["position"] == repeated else {}
        records.append({**record, "windows": {"steady": steady}, "flags": flags, **again})
    return dataclasses.replace(found, records=records)


def test_disturbed_runs_are_counted_where_the_study_is_answered_and_listed_with_their_cause(figures: Path) -> None:
    causes = {2: ["other work took 12 % of the processors"], 3: ["others read 5 MB/s from disks"], 4: None}
    causes[5] = [*causes[2], *causes[3]]
    found = witnessed(material(), causes, repeated=3)
    soup = page(found, figures)
    assert (
        f"Others disturbed 3 of the {found.planned} runs: other work in 2, others' reading from disks in 2."
        in soup.select_one("p.lead").text
    )
    rows = [[cell.text for cell in row.select("td")][1:] for row in soup.select("#table-disturbed-runs tbody tr")]
    record = {one["position"]: one for one in found.records}
    assert rows == [
        [str(record[2]["repetition"]), causes[2][0], "not repeated"],
        [str(record[3]["repetition"]), causes[3][0], "other work took 77 % of the processors"],
        [str(record[5]["repetition"]), "; ".join(causes[5]), "not repeated"],
    ]
    said = soup.select_one("#answers").text
    assert "Of 1 run it is not known" in said
    assert "1 run was measured twice, since the first try was disturbed." in said
    assert "disturbed: other" not in soup.select_one("#flags").text


def test_a_sentence_that_rests_on_a_disturbed_run_says_so() -> None:
    found = material()
    first = next(answered(found, found.headline.energy, "energy"))
    position = next(record["position"] for record in found.records if record["cell_id"] == first.best[0])
    disturbed = witnessed(found, {position: ["other work took 12 % of the processors"]})
    assert "Others disturbed 1 of their 8 runs." in head(disturbed)
    assert "disturbed" not in head(witnessed(found, {}))


def test_a_study_that_nobody_disturbed_says_so_and_one_without_a_witness_says_nothing(figures: Path) -> None:
    quiet = page(witnessed(material(), {}), figures)
    assert "None of the 60 runs that could be told was." in quiet.select_one("#answers").text
    assert "disturbed" not in quiet.select_one("p.lead").text
    assert "Did others disturb" not in page(material(), figures).text
