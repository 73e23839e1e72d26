"""The page of a study: its tables and figures, its sections, and nothing that it fetches or that acts."""

import dataclasses
import re
from pathlib import Path

import pandas as pd
from bs4 import BeautifulSoup
from documented_commands import printed_in
from report_factory import material, page

from framewatt.papers.replication import Finding, claims_table
from framewatt.report import build_report

FIGURES = ("energy_time", "energy_runtime_batch", "deploy", "epochs")
TABLES = (
    *("energy_time", "accuracy", "fairness", "export_agreement", "deploy", "comparisons", "epochs"),
    *("to_accuracy", "failures"),
)


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
        "deploy",
        "measured",
        "machine",
        "answers",
        "comparison",
        "figures",
        "tables",
        "problems",
        "flags",
        "preflight",
        "significance",
        "about",
        "reproduce",
    ]


def test_how_weights_were_made_is_told(plain: str) -> None:
    measured = BeautifulSoup(plain, "html.parser").select_one("section#measured")
    assert measured is not None
    assert "3 epochs of SGD at learning rate 0.001, in batches of 32" in measured.text


def test_schedule_clipping_and_weight_decay_are_told(figures: Path) -> None:
    settings = material().plan["settings"]
    schedule = {"kind": "cosine", "warm_up_steps": 1000, "final_rate": 0.001}
    tuned = {"optimizer": "lamb", "schedule": schedule, "clip_norm": 0.25, "weight_decay": 0.01}
    soup = page(material(settings=settings | {"training": settings["training"] | tuned}), figures)
    measured = soup.select_one("section#measured")
    assert measured is not None
    said = "; cosine schedule after 1000 warm-up steps; gradients clipped to a norm of 0.25; weight decay 0.01"
    assert f"3 epochs of LAMB at learning rate 0.001, in batches of 32{said}" in measured.text
    assert f"3 epochs from random weights, without evaluation{said}" in measured.text


def test_what_a_study_replicates_has_a_section_of_its_own(figures: Path) -> None:
    claim = Finding("a-claim", "Abstract", "torch is cheaper", "2", "of 2", 1.0, 2, "in part", 0.03, "not so: BERT")
    found = material()
    plan = dict(found.plan) | {"settings": found.plan["settings"] | {"replicates": "alizadeh2024"}}
    found = dataclasses.replace(found, plan=plan, replication=[claims_table("alizadeh2024", [claim])])
    section = page(found, figures).select_one("section#replication")
    assert section is not None
    assert section.h2 is not None
    assert section.h2.text == "Compared with alizadeh2024"
    told = [cell.text for cell in section.select("table#table-claims td")]
    assert told == ["Abstract", "torch is cheaper", "2 of 2", "1 of 2", "0.0300", "not so: BERT", "in part"]
    assert "replication/claims.csv" in section.text


def test_page_needs_no_network_and_no_other_file(plain: str) -> None:
    text, soup = plain, BeautifulSoup(plain, "html.parser")
    references = [
        tag[name] for tag in soup.find_all(True) for name in ("src", "href", "xlink:href") if tag.has_attr(name)
    ]
    assert references
    beside = ("../tables/", "../figures/", "../measure/", "../replication/")
    assert all(reference.startswith(("#", "data:image/png;base64,", *beside)) for reference in references)
    # It links to files beside it, and shows none of them.
    assert not [tag for tag in soup.find_all(True) if tag.name != "a" and str(tag.get("href", "")).startswith("../")]
    assert not [tag for tag in soup.find_all(src=True) if not tag["src"].startswith("data:")]
    assert not soup.select("script[src], link, iframe, img, object, embed")
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


def test_hostile_texts_are_escaped(figures: Path) -> None:
    hostile = '<script>alert("1")</script>'
    found = material(title=hostile, description=hostile, fail=True, excluded=[hostile])
    found.records[0]["reasons"][:] = [hostile]
    text = build_report(found, figures)
    assert hostile not in text
    soup = BeautifulSoup(text, "html.parser")
    assert not [script for script in soup.find_all("script") if "alert" in script.text]
    assert soup.h1.text == hostile
    assert hostile in BeautifulSoup(text, "html.parser").select_one("#table-failed-runs").text


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


def test_frames_read_back_from_csv_give_the_same_page(figures: Path, tmp_path: Path) -> None:
    found = material(fail=True)
    names = ("cells", "answers", "comparisons", "correlations", "drift", "omnibus", "trends", "to_accuracy", "choices")
    for name in names:
        getattr(found, name).to_csv(tmp_path / name, index=False)
    again = dataclasses.replace(found, **{name: pd.read_csv(tmp_path / name) for name in names})
    assert build_report(again, figures) == build_report(found, figures)
