"""Translation: a sentence of one language for each of another. Numpy only but for BLEU, see classification.

Source of batches of sentences that are alike in length: Y. Wu et al., Google's Neural Machine Translation System, 2016.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.datasets.pairs import BLEU_HIGHEST, EOS, PAD, bleu, text_of
from framewatt.datasets.ragged import IGNORED, ROUNDED, Ragged
from framewatt.tasks.contract import TEST, Judged, Metric, Outputs, Step, Task

BLEU = Metric("bleu", "BLEU", highest=BLEU_HIGHEST)
"""How many runs of one to four words of the translations are in the references, over the whole test set."""

OUTPUT_TOKENS, REFERENCE_TOKENS = "output_tokens_per_sentence", "reference_tokens_per_sentence"
"""Mean pieces of a translation and of a reference, beside BLEU in records: without begin, end and padding."""

_UNLIKE = 2
"""How many times longer or shorter than references translations are, on average, when they are none."""


class Translation(Task):
    """A translation of every sentence; outputs are ids of pieces, shape (m, width), without begin and end.

    From a translation's end on stands IGNORED. In training, a model gets source sentences and the target sentences
    without their ends, and gives scores of each next piece.
    """

    name = "translation"
    unit = "sentence"
    metrics = (BLEU,)

    def plan(self, split: str, data: Arrays, batch_size: int, seed: int = 0, epoch: int = 0) -> Iterator[Step]:
        """Batches of sentences that are about equally long, since padding is work for nothing.

        As many pairs as no whole batch holds are drawn, whatever their length: in training they are left out, of the
        test set they are the last batch. The others are taken by length, of the longer of both sentences in training
        and of the source in the test set, in steps of ROUNDED. Then the batches are shuffled, so that a part of a pass
        is like the whole: were the shortest sentences first, joules per sentence would depend on where a window ends.
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
        if not len(lengths):
            raise FramewattError("data set: found no training samples; allowed: some, or a study with weights: seeded")
        whole, rest = _batches(lengths, min(batch_size, len(lengths)), draw)
        for chosen in [*whole, rest] if split == TEST and len(rest) else whole:
            yield Step(chosen, self.units_of(split, data, chosen))

    def answers_in(self, data: Mapping[str, Any]) -> int:
        """One answer a sentence."""
        return int(data["test_samples"])

    def predictions(self, outputs: Outputs, data: Arrays) -> None:
        """None: a sentence can be translated in more than one way."""

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """BLEU of the translations against the references; a translation ends at its first padding or end.

        Whatever becomes of BLEU, how long translations are is known: a model that says nothing is quick.
        """
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
        """Share of equal translations, whatever their padding; None of scores."""
        if reference.dtype.kind != "i":
            return None
        widest = np.maximum(outputs.shape[1:], reference.shape[1:])
        return float((_widened(outputs, widest) == _widened(reference, widest)).all(axis=1).mean())

    def in_order(self, outputs: Iterable[Outputs], steps: Iterable[Step]) -> Outputs:
        """Outputs of all steps in the order of the samples, padded to the widest: ids with IGNORED, others with 0."""
        parts = list(outputs)
        if len({part.ndim for part in parts}) == 1:
            widest = np.max([part.shape[1:] for part in parts], axis=0).astype(int)
            parts = [_widened(part, widest) for part in parts]
        return super().in_order(parts, steps)


def unlike_references(quality: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Flag of translations that are less than half, or more than twice, as long as references; empty without one.

    Args:
        quality: as records hold it; older ones do not tell lengths.
    """
    told = quality.get(BLEU.name, {})
    if OUTPUT_TOKENS not in told or REFERENCE_TOKENS not in told:
        return []
    ours, theirs = told[OUTPUT_TOKENS], told[REFERENCE_TOKENS]
    if theirs <= _UNLIKE * ours <= _UNLIKE**2 * theirs:
        return []
    lengths = f"outputs have {ours:.3g} tokens a sentence, references {theirs:.3g}"
    return [f"{lengths}: energy a sentence is not that of a translation"]


def _batches(
    lengths: NDArray[np.int64], size: int, draw: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Samples of each whole batch, shape (batches, size), alike in length and in no order; and those that are left."""
    order = draw.permutation(len(lengths))
    whole, rest = np.split(order, [len(order) - len(order) % size])
    alike = whole[np.argsort(-(-lengths[whole] // ROUNDED), kind="stable")].reshape(-1, size)
    return alike[draw.permutation(len(alike))], rest


def _lengths(rows: Any) -> NDArray[np.int64]:
    """How many ids each sentence has; those of pairs are Ragged."""
    assert isinstance(rows, Ragged)
    return rows.lengths


def _widened(values: Outputs, widest: NDArray[np.int64]) -> Outputs:
    more = [(0, 0), *((0, int(to) - at) for at, to in zip(values.shape[1:], widest, strict=True))]
    return np.pad(values, more, constant_values=IGNORED if values.dtype.kind == "i" else 0)
