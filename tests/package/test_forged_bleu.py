"""BLEU that a record says was counted in another way than the data record's."""

import pytest

from framewatt.package.verification.samples import counted_alike

OURS = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
DATA = {"bleu": OURS}


def record(value: float | None, method: str | None) -> dict:
    return {"quality": {"bleu": {"value": value, **({} if method is None else {"method": method})}}}


@pytest.mark.parametrize("method", [OURS.replace("mixed", "lc"), OURS.replace("13a", "none"), "<b>x\n", None])
def test_another_way_is_told_in_one_line(method: str | None) -> None:
    (told,) = counted_alike(DATA, record(24.4, method))
    assert told.startswith("quality.bleu.method: the record says ")
    assert "\n" not in told


@pytest.mark.parametrize("method", [OURS, OURS.replace("2.6.0", "2.5.1")])
def test_the_same_way_is_believed_also_of_another_version(method: str) -> None:
    assert list(counted_alike(DATA, record(24.4, method))) == []


def test_what_is_unknown_or_no_translation_was_counted_in_no_way() -> None:
    assert list(counted_alike(DATA, record(None, None))) == []
    assert list(counted_alike({}, {"quality": {"accuracy": {"value": 0.9}}})) == []
