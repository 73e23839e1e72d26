"""The page of the published studies, and the tables that it is made of."""

import pandas as pd
import pytest
from imported_study import RESOURCES

from framewatt.base.errors import FramewattError
from framewatt.figures.save import save
from framewatt.papers import PAPERS
from framewatt.papers.alizadeh2024 import recount as alizadeh2024
from framewatt.papers.georgiou2022 import figures
from framewatt.papers.georgiou2022.recount import SPEARMAN_COLUMNS
from framewatt.papers.methods import variants
from framewatt.papers.page import Material, build_page, summarise
from framewatt.papers.printed import Answer, Recount
from framewatt.papers.verdicts import (
    LARGEST_SHOWN,
    plain_table,
    read_verdicts,
    readable,
    to_readable_markdown,
    verdicts,
    write_verdicts,
)


@pytest.fixture(scope="module")
def frame():
    return alizadeh2024.recount(RESOURCES)


def recount(value, published="1", table="Table 1", note=""):
    return Recount(table, "row", "column", published, "J", Answer(value, note), "how")


def test_the_page_counts_names_and_shows(frame, tmp_path):
    save(figures.draw(pd.DataFrame(columns=["model"]), ""), [tmp_path / "alizadeh2024_figure1.svg"])
    table = plain_table("alizadeh2024_facts", "A table of facts", pd.DataFrame({"name": ["a"], "share": [0.25]}))
    material = Material(
        PAPERS["alizadeh2024"], frame, ["A fact with <brackets>."], [table], [tmp_path / "alizadeh2024_figure1.svg"]
    )
    page = build_page([material], {"published_itu2023": "not given"})
    counted = frame["verdict"].value_counts()
    assert f"{counted['reproduced']} reproduced, {counted['deviates']} deviating, 1 that cannot be recomputed" in page
    assert "A fact with &lt;brackets&gt;." in page
    assert 'id="table-alizadeh2024_facts"' in page
    assert 'id="figure-alizadeh2024_figure1"' in page
    assert page == build_page([material], {"published_itu2023": "not given"})


def test_a_file_of_verdicts_is_read_as_it_was_written(frame, tmp_path):
    write_verdicts("alizadeh2024", frame, [tmp_path / "a.csv", tmp_path / "a.md"])
    again = read_verdicts(tmp_path / "a.csv")
    pd.testing.assert_series_equal(again["published"], frame["published"].astype(again["published"].dtype))
    assert again["verdict"].tolist() == frame["verdict"].tolist()
    assert "| Table 1 | 64 | 0 | 0 |" in (tmp_path / "a.md").read_text()


def test_verdicts_are_written_as_csv_or_markdown(frame, tmp_path):
    with pytest.raises(FramewattError, match=r"'.tex' is not a format of verdicts. Use .csv or .md"):
        write_verdicts("alizadeh2024", frame, [tmp_path / "a.tex"])


def test_long_tables_are_shown_where_they_deviate_only():
    long = [recount(1.0, table="long.csv") for _ in range(LARGEST_SHOWN + 1)] + [recount(3.0, table="long.csv")]
    found = verdicts("study", [*long, recount(1.0)])
    shown, left_out = readable(found)
    assert len(shown) == 2
    assert left_out == f"Reproduced, and listed in the CSV file only: {LARGEST_SHOWN + 1} of long.csv."
    assert left_out in to_readable_markdown("study", found)


def test_the_summary_says_why_numbers_cannot_be_recomputed():
    found = verdicts("study", [recount(1.7), recount(None, note="not published"), recount(None, note="not published")])
    assert summarise(found) == [
        "3 numbers: 1 reproduced, 0 deviating, 2 that cannot be recomputed.",
        "Reproduced, but printed with the last digits cut off, not rounded: 1.",
        "Cannot be recomputed: 2, since not published.",
    ]


def test_facts_name_the_test_that_gives_the_printed_p():
    pairs = [("0.48", "0.6"), ("< 0.001", "1")]
    empty = dict.fromkeys(["outside_of_runs", "medians", "gpu_sums", "spread"], pd.DataFrame())
    empty["spearman_variants"] = pd.DataFrame(columns=SPEARMAN_COLUMNS)
    facts = PAPERS["georgiou2022"].facts({"p_value_variants": variants([], pairs, [1, 24], 10), **empty})
    assert facts[0] == (
        "Of the 2 printed pairs of p and A12, ten runs can give 2 by this test: rank-sum (Mann-Whitney), exact, "
        "uncorrected; no other form of the two rank tests, corrected or not, can give as many."
    )
    assert "a p of 0.00195 at the least, and can give 0 of the 2 printed pairs" in facts[1]
    assert len(facts) == 2, "nothing is said of runs that are not given"
