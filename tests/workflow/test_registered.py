"""A table and a figure of one's own, added as docs/extending.md says: they are files, and on the page."""

import re
from pathlib import Path

import pytest
import stand_ins
from bs4 import BeautifulSoup
from checkout import Checkout
from extending_page import examples
from test_your_measurements import STUDY, log


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    (made.root / "config" / "studies" / "my-gpu.yaml").write_text(STUDY)
    for model, watts in {"small": 50.0, "large": 120.0}.items():
        (made.root / "my-logs" / model).mkdir(parents=True)
        for run in (1, 2, 3):
            (made.root / "my-logs" / model / f"gpu-power-{run}.csv").write_text("\n".join(log(watts, run)) + "\n")
    for section in ("A table", "A figure"):
        for example in examples()[section]:
            example.put_into(made.root)
    # What the example's figure shows, tests/extending asks.
    stand_ins.draw_nothing(made)
    return made


@pytest.fixture(scope="module")
def results(checkout: Checkout) -> Path:
    answer = checkout.snakemake("report", config="study=my-gpu")
    assert answer.code == 0, answer.text
    return checkout.root / "results" / "my-gpu"


def test_they_are_files_and_on_the_page(results: Path) -> None:
    table = (results / "tables" / "longest.csv").read_text().splitlines()
    assert table[0] == "cell,duration_s"
    assert len(table) == 3
    for name in ("tables/longest.md", "tables/longest.tex", "figures/energy_order.svg", "figures/energy_order.pdf"):
        assert (results / name).is_file()
    page = BeautifulSoup((results / "report" / "report.html").read_text(), "html.parser")
    assert "The longest run of every cell" in page.find(id="table-longest").text
    assert "Energy of every run in the order" in page.find(id="figure-energy_order").text
    shown = [figure["id"] for figure in page.find(id="figures").find_all(id=re.compile("^figure-"))]
    assert shown[0] == "figure-energy_order", "the entry's place is that of the page"


def test_a_misspelt_name_is_told_with_theirs(checkout: Checkout) -> None:
    answer = checkout.snakemake("--dry-run", "--", "results/my-gpu/tables/longst.csv", config="study=my-gpu")
    (line,) = answer.lines("framewatt: ")
    assert "did you mean longest?" in line


def test_only_a_figure_whose_code_changes_is_drawn_again(checkout: Checkout, results: Path) -> None:
    drawn = "results/my-gpu/figures/energy_order.svg"
    assert "Nothing to be done" in checkout.snakemake("--dry-run", "--", drawn, config="study=my-gpu").text
    path = checkout.root / "src/framewatt/figures/energy_order.py"
    path.write_text(path.read_text().replace("figsize=(7.4, 4)", "figsize=(7.4, 5)"))
    answer = checkout.snakemake("--dry-run", "report", config="study=my-gpu")
    found = re.search(r"updated input files:\n +(.*)\n", answer.text)
    assert found, answer.text
    assert found[1] == "figures"
    assert "tables" not in answer.text
