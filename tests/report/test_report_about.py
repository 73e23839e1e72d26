"""What the page says of the study as a whole: dates, versions, threads, governor, weights, and how to cite it."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from report_factory import material, page

from framewatt.report import Material
from framewatt.report.about import about, citation


def told(one: Material, commit: str | None = "c0ffee5") -> dict[str, str]:
    return dict(about(one, commit))


def with_records(one: Material, **fields: Any) -> Material:
    return dataclasses.replace(one, records=[{**record, **fields} for record in one.records])


def with_settings(one: Material, **settings: Any) -> Material:
    plan = {**one.plan, "settings": {**one.plan["settings"], **settings}}
    return dataclasses.replace(one, plan=plan)


def test_dates_are_those_of_the_first_and_the_last_run_in_any_order() -> None:
    one = material()
    records = list(one.records)
    for number, hour in ((0, "07"), (1, "05"), (2, "09")):
        times = {"start_utc": f"2026-03-01T{hour}:10:20+00:00", "end_utc": f"2026-03-01T{hour}:30:20+00:00"}
        records[number] = {**records[number], "windows": {"process": {**times, "domains": {}}}}
    found = told(dataclasses.replace(one, records=records[:3]))
    assert found["First run started"] == "2026-03-01 05:10 UTC"
    assert found["Last run ended"] == "2026-03-01 09:30 UTC"


def test_versions_threads_and_driver_are_those_of_the_records_and_differing_ones_are_all_told() -> None:
    gpus = [{"name": "H", "memory_b": 1, "driver": "570.1"}]
    one = with_records(material(), threads=2, machine={"gpus": gpus})
    first = {**one.records[0], "threads": 4, "workload": {"libraries": {"torch": "2.9", "torchvision": "0.24"}}}
    second = {**one.records[1], "workload": {"libraries": {"torch": "2.8"}}}
    found = told(dataclasses.replace(one, records=[first, second, *one.records[2:]]))
    assert found["Frameworks"] == "torch 2.8 or 2.9, torchvision 0.24"
    assert found["Threads"] == "2 or 4"
    assert found["NVIDIA driver"] == "570.1"
    assert found["framewatt"] == "1.0, commit c0ffee5"


def test_what_no_record_tells_is_unknown_and_nothing_is_made_up() -> None:
    bare = with_records(material(), machine=None, clock={}, windows={}, preflight=None)
    found = told(bare, None)
    names = ("First run started", "Last run ended", "Frameworks", "NVIDIA driver", "Threads", "Governor")
    assert {name: found[name] for name in names} == dict.fromkeys(names, "unknown")
    assert found["framewatt"] == "1.0, commit unknown"
    assert found["Licence of the data"] == "unknown"
    assert citation(bare, None).text == (
        "Authors not named (date unknown). What does it cost? Study synthetic, measured with framewatt 1.0; licence of "
        "the data unknown."
    )
    assert "year" not in citation(bare, None).bibtex


@pytest.mark.parametrize(
    ("findings", "wanted", "governor"),
    [
        ([], None, "performance"),
        ([{"topic": "governor", "found": "powersave"}], None, "powersave"),
        ([{"topic": "governor", "found": "not visible"}], None, "not visible"),
        ([{"topic": "governor", "found": "powersave"}], "performance", "performance, set by the study"),
    ],
)
def test_the_governor_is_the_one_that_was_found_or_set(findings: list, wanted: str | None, governor: str) -> None:
    one = with_settings(with_records(material(), preflight=findings), preflight={"set_governor": wanted})
    assert told(one)["Governor"] == governor


def test_watts_are_told_of_an_estimate_alone() -> None:
    watts = {"period_s": 0.01, "estimate_idle_w_per_core": 0.74, "estimate_busy_w_per_core": 3.5}
    assert "Watts behind the estimate" not in told(with_settings(material(), instruments=watts))
    found = told(with_settings(material(estimated=True), instruments=watts))
    assert found["Watts behind the estimate"] == "0.74 W for an idle and 3.5 W for a busy processor"


def test_accuracies_of_own_trainings_are_not_a_verdict_on_frameworks() -> None:
    trained = told(material())["Weights of resnet50"]
    assert "0.970 (torch and torch2onnx)" in trained
    assert trained.endswith(
        "each framework trained its own, so a difference between them is that of two trainings, not of speed"
    )
    published = told(with_settings(material(), weights="pretrained"))["Weights of resnet50"]
    assert published.startswith("the framework's official ones; accuracy 0.950 (mx2onnx and mxnet), ")
    assert "two trainings" not in published


def test_a_citation_names_authors_licence_and_version_and_bibtex_takes_no_text_for_markup() -> None:
    archive = {"authors": ["Doe, Jane", "The {odd} group"], "license": "CC-BY-4.0"}
    one = with_settings(material(title="50 % of R&D\n_costs_"), archive=archive)
    found = citation(one, "c0ffee5")
    assert found.text == (
        "Doe, Jane and The {odd} group (2026-01-01). 50 % of R&D _costs_. Study synthetic, measured with framewatt "
        "1.0, commit c0ffee5; data under CC-BY-4.0."
    )
    assert found.bibtex.splitlines() == [
        "@misc{framewatt-synthetic,",
        r"  title = {{50 \% of R\&D \_costs\_}},",
        r"  author = {Doe, Jane and {The {\textbraceleft}odd{\textbraceright} group}},",
        "  year = {2026},",
        "  note = {Study synthetic, measured with framewatt 1.0, commit c0ffee5; data under CC-BY-4.0}",
        "}",
    ]


def test_the_page_has_the_block_once_and_its_texts_are_texts(figures: Path) -> None:
    hostile = "</pre><script>alert(1)</script>"
    one = with_settings(material(title=hostile), archive={"authors": [hostile], "license": hostile})
    section = page(one, figures).select_one("section#about")
    assert [box["aria-label"] for box in section.select("pre")] == ["Citation as text", "Citation as BibTeX"]
    assert not section.select("script")
    assert section.select_one("pre").text.count(hostile) == 3


def test_the_version_is_told_in_one_place(plain: str) -> None:
    names = [name.text for name in BeautifulSoup(plain, "html.parser").select("dt")]
    assert names.count("framewatt") == 1
    assert names.count("Weights of resnet50") == 1
