"""The page of studies with names of 80 characters, of one cell, without a run or an energy, of logs, of 40 cells."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from odd_studies import ODD

from framewatt.report import build_report


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_study_has_a_page_and_the_same_one_again(odd: str, figures: Path) -> None:
    found = ODD[odd]()
    made = build_report(found, figures)
    assert build_report(found, figures) == made
    soup = BeautifulSoup(made, "html.parser")
    ids = [tag["id"] for tag in soup.select("[id]")]
    assert len(ids) == len(set(ids))
    about = {name.text: name.find_next("dd").text for name in soup.select("#about dt")}
    assert all(about.values())
    cells = len(found.plan["cells"])
    comparable = odd not in ("one cell", "failed runs", "no energy")
    assert len(soup.select("#comparison")) == comparable
    assert len(soup.select("header .strip li[tabindex]")) == (cells if comparable else 0)


def test_of_runs_that_were_read_nothing_is_made_up(figures: Path) -> None:
    soup = BeautifulSoup(build_report(ODD["read from files"](), figures), "html.parser")
    about = {name.text: name.find_next("dd").text for name in soup.select("#about dt")}
    unknown = ("First run started", "Last run ended", "Frameworks", "NVIDIA driver", "Threads", "Governor", "Weights")
    assert all(about[name].startswith("unknown") for name in unknown)
    assert ", read with framewatt 1.0" in soup.select_one("pre.cite").text
