"""Translation: a sentence of one language for each of another. It uses numpy only, except for BLEU; see classification.

Source of batches of sentences that are alike in length: Y. Wu et al., Google's Neural Machine Translation System, 2016.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays
from framewatt.datasets.pairs import BLEU_HIGHEST, EOS, PAD, Pairs, bleu, text_of
from framewatt.datasets.ragged import IGNORED, ROUNDED, Ragged
from framewatt.tasks.contract import (
    NOT_NUMBERS,
    TEST,
    Judged,
    Metric,
    Mismatch,
    Outputs,
    Quality,
    Step,
    Task,
    check_not_empty,
)

BLEU = Metric("bleu", "BLEU", highest=BLEU_HIGHEST)
"""How many runs of one to four words of the translations are in the references, over the whole test set."""

OUTPUT_TOKENS, REFERENCE_TOKENS = "output_tokens_per_sentence", "reference_tokens_per_sentence"
"""Mean pieces of a translation and of a reference, facts of BLEU in records: without start, end and padding."""

_UNLIKE = 2
"""How many times longer or shorter than references outputs are, on average, that are not translations."""


class Translation(Task):
    """A translation of every sentence; outputs are ids of pieces, shape (m, width), without start and end.

    After a translation's end, ids are IGNORED. In training, a model gets source sentences and the target sentences
    without their ends, and gives scores of each next piece.
    """

    name = "translation"
    unit = "sentence"
    metrics = (BLEU,)
    kinds = (Pairs,)

    def plan(self, split: str, data: Arrays, batch_size: int, seed: int = 0, epoch: int = 0) -> Iterator[Step]:
        """Yield batches of sentences that are about equally long, since padding is work for nothing.

        The pairs that do not fill a whole batch are drawn whatever their length: in training they are left out, of the
        test set they are the last batch. The others are sorted by length, of the longer of both sentences in training
        and of the source in the test set, in steps of ROUNDED. Then the batches are shuffled, so that a part of a pass
        is like the whole: with the shortest sentences first, joules per sentence would depend on where a window ends.
        Training follows `seed` and `epoch`; the test set has one order.

        Args:
            split: TRAIN or TEST.
            data: the data set.
            batch_size: pairs per step.
            seed: of the study.
            epoch: from 1.

        Raises:
            FramewattError: the training set is empty.
        """
        if split == TEST:
            lengths, draw = _lengths(data.x_test), np.random.default_rng(0)
        else:
            longer = np.maximum(_lengths(data.x_train), data.lengths(test=False))
            lengths, draw = longer, np.random.default_rng([seed, epoch])
        check_not_empty(len(lengths))
        whole, rest = _batches(lengths, min(batch_size, len(lengths)), draw)
        for chosen in [*whole, rest] if split == TEST and len(rest) else whole:
            yield Step(chosen, self.units_of(split, data, chosen))

    def answers_in(self, data: Mapping[str, Any]) -> int:
        """Return the number of sentences: each is one answer."""
        return int(data["test_samples"])

    def predictions(self, outputs: Outputs, data: Arrays) -> None:
        """Return None: a sentence can be translated in more than one way."""

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """Return BLEU of the translations against the references; a translation ends at its first padding or end.

        The length of translations is known even where BLEU is not: a model that writes nothing is quick.
        """
        assert isinstance(data, Pairs)
        rows = len(data.references)
        if outputs.ndim != 2 or outputs.dtype.kind not in "iu" or len(outputs) != rows:
            return self.unjudged(
                f"outputs of shape {outputs.shape}, {outputs.dtype}, are no sentences; allowed: ids, ({rows}, width)"
            )
        low, high = int(outputs.min(initial=PAD)), int(outputs.max(initial=PAD))
        if low < IGNORED or high >= len(data.pieces):
            return self.unjudged(f"outputs are ids {low} to {high}; allowed: {IGNORED} to {len(data.pieces) - 1}")
        ended = (outputs == IGNORED) | (outputs == PAD) | (outputs == EOS)
        lengths = np.where(ended.any(axis=1), ended.argmax(axis=1), outputs.shape[1]) if outputs.size else [0] * rows
        facts = {
            OUTPUT_TOKENS: float(np.mean(lengths)),
            # Without their ends.
            REFERENCE_TOKENS: float(data.lengths(test=True).mean()) - 1,
        }
        texts = [text_of(ids[:length].tolist(), data.pieces) for ids, length in zip(outputs, lengths, strict=True)]
        try:
            value, method = bleu(texts, data.references)
        except ImportError:
            return replace(self.unjudged("there is no sacrebleu in this environment"), facts=facts)
        return Judged({BLEU.name: value}, None, method=method, facts=facts)

    def same_share(self, outputs: Outputs, reference: Outputs) -> float | None:
        """Return the share of equal translations, whatever their padding; None of scores."""
        if reference.dtype.kind != "i":
            return None
        widest = np.maximum(outputs.shape[1:], reference.shape[1:])
        return float((_widened(outputs, widest) == _widened(reference, widest)).all(axis=1).mean())

    def in_order(self, outputs: Iterable[Outputs], steps: Iterable[Step]) -> Outputs:
        """Return the outputs in the order of the samples, padded to the widest: ids with IGNORED, others with 0."""
        parts = list(outputs)
        if len({part.ndim for part in parts}) == 1:
            widest = np.max([part.shape[1:] for part in parts], axis=0).astype(int)
            parts = [_widened(part, widest) for part in parts]
        return super().in_order(parts, steps)

    def reasons_pattern(self, data: Mapping[str, Any]) -> str:
        """Return a regular expression of all reasons for which BLEU is unknown."""
        shape = r"outputs of shape \([\d, ]+\), \w+, are no sentences; allowed: ids, \(\d+, width\)"
        return rf"{NOT_NUMBERS}|{shape}|outputs are ids -?\d+ to \d+; allowed: -?\d+ to \d+"

    def answer_flags(self, quality: Quality) -> list[str]:
        """Return the flag of outputs that are less than half, or more than twice, as long as references."""
        facts = quality.get(BLEU.name, {})
        if OUTPUT_TOKENS not in facts or REFERENCE_TOKENS not in facts:
            return []
        ours, theirs = facts[OUTPUT_TOKENS], facts[REFERENCE_TOKENS]
        if theirs <= _UNLIKE * ours <= _UNLIKE**2 * theirs:
            return []
        lengths = f"outputs have {ours:.3g} tokens a sentence, references {theirs:.3g}"
        return [f"{lengths}: energy a sentence is not that of a translation"]

    def mismatches(self, quality: Quality, data: Mapping[str, Any]) -> Iterator[Mismatch]:
        """Yield BLEU that was counted in another way than that of the data record, and references of another length.

        The counter's version may differ. Translations are not stored, so that their length cannot be checked.
        """
        facts = quality.get(BLEU.name, {})
        ours, theirs = (str(method).partition("|version:")[0] for method in (data.get("bleu"), facts.get("method")))
        if facts.get("value") is not None and ours != theirs:
            sentence = f"the record states {theirs!r}, the data record {ours!r}"
            yield Mismatch(f"{BLEU.name}.method", sentence=sentence)
        if (length := facts.get(REFERENCE_TOKENS)) is not None:
            tokens, samples = data.get("test_tokens"), data.get("test_samples")
            target = tokens.get("target") if isinstance(tokens, Mapping) else None
            each = target / samples if isinstance(target, int) and samples else None
            yield Mismatch(f"{BLEU.name}.{REFERENCE_TOKENS}", length, each, "the data record gives")


def _batches(
    lengths: NDArray[np.int64], size: int, draw: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the samples of each whole batch, shape (batches, size), in random order; and those that are left."""
    order = draw.permutation(len(lengths))
    whole, rest = np.split(order, [len(order) - len(order) % size])
    alike = whole[np.argsort(-(-lengths[whole] // ROUNDED), kind="stable")].reshape(-1, size)
    return alike[draw.permutation(len(alike))], rest


def _lengths(rows: Any) -> NDArray[np.int64]:
    """Return how many ids each sentence has; sentences of pairs are Ragged."""
    assert isinstance(rows, Ragged)
    return rows.lengths


def _widened(values: Outputs, widest: NDArray[np.int64]) -> Outputs:
    more = [(0, 0), *((0, int(to) - at) for at, to in zip(values.shape[1:], widest, strict=True))]
    return np.pad(values, more, constant_values=IGNORED if values.dtype.kind == "i" else 0)
