"""Translation: a sentence of one language for each of another. Numpy only but for BLEU, see classification.

Source of batches of sentences that are alike in length: Y. Wu et al., Google's Neural Machine Translation System, 2016.
"""

from collections.abc import Iterable, Iterator, Mapping
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

        The test set is taken by rising length of its source sentences. Of the training set, shuffled by `seed` and
        `epoch`, first as many pairs are left out as no batch holds, whatever their length; the others are taken by
        length, of the longer of both sentences, in steps of ROUNDED; and then the batches are shuffled.

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
            order = np.argsort(_lengths(data.x_test), kind="stable")
            batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
        else:
            batches = list(_training_batches(data, batch_size, np.random.default_rng([seed, epoch])))
        for chosen in batches:
            yield Step(chosen, self.units_of(split, data, chosen))

    def answers_in(self, data: Mapping[str, Any]) -> int:
        """One answer a sentence."""
        return int(data["test_samples"])

    def predictions(self, outputs: Outputs, data: Arrays) -> None:
        """None: a sentence can be translated in more than one way."""

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """BLEU of the translations against the references; a translation ends at its first padding or end."""
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
        texts = [text_of(ids[:length].tolist(), data.pieces) for ids, length in zip(outputs, lengths, strict=True)]
        try:
            value, method = bleu(texts, data.references)
        except ImportError:
            return self.unjudged("there is no sacrebleu in this environment")
        return Judged({BLEU.name: value}, None, method=method)

    def in_order(self, outputs: Iterable[Outputs], steps: Iterable[Step]) -> Outputs:
        """Outputs of all steps in the order of the samples, padded to the widest: ids with IGNORED, others with 0."""
        parts = list(outputs)
        if len({part.ndim for part in parts}) == 1:
            widest = np.max([part.shape[1:] for part in parts], axis=0).astype(int)
            parts = [_widened(part, widest) for part in parts]
        return super().in_order(parts, steps)


def _training_batches(data: Arrays, batch_size: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Pairs of each batch of an epoch, shape (batches, size)."""
    count = len(data.x_train)
    if not count:
        raise FramewattError("data set: found no training samples; allowed: some, or a study with weights: seeded")
    size = min(batch_size, count)
    order = draw.permutation(count)[: count - count % size]
    longer = np.maximum(_lengths(data.x_train), data.lengths(test=False))
    buckets = -(-longer // ROUNDED)
    alike = order[np.argsort(buckets[order], kind="stable")].reshape(-1, size)
    batches: NDArray[np.int64] = alike[draw.permutation(len(alike))]
    return batches


def _lengths(rows: Any) -> NDArray[np.int64]:
    """How many ids each sentence has; those of pairs are Ragged."""
    assert isinstance(rows, Ragged)
    return rows.lengths


def _widened(values: Outputs, widest: NDArray[np.int64]) -> Outputs:
    more = [(0, 0), *((0, int(to) - at) for at, to in zip(values.shape[1:], widest, strict=True))]
    return np.pad(values, more, constant_values=IGNORED if values.dtype.kind == "i" else 0)
