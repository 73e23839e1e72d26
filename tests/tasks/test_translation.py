"""Translation: batches of sentences that are alike in length, and BLEU of any outputs."""

import itertools
import re
import sys
from itertools import chain

import numpy as np
import pytest

from framewatt.datasets.contract import Arrays
from framewatt.datasets.pairs import BOS, EOS, PAD, SPECIAL, UNK, Corpus, bleu, make_pairs, text_of
from framewatt.datasets.ragged import IGNORED
from framewatt.datasets.synthetic_language import make
from framewatt.tasks import task_of
from framewatt.tasks.contract import TEST, TRAIN, Judged, Step
from framewatt.tasks.quality import primary_of, quality_of
from framewatt.tasks.translation import OUTPUT_TOKENS, REFERENCE_TOKENS

TASK = task_of("translation")
DRAWN = make(vocabulary=60, train_pairs=1003, test_pairs=90, longest=40, seed=3)
PIECES = (*SPECIAL, "the", "a@@", "b", "dog", "sees", "")
REFERENCE = [4, 5, 6, 7, 8, 4, 7]


def data_of(*targets: list[int]) -> Arrays:
    """Test sentences that are to be translated so."""
    train, test = Corpus(), Corpus()
    train.add([4], [4])
    for target in targets:
        test.add([4, 5, 6], target)
    references = [text_of(target, PIECES) for target in targets]
    sources = ["the ab"] * len(targets)
    return make_pairs(train, test, pieces=PIECES, sources=sources, references=references, about={}, task="translation")


def steps(split: str, batch_size: int, seed: int = 0, epoch: int = 1) -> list[Step]:
    return list(TASK.plan(split, DRAWN, batch_size, seed, epoch))


def outputs_of(sentences: list[list[int]], fill: int = IGNORED) -> np.ndarray:
    widest = max(map(len, sentences))
    return np.array([sentence + [fill] * (widest - len(sentence)) for sentence in sentences])


def sentences_of(data: Arrays) -> list[list[int]]:
    """Targets of the test set, as ids without ends."""
    return [row[: row.index(EOS)] for row in data.y_test[:].tolist()]


def judged(outputs: np.ndarray, data: Arrays = DRAWN) -> Judged:
    return TASK.judge(outputs, data)


@pytest.mark.parametrize("batch_size", [1, 7, 32, 90, 500])
def test_every_test_sentence_is_taken_once_in_batches_that_are_alike_in_length(batch_size: int) -> None:
    dealt = steps(TEST, batch_size)
    order = np.concatenate([step.indices for step in dealt])
    assert sorted(order) == list(range(90))
    # Sorted by their shortest, batches of steps of 8 do not overlap; the last one is of any lengths.
    whole = [DRAWN.x_test.lengths[step.indices] for step in dealt if len(step.indices) == batch_size]
    steps_of_8 = sorted((-(-lengths.min() // 8), -(-lengths.max() // 8)) for lengths in whole)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(steps_of_8))
    assert {len(step.indices) for step in dealt[:-1]} <= {batch_size}
    assert [step.units for step in dealt] == [len(step.indices) for step in dealt]
    assert not any(step.carries_state for step in dealt)


@pytest.mark.parametrize("batch_size", [1, 8, 64, 1003])
def test_training_pairs_are_taken_once_but_for_those_that_no_batch_holds(batch_size: int) -> None:
    dealt = steps(TRAIN, batch_size)
    order = np.concatenate([step.indices for step in dealt])
    assert len(set(order)) == len(order) == 1003 // batch_size * batch_size
    assert {len(step.indices) for step in dealt} == {batch_size}


def test_a_batch_larger_than_the_training_set_is_all_of_it() -> None:
    (step,) = steps(TRAIN, 5000)
    assert sorted(step.indices) == list(range(1003))


def test_what_is_left_out_of_training_is_any_pair_and_another_one_each_epoch() -> None:
    left_out = [
        sorted(set(range(1003)) - set(np.concatenate([step.indices for step in steps(TRAIN, 100, epoch=epoch)])))
        for epoch in range(40)
    ]
    assert {len(some) for some in left_out} == {3}
    assert len(set(chain.from_iterable(left_out))) > 90
    mean = DRAWN.x_train.lengths[list(chain.from_iterable(left_out))].mean()
    # Sentences are 5 to 41 ids long; 120 drawn ones are 23 on average, give or take one.
    assert abs(mean - DRAWN.x_train.lengths.mean()) < 4


def test_the_order_is_that_of_seed_and_epoch_alone() -> None:
    def order(seed: int, epoch: int) -> list[list[int]]:
        return [step.indices.tolist() for step in steps(TRAIN, 64, seed, epoch)]

    assert order(7, 2) == order(7, 2)
    assert order(7, 2) != order(7, 1)
    assert order(7, 2) != order(8, 2)
    assert [step.indices.tolist() for step in steps(TEST, 64, 7, 2)] == [
        step.indices.tolist() for step in steps(TEST, 64, 8, 1)
    ]


@pytest.mark.parametrize("batch_size", [1, 4, 16])
def test_the_first_part_of_a_pass_is_like_the_whole(batch_size: int) -> None:
    """A window may end within a pass, and requests are put from its first batches; by length they were 60 % off."""
    many = make(vocabulary=50, train_pairs=8, test_pairs=1600, longest=40, seed=3)
    order = np.concatenate([step.indices for step in TASK.plan(TEST, many, batch_size)])
    lengths = many.x_test.lengths
    for part in (order[:400], order[-400:]):
        assert lengths[part].mean() == pytest.approx(lengths.mean(), rel=0.25)


def test_batches_of_training_are_alike_in_length_and_in_no_order() -> None:
    dealt = steps(TRAIN, 32)
    rows = (DRAWN.x_train, DRAWN.more_train["target_ids"], DRAWN.y_train)
    wanted = sum(int(one.lengths[step.indices].sum()) for one in rows for step in dealt)
    taken = sum(one[step.indices].size for one in rows for step in dealt)
    by_chance = np.random.default_rng(0).permutation(1003)[: len(dealt) * 32].reshape(-1, 32)
    else_taken = sum(one[chosen].size for one in rows for chosen in by_chance)
    assert wanted * 1.3 > taken
    assert taken < else_taken * 0.8
    # Lengths of both sides are the same here.
    widths = [DRAWN.x_train[step.indices].shape[1] for step in dealt]
    assert widths not in (sorted(widths), sorted(widths)[::-1])
    # A batch of one bucket, or of two where one ends: never of all lengths.
    assert np.mean([np.ptp(-(-DRAWN.x_train.lengths[step.indices] // 8)) for step in dealt]) < 0.5


def test_batches_are_made_of_whichever_pairs_are_as_long() -> None:
    """Not of the same ones in every epoch."""
    one, other = ({frozenset(step.indices.tolist()) for step in steps(TRAIN, 4, epoch=epoch)} for epoch in (1, 2))
    assert len(one & other) < 5


def test_outputs_of_different_widths_come_back_in_the_order_of_the_sentences() -> None:
    dealt = steps(TEST, 20)
    outputs = [np.repeat(step.indices[:, None], width + 1, axis=1) for width, step in enumerate(dealt)]
    found = TASK.in_order(outputs, dealt)
    assert found.shape == (90, len(dealt))
    assert found[:, 0].tolist() == list(range(90))
    for width, step in enumerate(dealt):
        assert (found[step.indices, width + 1 :] == IGNORED).all()


def test_outputs_of_an_encoder_come_back_in_order_too() -> None:
    dealt = steps(TEST, 20)
    outputs = [np.repeat(step.indices[:, None, None].astype(np.float32), 3 + i, 1) for i, step in enumerate(dealt)]
    found = TASK.in_order(outputs, dealt)
    assert found.shape == (90, 7, 1)
    assert found[:, 0, 0].tolist() == list(range(90))
    assert (found[dealt[0].indices, 3:] == 0).all()
    unknown = judged(found)
    assert unknown.values == {"bleu": None}
    assert unknown.unknown.startswith("outputs of shape (90, 7, 1), float32, are no sentences")


def test_outputs_that_are_too_few_are_told() -> None:
    dealt = steps(TEST, 20)
    outputs = [np.zeros((len(step.indices) - 1, 2), np.int64) for step in dealt]
    assert judged(TASK.in_order(outputs, dealt)).unknown.startswith("outputs of shape (85, 2), int64, are no sentences")


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint16])
@pytest.mark.parametrize("fill", [IGNORED, PAD, EOS])
def test_the_references_themselves_have_100(dtype: type, fill: int) -> None:
    outputs = outputs_of(sentences_of(DRAWN), PAD if fill == IGNORED and dtype is np.uint16 else fill).astype(dtype)
    found = judged(outputs)
    assert (found.values, found.unknown, found.right) == ({"bleu": 100.0}, None, None)
    assert found.method == bleu(["a"], ["b"])[1]


def test_the_copy_has_what_the_record_of_the_data_set_says() -> None:
    sources = [row[: row.index(EOS)] for row in DRAWN.x_test[:].tolist()]
    assert judged(outputs_of(sources)).values["bleu"] == pytest.approx(DRAWN.about["copy_bleu"])


def test_words_in_another_order_have_less_and_their_own_order_is_what_counts() -> None:
    sentences = sentences_of(DRAWN)
    draw = np.random.default_rng(0)
    shuffled = judged(outputs_of([draw.permutation(sentence).tolist() for sentence in sentences])).values["bleu"]
    swapped = judged(outputs_of([[*sentence[1::-1], *sentence[2:]] for sentence in sentences])).values["bleu"]
    assert 0 < shuffled < 20 < swapped < 95
    # Another sentence's translation is worse than this one's words shuffled.
    assert judged(outputs_of(sentences[1:] + sentences[:1])).values["bleu"] < shuffled


def test_bleu_is_that_of_its_definition() -> None:
    """One sentence of 6 words, in 7 pieces: right are 5 of 6 words, 4 of 5 pairs, 3 of 4, 2 of 3; none is missing."""
    data = data_of(REFERENCE)
    found = judged(outputs_of([[*REFERENCE[:-1], 8]]), data).values["bleu"]
    assert found == pytest.approx(100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25)
    # Without its last word: all right, and a penalty for being shorter.
    assert judged(outputs_of([REFERENCE[:-1]]), data).values["bleu"] == pytest.approx(100 * np.exp(1 - 6 / 5))


def test_a_translation_ends_at_its_first_end() -> None:
    data = data_of(REFERENCE)
    for end in (IGNORED, PAD, EOS):
        assert judged(np.array([[*REFERENCE, end, 4, 5, 6]]), data).values["bleu"] == 100
        assert judged(np.array([[end, *REFERENCE]]), data).values["bleu"] == 0


@pytest.mark.parametrize("wrong", [UNK, BOS, 9])
def test_ids_that_are_no_piece_are_words_that_are_wrong(wrong: int) -> None:
    """9 is an id of the vocabulary that no piece has. Signs count as words: <unk> is three of them."""
    found = judged(outputs_of([[*REFERENCE[:-1], wrong]]), data_of(REFERENCE)).values["bleu"]
    assert found == pytest.approx(100 * (5 / 8 * 4 / 7 * 3 / 6 * 2 / 5) ** 0.25)


@pytest.mark.parametrize("fill", [IGNORED, PAD, EOS])
@pytest.mark.parametrize("width", [0, 1, 5])
def test_no_translation_at_all_is_known_to_be_worth_nothing(width: int, fill: int) -> None:
    found = judged(np.full((90, width), fill))
    assert (found.values, found.unknown) == ({"bleu": 0.0}, None)
    assert found.method


def test_an_empty_translation_among_others_is_one_sentence_that_lacks() -> None:
    sentences = sentences_of(DRAWN)
    found = judged(outputs_of([[], *sentences[1:]])).values["bleu"]
    missing = len(sentences[0])
    words = sum(map(len, sentences))
    assert found == pytest.approx(100 * np.exp(1 - words / (words - missing)))


@pytest.mark.parametrize(
    ("outputs", "reason"),
    [
        (np.full((90, 3), 5.0, np.float32), "outputs of shape (90, 3), float32, are no sentences"),
        (np.full((90, 3), np.nan), "outputs of shape (90, 3), float64, are no sentences"),
        (np.zeros((90, 3), np.bool_), "outputs of shape (90, 3), bool, are no sentences"),
        (np.zeros((90, 3), np.complex64), "outputs of shape (90, 3), complex64, are no sentences"),
        (np.zeros((90, 3), object), "outputs of shape (90, 3), object, are no sentences"),
        (np.zeros(90, np.int64), "outputs of shape (90,), int64, are no sentences"),
        (np.zeros((), np.int64), "outputs of shape (), int64, are no sentences"),
        (np.zeros((90, 3, 2), np.int64), "outputs of shape (90, 3, 2), int64, are no sentences"),
        (np.zeros((89, 3), np.int64), "outputs of shape (89, 3), int64, are no sentences"),
        (np.zeros((0, 3), np.int64), "outputs of shape (0, 3), int64, are no sentences"),
        (np.full((90, 3), 64), "outputs are ids 0 to 64; allowed: -1 to 63"),
        (np.full((90, 3), -2), "outputs are ids -2 to 0; allowed: -1 to 63"),
        (np.full((90, 3), np.iinfo(np.int64).min), "outputs are ids -9223372036854775808 to 0"),
        (np.full((90, 3), np.iinfo(np.uint64).max), "outputs are ids 0 to 18446744073709551615"),
        # Also behind an end, where nothing of a sentence is.
        (np.array([[5, IGNORED, 70]] * 90), "outputs are ids -1 to 70; allowed: -1 to 63"),
    ],
)
def test_outputs_that_are_no_sentences_make_bleu_unknown(outputs: np.ndarray, reason: str) -> None:
    found = judged(outputs)
    assert (found.values, found.right, found.method) == ({"bleu": None}, None, None)
    assert found.unknown.startswith(reason)
    assert "\n" not in found.unknown


def test_any_ids_of_the_vocabulary_have_a_bleu() -> None:
    draw = np.random.default_rng(0)
    for width in (1, 3, 30):
        found = judged(draw.integers(-1, 64, size=(90, width)))
        assert found.unknown is None
        assert 0 <= found.values["bleu"] < 10


def test_without_sacrebleu_bleu_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    found = judged(outputs_of(sentences_of(DRAWN)))
    assert found.unknown == "there is no sacrebleu in this environment"
    assert found.facts[OUTPUT_TOKENS] == found.facts[REFERENCE_TOKENS] > 4


def test_a_record_says_how_bleu_was_counted() -> None:
    quality = quality_of(judged(outputs_of(sentences_of(DRAWN))))
    told = quality["bleu"]
    assert (told["value"], told["unit"], told["better"], told["reason"]) == (100.0, "", "higher", None)
    assert re.fullmatch(r"nrefs:1\|case:mixed\|.*\|version:[\d.]+", told["method"])
    assert primary_of(quality) == "bleu"
    assert "method" not in quality_of(judged(np.zeros((1, 1))))["bleu"]


@pytest.mark.parametrize("fill", [IGNORED, PAD, EOS])
def test_a_record_says_how_long_translations_are(fill: int) -> None:
    """Ends and what stands behind them do not count."""
    data = data_of(REFERENCE, REFERENCE[:4])
    told = quality_of(judged(outputs_of([[4, 5, 6, 7, EOS, 8, 8, 8], [4]], fill), data))["bleu"]
    assert (told[OUTPUT_TOKENS], told[REFERENCE_TOKENS]) == (2.5, 5.5)
    assert quality_of(judged(np.full((2, 3), fill), data))["bleu"][OUTPUT_TOKENS] == 0
    assert OUTPUT_TOKENS not in quality_of(judged(np.zeros((1, 1))))["bleu"]


@pytest.mark.parametrize(
    ("ours", "theirs", "flagged"),
    [(0, 5.5, True), (2.74, 5.5, True), (2.75, 5.5, False), (5.5, 5.5, False), (11, 5.5, False), (11.1, 5.5, True)],
)
def test_outputs_that_are_no_translations_by_their_length_are_flagged(
    ours: float, theirs: float, flagged: bool
) -> None:
    quality = {"bleu": {"value": 0.0, OUTPUT_TOKENS: ours, REFERENCE_TOKENS: theirs}}
    said = f"outputs have {ours:.3g} tokens a sentence, references 5.5: energy a sentence is not that of a translation"
    assert TASK.answer_flags(quality) == ([said] if flagged else [])


@pytest.mark.parametrize("quality", [{}, {"accuracy": {"value": 0.5}}, {"bleu": {"value": 0.0}}])
def test_records_that_tell_no_length_have_no_such_flag(quality: dict) -> None:
    assert TASK.answer_flags(quality) == []


def test_answers_are_sentences_and_none_is_right_or_wrong() -> None:
    assert TASK.answers_in({"test_samples": 90, "test_units": 2000}) == 90
    assert TASK.predictions(np.zeros((90, 3), np.int64), DRAWN) is None
    assert (TASK.unit, TASK.primary.highest, TASK.primary.is_share(), TASK.primary.words) == (
        "sentence",
        100,
        False,
        "BLEU",
    )
