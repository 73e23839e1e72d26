"""alizadeh2024 from its own tables: the numbers of its sentences, and how its columns hang together."""

import pytest
from checkout import ROOT

from framewatt.base.errors import FramewattError
from framewatt.papers.alizadeh2024 import recount as alizadeh2024
from framewatt.papers.printed import read_claims

RESOURCES = ROOT / "resources" / "published"


@pytest.fixture(scope="module")
def frame():
    return alizadeh2024.recount(RESOURCES)


def claim(frame, name):
    return frame.set_index("column").loc[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("results-rho", 0.98974),
        ("results-rho-p", 6.54e-27),
        ("results-rho-gpu", 0.80572),
        ("results-rho-gpu-p", 2.65e-8),
        ("results-cpu-share", 51.71),
        ("results-cpu-share-trimmed", 38.43),
    ],
)
def test_the_headline_numbers_follow_from_table_1(frame, name, value):
    row = claim(frame, name)
    assert row["verdict"] == "reproduced"
    assert row["recomputed"] == pytest.approx(value, rel=2e-3)


def test_every_row_of_the_tables_agrees_with_itself(frame):
    rows = frame[frame["table"].isin(["Table 1", "Table 3"])]
    assert len(rows) == 2 * (32 + 6)
    assert set(rows["verdict"]) == {"reproduced"}


def test_a_sentence_that_the_tables_do_not_bear_out_is_named_with_the_exception(frame):
    row = claim(frame, "conclusions-tensorrt-time")
    assert (row["verdict"], row["recomputed"], row["note"]) == ("deviates", 2, "not so: tf")


def test_every_number_has_a_verdict_and_a_way(frame):
    assert len(frame) == 76 + len(read_claims(RESOURCES / "alizadeh2024_claims.csv"))
    assert frame["how"].str.len().gt(0).all()
    unknown = frame[frame["verdict"] == "cannot be recomputed"]
    assert unknown["note"].tolist() == ["the accuracies of the converted models are not printed"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,Abstract,words,1,J,times,quantity=x", "claim a: times(quantity=x) cannot be computed"),
        ("a,Abstract,words,1,J,guess,", "claim a: how: 'guess' is not a function of the paper. Use one of cell, times"),
        (
            "a,Abstract,words,1,J,times,quantity",
            "claim a: arguments: 'quantity' is no list of arguments. Write name=value",
        ),
    ],
)
def test_a_claim_that_cannot_be_recounted_is_one_line(tmp_path, line, message):
    for path in RESOURCES.glob("alizadeh2024_*.csv"):
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "alizadeh2024_claims.csv").write_text(f"id,where,claim,value,unit,how,arguments\n{line}\n")
    with pytest.raises(FramewattError) as caught:
        alizadeh2024.recount(tmp_path)
    assert message in str(caught.value)
