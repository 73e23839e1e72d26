"""A text that a spreadsheet would run is marked as text, comes back as it was, and numbers stay numbers."""

from pathlib import Path

import pandas as pd

from framewatt.base.spreadsheet import read_csv, to_csv

TEXTS = ["=HYPERLINK(1)", "+1+cmd", "-O3", "@SUM(A1)", "\tx", "'=1", "''-x", "plain", "'quoted'", "a=b", None]


def test_no_text_begins_as_a_formula_and_all_come_back(tmp_path: Path) -> None:
    frame = pd.DataFrame({"level": TEXTS, "joules": [-1.5] * len(TEXTS), "=evil": ["-2.5"] * len(TEXTS)})
    text = to_csv(frame)
    cells = [cell.strip('"') for line in text.splitlines() for cell in line.split(",")]
    assert not [cell for cell in cells if cell[:1] in tuple("=@\t\r") or (cell[:1] in "+-" and not number(cell))]
    (tmp_path / "x.csv").write_text(text)
    back = read_csv(tmp_path / "x.csv")
    assert [None if pd.isna(value) else value for value in back["level"]] == TEXTS
    assert list(back["joules"]) == [-1.5] * len(TEXTS)
    assert list(back.columns) == ["level", "joules", "=evil"]


def number(cell: str) -> bool:
    return cell == "" or cell.replace(".", "").lstrip("-").isdigit()


def test_frames_without_such_a_text_are_written_as_pandas_writes_them() -> None:
    frame = pd.DataFrame(
        {"a": [1, -2], "b": ["x", None], "c": [0.1, None], "d": [True, None], "e": pd.Series([1, None], dtype=object)}
    )
    assert to_csv(frame) == frame.to_csv(index=False, lineterminator="\n")
