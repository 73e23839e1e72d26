"""Tables 5 and 7 of georgiou2022 come out of the authors' own dumps, but for three numbers that are named here."""

import math

import pandas as pd
import pytest
from checkout import ROOT
from profile_factory import functions_of
from published_data import raw_data

from framewatt.papers.georgiou2022.profiles import compare, functions_published
from framewatt.profiling.api_names import read_types
from framewatt.profiling.collection import read_names, read_profiles
from framewatt.profiling.dump import Trust, read_checksums
from framewatt.tables.table import to_markdown

RESOURCES = ROOT / "resources" / "published"
NAMES = read_names(RESOURCES / "georgiou2022_profile_names.csv")

Frames = tuple[pd.DataFrame, pd.DataFrame]


@pytest.fixture(scope="module")
def frames() -> Frames:
    """The functions frame and the record of the twelve training dumps, opened by their checksums alone."""
    folder = raw_data("prengdl", "cProfile_results") / "cProfile_results"
    trust = Trust(read_checksums(RESOURCES / "georgiou2022_profiles.csv"))
    runs, record = read_profiles(folder.glob("*_train.prof"), NAMES, trust)
    return functions_of(runs, read_types(RESOURCES / "georgiou2022_functions.csv")), record


@pytest.fixture(scope="module")
def numbers(frames: Frames) -> pd.DataFrame:
    """Every number of Tables 5 and 7, published values as such."""
    compared = compare(*frames, RESOURCES, NAMES)
    of_training = compared[compared["table"].isin(["Table 5", "Table 7"]) & compared["published"].notna()]
    of_training = of_training[of_training["column"] != "type"]
    return of_training.assign(printed=of_training["published"].astype("float64")).set_index("row")


def cut_off(value: float, digits: int) -> float:
    return math.floor(value * 10**digits) / 10**digits


def test_all_training_dumps_are_known_and_read(frames: Frames) -> None:
    _, record = frames
    assert record["status"].tolist() == ["ok"] * 12
    assert record["workload"].value_counts().tolist() == [2] * 6
    # Not one Python, and not the 3.7 that the paper names.
    assert record["written_by"].value_counts().to_dict() == {"Python 3.6": 10, "Python 3.8": 2}


def test_every_number_of_calls_is_that_of_the_paper(numbers: pd.DataFrame) -> None:
    calls = numbers[numbers["column"] == "calls"]
    assert len(calls) == 32
    assert calls["recomputed"].tolist() == calls["printed"].tolist()


def test_run_times_are_own_times_rounded_or_cut_off(numbers: pd.DataFrame) -> None:
    times = numbers[numbers["column"] == "own time"]
    agree = (times["recomputed"].round() == times["printed"]) | (
        times["recomputed"].map(math.floor) == times["printed"]
    )
    assert times.index[~agree].tolist() == ["SSD, TensorFlow.Session.run"]
    assert times.loc["SSD, TensorFlow.Session.run", "recomputed"] == pytest.approx(6596.25, abs=0.01)


def test_costs_are_printed_times_in_the_sum_of_own_times_cut_off(numbers: pd.DataFrame, frames: Frames) -> None:
    _, record = frames
    shares = numbers[numbers["column"] == "share"]
    times = numbers.loc[numbers["column"] == "own time", "printed"]
    totals = record.set_index(["workload", "framework"])["total_time_s"]
    levels = {title: level for level, title in NAMES.titles["workload"].items()}
    deviating = {}
    for row, share in shares.iterrows():
        framework = "TensorFlow" if "TensorFlow" in str(row) else "PyTorch"
        total = totals[levels[str(row).split(",")[0]], framework]
        if cut_off(100 * times[row] / total, 1) != pytest.approx(share["printed"]):
            deviating[row] = (round(share["recomputed"], 1), share["printed"])
    assert deviating == {
        "ResNet50, Torch.nn.Conv2d": (1.8, 1.9),
        "Mask R-CNN, TensorFlow.keras.Model.fit": (97.8, 98.7),
        "SSD, TensorFlow.Session.run": (90.0, 92.7),
    }


def test_only_the_row_of_sum_tells_own_from_cumulative_time(frames: Frames) -> None:
    functions, _ = frames
    (python_sum,) = functions[
        (functions["workload"] == "GNMT")
        & (functions["framework"] == "PyTorch")
        & (functions["function"] == "<built-in method builtins.sum>")
    ].to_dict("records")
    # Printed as Torch.Tensor.sum with 54,823 calls and 67 seconds.
    assert python_sum["calls"] == 54823
    assert (math.floor(python_sum["own_time_s"]), math.floor(python_sum["cumulative_time_s"])) == (67, 89)
    assert pd.isna(python_sum["api_name"])


def test_what_the_tables_leave_out_is_listed(frames: Frames) -> None:
    compared = compare(*frames, RESOURCES, NAMES)
    left_out = compared[compared["published"].isna() & (compared["column"] == "share")].set_index("row")["recomputed"]
    assert len(left_out) == 32
    assert left_out["SSD, model.py:159 forward"] == pytest.approx(29.97, abs=0.01)
    assert left_out["GNMT, torch.nn.LSTM"] == pytest.approx(8.11, abs=0.01)
    assert left_out["SSD, tf.io.gfile.glob"] == pytest.approx(8.31, abs=0.01)


def test_no_folder_of_the_authors_machines_is_left(frames: Frames) -> None:
    files = frames[0]["file"].drop_duplicates()
    assert not files.str.contains(r"^/|workspace|site-packages|dist-packages|python3").any()


def test_the_documented_tables_are_what_comes_out(frames: Frames) -> None:
    made = to_markdown(functions_published(compare(*frames, RESOURCES, NAMES))).splitlines()
    documented = (ROOT / "docs" / "profiles.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in documented if line.startswith(("| Table 5", "| Table 7"))]
    assert len(rows) == 32 + 10
    assert set(rows) <= set(made)
