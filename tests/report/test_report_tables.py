"""Tables of the page: what is the same in every row is told once, and what a row is read for stays in sight."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from report_factory import material, page

from framewatt.report.tables import Table, study_tables

ROWS = [["resnet50", "16", "torch", "A", ""], ["resnet50", "64", "mxnet", "B", ""]]
HEADER = ["Workload", "Batch size", "Runtime", "Costs more", "Flags"]


def table(rows: list[list[str]], header: list[str] | None = None, *, of_runs: bool = False) -> Table:
    return Table("t", "A table", header or HEADER, rows, of_runs=of_runs)


def test_what_every_row_says_is_told_once_and_the_rest_begins_with_a_name_and_ends_with_the_verdict() -> None:
    found = table(ROWS)
    assert found.same == [("Workload", "resnet50"), ("Flags", "none")]
    assert [HEADER[place] for place in found.columns] == ["Runtime", "Batch size", "Costs more"]
    assert found.rows == ROWS


@pytest.mark.parametrize("rows", [[], ROWS[:1], [ROWS[0], ROWS[0]]], ids=["none", "one", "equal"])
def test_rows_that_would_be_left_empty_keep_their_columns(rows: list[list[str]]) -> None:
    found = table(rows)
    assert found.same == []
    assert sorted(found.columns) == [0, 1, 2, 3, 4]


def test_cell_and_repetition_of_a_table_of_runs_stay_since_they_are_the_link() -> None:
    found = table([["a", "1", "failed", "late"], ["a", "1", "failed", "early"]], [*"abcd"], of_runs=True)
    assert found.columns == [0, 1, 3]
    assert found.same == [("c", "failed")]


def test_the_page_tells_constant_columns_above_the_table_and_leaves_its_rows_whole(figures: Path) -> None:
    found = material()
    soup = page(found, figures)
    for one in filter(lambda table: table.rows, study_tables(found)):
        shown = soup.select_one(f"#table-{one.name}")
        headings = [heading.text for heading in shown.select("th")]
        told = shown.select_one(".same")
        assert all(f"{name} {value}" in told.text for name, value in one.same)
        assert sorted([*headings, *(name for name, _ in one.same)]) == sorted(one.header)
        row = [cell.text.replace("\N{NO-BREAK SPACE}", " ") for cell in shown.select_one("tbody tr").select("td")]
        assert row == [one.rows[0][place] for place in one.columns]
    (deploy,) = [one for one in study_tables(found) if one.name == "deploy"]
    assert ("Workload", "resnet50") in deploy.same


def test_names_and_verdicts_of_rows_are_marked_for_the_style(plain: str) -> None:
    shown = BeautifulSoup(plain, "html.parser").select_one("#table-deploy")
    assert [heading.text for heading in shown.select("th.name")] == ["Choice"]
    assert [heading.text for heading in shown.select("th.verdict")] == ["Least energy"]
    rows = shown.select("tbody tr")
    assert len(rows) == len(shown.select("td.name")) == len(shown.select("td.verdict"))
