"""What a reader sees of a study, in each of the three formats."""

import io
from pathlib import Path

import pandas as pd
import pytest
from frames_factory import cell, epochs_frame, runs_frame
from statistics_settings import settings

from framewatt.base.errors import FramewattError
from framewatt.statistics.cells import summarise_cells
from framewatt.statistics.comparisons import compare_cells
from framewatt.study.cell import Chosen
from framewatt.tables import study, training
from framewatt.tables.fairness import fairness
from framewatt.tables.parity import parity
from framewatt.tables.table import Table, significant, to_csv, to_latex, to_markdown, with_ends, write_table

TORCH, TENSORFLOW = cell("torch"), cell("tensorflow")
SETTINGS = settings()
PHASES = (("train", "adam"), ("infer", "sgd"))
"""With the optimizer in their frames' column."""


def small(*rows: tuple[str, str]) -> Table:
    frame = pd.DataFrame(rows, columns=["Name", "Value (%)"])
    return Table("small", "A small\ntable", frame, frame, frozenset({"Value (%)"}))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1234.5678, "1235"),
        (123456.7, "123457"),
        (12.34567, "12.35"),
        (0.00123456, "0.001235"),
        (9.99996, "10.00"),
        (0.0000123456, "1.235e-05"),
        (0.0, "0"),
        (-2.5, "-2.500"),
        (None, "n/a"),
        (float("nan"), "n/a"),
    ],
)
def test_four_significant_digits(value: float | None, shown: str) -> None:
    assert significant(value) == shown


@pytest.mark.parametrize(
    ("mean", "low", "high", "shown"),
    [
        (12.3456, 12.0, 12.5, "12.35 [12.00, 12.50]"),
        (1234.5, 1200.0, 1260.0, "1234 [1200, 1260]"),
        (0.0123456, 0.0120, 0.0126, "0.01235 [0.01200, 0.01260]"),
        (5.0, 4.0004, 5.9996, "5.0 [4.0, 6.0]"),
        (477.0, 93.0, 1608.0, "477 [93, 1608]"),
        (12.3456, None, None, "12.35"),
        (None, None, None, "n/a"),
    ],
)
def test_a_mean_is_rounded_where_its_interval_is(
    mean: float | None, low: float | None, high: float | None, shown: str
) -> None:
    assert with_ends(mean, low, high) == shown


def test_markdown_escapes_what_would_break_the_table() -> None:
    lines = to_markdown(small(("a|b_c", "<1>"))).splitlines()
    assert lines == [
        "**A small table**",
        "",
        "| Name | Value (%) |",
        "| --- | ---: |",
        r"| a\|b\_c | &lt;1&gt; |",
    ]


def test_latex_escapes_every_special_character() -> None:
    text = to_latex(small((r"50 % & $_{x}^#~\ ", "1")))
    assert text.splitlines()[0] == "% A small table"
    assert r"\begin{tabular}{lr}" in text
    assert r"Name & Value (\%) \\" in text
    assert r"50 \% \& \$\_\{x\}\textasciicircum{}\#\textasciitilde{}\textbackslash{} & 1 \\" in text


def test_a_row_that_starts_with_a_bracket_is_not_latexs_argument() -> None:
    # "\\ [1, 2]" would be read as "a new line and so much space".
    assert "\n{[1, 2]} & 3 \\\\" in to_latex(small(("x", "y"), ("[1, 2]", "3")))


def test_an_empty_table_says_so() -> None:
    assert "No rows." in to_markdown(small())
    assert r"\multicolumn{2}{l}{No rows.} \\" in to_latex(small())
    assert to_csv(small()) == "Name,Value (%)\n"


def test_the_suffix_chooses_the_format(tmp_path: Path) -> None:
    for suffix, start in ((".csv", "Name,"), (".md", "**A small"), (".tex", "% A small")):
        write_table(small(("a", "b")), tmp_path / f"small{suffix}")
        assert (tmp_path / f"small{suffix}").read_text().startswith(start)
    with pytest.raises(FramewattError, match=r"'.pdf' is not a format of tables. Use .csv, .md, .tex"):
        write_table(small(), tmp_path / "small.pdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.csv", "small.md", "small.tex"]


def test_energy_and_time_of_a_cell() -> None:
    runs = runs_frame({TORCH: [0.1, 0.12, 0.11, 0.13]}, {TORCH: [0.002, 0.0024, 0.0022, 0.0026]})
    table = study.energy_time(summarise_cells(runs, SETTINGS))
    shown = table.shown.iloc[0]
    assert shown["Energy per sample (mJ)"].startswith("115")
    assert shown["Energy per sample (mJ)"] == "115 [96, 137]"
    assert shown["Time per sample (ms)"] == "2.30 [1.92, 2.75]"
    assert (shown["Runs"], shown["Energy of the window (J)"], shown["Accuracy"]) == ("4", "115.0", "0.9000")
    assert "estimated" not in to_markdown(table)


def test_an_estimate_is_marked_in_every_energy_of_its_row_and_in_the_caption() -> None:
    runs = runs_frame({TORCH: [1, 2, 3.5]}, estimated=True)
    table = study.energy_time(summarise_cells(runs, SETTINGS))
    shown = table.shown.iloc[0]
    for heading in ("Energy per sample (mJ)", "Mean power (W)", "Energy of the window (J)"):
        assert shown[heading].endswith(" (estimated)")
    assert "estimated" not in shown["Time per sample (ms)"]
    assert "was not measured" in table.caption
    assert table.data["energy_estimated"].tolist() == [True]


def test_csv_keeps_every_digit() -> None:
    energy = 0.1 + 0.2
    table = study.energy_time(summarise_cells(runs_frame({TORCH: [energy] * 3}), SETTINGS))
    read = pd.read_csv(io.StringIO(to_csv(table)))
    assert read["energy_per_sample_j"].tolist() == [energy]


def test_training_comes_first_and_batch_sizes_in_order_of_number() -> None:
    cells = [cell("torch", batch_size=64), cell("torch", batch_size=8), cell("torch", "train", 16)]
    table = study.energy_time(summarise_cells(runs_frame({one: [1, 2] for one in cells}), SETTINGS))
    assert table.shown[["Phase", "Batch size"]].values.tolist() == [["train", "16"], ["infer", "8"], ["infer", "64"]]


def test_inference_has_no_level_of_an_option_of_training() -> None:
    """Its frame's column holds the default, and the weights may be of another optimizer."""
    trained, run = (
        cell("torch", phase, options=(Chosen("optimizer", level, level == "sgd"),)) for phase, level in PHASES
    )
    table = study.energy_time(summarise_cells(runs_frame({trained: [1, 2], run: [1, 2]}), SETTINGS))
    assert table.shown[["Phase", "Optimizer"]].values.tolist() == [["train", "adam"], ["infer", "n/a"]]
    alone = study.energy_time(summarise_cells(runs_frame({run: [1, 2]}), SETTINGS))
    assert "Optimizer" not in alone.shown


def test_accuracy_of_runs_that_count() -> None:
    runs = runs_frame({TORCH: [1, None, 3], TENSORFLOW: [None] * 3}, accuracy={TORCH: [0.5, 1.0, 0.7]})
    table = study.accuracy(runs)
    torch = table.shown[table.shown["Runtime"] == "torch"].iloc[0]
    assert (torch["Runs"], torch["Accuracy"]) == ("2", "0.6000")
    assert (torch["Lowest accuracy"], torch["Highest accuracy"]) == ("0.5000", "0.7000")
    tensorflow = table.shown[table.shown["Runtime"] == "tensorflow"].iloc[0]
    assert (tensorflow["Runs"], tensorflow["Accuracy"]) == ("0", "n/a")


def test_an_export_that_the_runtime_rejects_is_a_row() -> None:
    good = {"model": "b", "framework": "torch", "status": "ok", "reason": None, "max_abs_difference": 1.23e-6}
    good |= {"equal_predictions_share": 0.9975, "samples": 400, "opset": 17, "checker": "passed"}
    bad = {"model": "a", "framework": "mxnet", "status": "invalid", "reason": "no such operator"}
    shown = study.export_agreement([good, bad]).shown
    assert shown["Status"].tolist() == ["invalid", "ok"]
    assert shown.loc[0, ["Largest difference", "Samples", "Reason"]].tolist() == ["n/a", "n/a", "no such operator"]
    assert shown.loc[1, ["Largest difference", "Equal answers (%)"]].tolist() == ["1.2e-06", "99.75"]
    assert shown.loc[1, ["Samples", "Opset"]].tolist() == ["400", "17"]


@pytest.mark.parametrize("stored", [False, True])
def test_comparisons_read_the_same_from_the_frame_and_from_its_file(stored: bool) -> None:
    base = [10.0, 11.1, 12.3, 13.6, 15.0, 16.5]
    third = cell("mxnet")
    runs = runs_frame({TORCH: base, TENSORFLOW: [value / 2 for value in base], third: [None] * 6}, estimated=True)
    compared = compare_cells(runs, SETTINGS | {"correction": "none"})
    if stored:
        compared = pd.read_csv(io.StringIO(compared.to_csv(index=False)))
    shown = study.comparisons(compared, runs).shown
    tested = shown[(shown["Cell A"] == TENSORFLOW.id) & (shown["Cell B"] == TORCH.id)].iloc[0]
    assert tested["Quantity"] == "energy per sample (estimated)"
    assert (tested["Runs"], tested["Corrected p"], tested["Costs more"]) == ("6 pairs", "0.0312", "B")
    assert tested["B / A"].startswith("2.00")
    assert tested["A more, of blocks (%)"] == "0"
    untested = shown[shown["Cell A"] == third.id].iloc[0]
    assert (untested["Corrected p"], untested["Costs more"], untested["Runs"]) == ("n/a", "n/a", "0 pairs")


def test_epochs_are_means_over_the_runs_that_count() -> None:
    train = cell("torch", "train", 16)
    runs = runs_frame({train: [1, 2, 3]})
    runs.loc[runs["repetition"] == 3, "valid"] = False
    shown = training.epochs(epochs_frame([train], repetitions=3, estimated=True), runs).shown
    # Epoch 2 costs 120 + r joules: 121 and 122 of repetitions 1 and 2.
    second = shown[shown["Epoch"] == "2"].iloc[0]
    assert (second["Runs"], second["Energy (J)"]) == ("2", "121.5 (estimated)")
    assert (second["Time (s)"], second["Loss"], second["Accuracy"]) == ("4.000", "0.5000", "0.7500")


def test_failures_name_the_run_and_the_reason() -> None:
    runs = runs_frame({TORCH: [1, None, 3]})
    runs.loc[runs["repetition"] == 3, "valid"] = False
    runs.loc[runs["repetition"] == 3, "reasons"] = "the counter was reset"
    shown = study.failures(runs).shown
    assert shown.values.tolist() == [
        [TORCH.id, "2", "failed: took longer than timeout_s"],
        [TORCH.id, "3", "invalid: the counter was reset"],
    ]


def test_a_study_in_which_everything_failed_still_has_its_tables() -> None:
    runs = runs_frame({TORCH: [None, None], TENSORFLOW: [None, None]})
    made = [
        study.energy_time(summarise_cells(runs, SETTINGS)),
        study.accuracy(runs),
        fairness([], []),
        parity([]),
        study.export_agreement([]),
        study.comparisons(compare_cells(runs, SETTINGS), runs),
        training.epochs(epochs_frame([]), runs),
        study.failures(runs),
    ]
    rows = {table.name: len(table.shown) for table in made}
    assert rows == {
        "energy_time": 2,
        "accuracy": 2,
        "fairness": 0,
        "parity": 0,
        "export_agreement": 0,
        "comparisons": 2,
        "epochs": 0,
        "failures": 4,
    }
    for table in made:
        assert len(to_markdown(table).splitlines()) >= 4 + len(table.shown)
        assert to_latex(table).count(r"\\") == 1 + max(1, len(table.shown))
    assert set(made[0].shown["Energy per sample (mJ)"]) == {"n/a"}
