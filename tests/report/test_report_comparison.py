"""Any two cells side by side: numbers and sentences that the page's script shows."""

import dataclasses
import json
from pathlib import Path

import pandas as pd
import pytest
from frames_factory import cell
from report_factory import MXNET, TENSORFLOW, TORCH, answered_study, comparison, material, page

from framewatt.report import Material

NEAR = [1.00, 1.02, 0.99, 1.01, 1.00, 1.01]
DEAR = [1.50, 1.52, 1.49, 1.50, 1.51, 1.50]


def told(one: Material, first: str, second: str) -> list[str]:
    """The sentences of two cells, which come in either order."""
    found = comparison(one)
    names = [shown.name for shown in found.cells]
    (pair,) = [pair for pair in found.pairs if {names[pair.a], names[pair.b]} == {first, second}]
    return list(pair.sentences)


@pytest.mark.parametrize("levels", [{TORCH: NEAR, MXNET: DEAR}, {MXNET: DEAR, TORCH: NEAR}])
def test_the_one_that_takes_more_is_named_with_its_ratio_whichever_comes_first(levels: dict) -> None:
    energy, time = told(answered_study(levels), "torch", "mxnet")
    assert energy.startswith("mxnet takes more energy a sample: 1.50x [1.4")
    assert energy.endswith("] compared with torch (p < 0.001).")
    assert time.startswith("mxnet takes more time a sample: 1.50x [1.4")


def test_what_is_not_shown_is_not_said_to_be_more() -> None:
    (energy, _) = told(answered_study({TORCH: NEAR, TENSORFLOW: NEAR[::-1]}), "torch", "tensorflow")
    assert energy.startswith("No difference of energy a sample is shown: ")
    assert "more" not in energy


def test_numbers_are_those_of_the_tables_with_their_intervals() -> None:
    one = material(estimated=True)
    records = [{**record, "workload": {"peak_memory_b": 2**20 * record["repetition"]}} for record in one.records]
    found = comparison(dataclasses.replace(one, records=records))
    first = dict(zip(found.rows, found.cells[0].values, strict=True))
    assert list(first) == [
        "Energy a sample",
        "Time a sample",
        "Latency, median",
        "Latency, 95th percentile",
        "Throughput",
        "Most memory of a run",
        "Accuracy",
        "Runs that count",
    ]
    row = one.cells[(one.cells["quantity"] == "energy_per_sample_j") & (one.cells["phase"] == "train")]
    mean = float(row.loc[row["runtime"] == found.cells[0].name, "mean"].iloc[0])
    assert first["Energy a sample"].startswith(f"{mean:.2f}\N{NO-BREAK SPACE}J [")
    assert first["Energy a sample"].endswith("] (estimated)")
    assert first["Most memory of a run"] == "4\N{NO-BREAK SPACE}MiB"


def test_what_no_cell_knows_has_no_row_and_what_one_lacks_is_unknown() -> None:
    assert "Most memory of a run" not in comparison(material()).rows
    one = material()
    records = [{**one.records[0], "workload": {"peak_memory_b": 2**20}}, *one.records[1:]]
    found = comparison(dataclasses.replace(one, records=records))
    place = found.rows.index("Most memory of a run")
    assert sorted({shown.values[place] for shown in found.cells}) == ["1\N{NO-BREAK SPACE}MiB", "unknown"]


def test_one_cell_and_none_give_no_section(figures: Path) -> None:
    alone = answered_study({TORCH: NEAR})
    failed = answered_study({TORCH: [None, None], MXNET: [None, None]})
    for one in (alone, failed):
        assert comparison(one).cells == []
        assert page(one, figures).select("#comparison, nav [hidden]") == []


def test_names_that_close_a_script_stay_data(figures: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    one = answered_study({cell(workload=hostile): NEAR, cell("mxnet", workload=hostile): DEAR})
    soup = page(one, figures)
    (data,) = soup.select("#comparison script")
    assert "</script" not in str(data.string)
    assert hostile.lower() in json.loads(data.string)["cells"][0]["group"].lower()
    assert not [script for script in soup.select("script") if script.text.startswith("alert")]


def test_statistics_read_back_from_a_file_say_the_same(tmp_path: Path) -> None:
    one = answered_study({TORCH: NEAR, MXNET: DEAR})
    one.comparisons.to_csv(tmp_path / "comparisons.csv", index=False)
    again = dataclasses.replace(one, comparisons=pd.read_csv(tmp_path / "comparisons.csv"))
    assert comparison(again) == comparison(one)
