"""BLEU that a record says was counted in another way than the data record's."""

import pytest

from framewatt.package.verification.outcome import quality_mismatches
from framewatt.tasks import task_of
from framewatt.tasks.translation import OUTPUT_TOKENS, REFERENCE_TOKENS

TASK = task_of("translation")
OURS = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
DATA = {"bleu": OURS, "test_samples": 64, "test_tokens": {"source": 300, "target": 352}}


def record(value: float | None, method: str | None) -> dict:
    return {"quality": {"bleu": {"value": value, **({} if method is None else {"method": method})}}}


@pytest.mark.parametrize("method", [OURS.replace("mixed", "lc"), OURS.replace("13a", "none"), "<b>x\n", None])
def test_another_way_is_told_in_one_line(method: str | None) -> None:
    (told,) = quality_mismatches(TASK, DATA, record(24.4, method)["quality"])
    assert told.startswith("quality.bleu.method: the record states ")
    assert "\n" not in told


@pytest.mark.parametrize("method", [OURS, OURS.replace("2.6.0", "2.5.1")])
def test_the_same_way_is_believed_also_of_another_version(method: str) -> None:
    assert list(quality_mismatches(TASK, DATA, record(24.4, method)["quality"])) == []


def test_what_is_unknown_or_no_translation_was_counted_in_no_way() -> None:
    assert list(quality_mismatches(TASK, DATA, record(None, None)["quality"])) == []
    assert list(quality_mismatches(TASK, {}, {"accuracy": {"value": 0.9}})) == []


def of_lengths(ours: float, theirs: float) -> dict:
    told = record(24.4, OURS)
    told["quality"]["bleu"] |= {OUTPUT_TOKENS: ours, REFERENCE_TOKENS: theirs}
    return told


def test_references_are_as_long_as_the_data_record_says() -> None:
    """Or a short translation would be made a whole one; how long translations were, nothing tells."""
    assert list(quality_mismatches(TASK, DATA, of_lengths(0.0, 5.5)["quality"])) == []
    (told,) = quality_mismatches(TASK, DATA, of_lengths(2.0, 3.0)["quality"])
    assert told == "quality.bleu.reference_tokens_per_sentence: the record states 3, the data record gives 5.5"


@pytest.mark.parametrize("tokens", [None, 352, {}, {"target": "352"}])
def test_a_data_record_that_tells_no_tokens_is_one_line(tokens: object) -> None:
    (told,) = quality_mismatches(TASK, {**DATA, "test_tokens": tokens}, of_lengths(2.0, 5.5)["quality"])
    assert told.startswith("quality.bleu.reference_tokens_per_sentence: ")
