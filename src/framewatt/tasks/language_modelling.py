"""Language modelling: how probable a model finds each token of a text after those before it. Numpy only.

Source of the deal into streams and of memory that goes on from segment to segment: Z. Dai et al., Transformer-XL, ACL
2019.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays
from framewatt.datasets.segments import Segments
from framewatt.tasks.contract import LOWER, NOT_NUMBERS, TEST, Judged, Metric, Outputs, Step, Task, check_not_empty

PERPLEXITY = Metric("perplexity", "Perplexity", LOWER, lowest=1.0, highest=None)
"""e to the mean negative log-likelihood of a token: between how many equally likely tokens a model is undecided."""

_ROUNDING = 1e-3
"""How far below 0 rounding, of half precision above all, may bring a negative log-likelihood."""


class LanguageModelling(Task):
    """The next token of every token of a text, in segments. The memory of one segment goes on in the next.

    A model gets tokens and their targets, both (batch, length), and gives the negative log-likelihoods of the targets,
    in nats, (batch, length), float32. Scores of all words would be 32 GB for WikiText-2, and an adaptive softmax does
    not make them.

    As many streams as a batch has samples go in parallel, each a part of the text without a gap. Every token of the
    test set is predicted once; a token at the start of a stream has no memory, so that perplexity rises with the batch
    size (that of a small Transformer-XL on WikiText-2 from 209.11 in 8 streams to 209.17 in 64).
    """

    name = "language_modelling"
    unit = "token"
    metrics = (PERPLEXITY,)
    kinds = (Segments,)

    def plan(self, split: str, data: Arrays, batch_size: int, seed: int = 0, epoch: int = 0) -> Iterator[Step]:
        """Yield the steps: step i takes segment i of every stream, in the order of the text.

        Streams of the training set are equally long, and surplus segments are left out; of the test set, the first
        streams have a segment more where the segments cannot be dealt evenly.

        Args:
            split: TRAIN or TEST.
            data: the data set.
            batch_size: streams; at most as many as there are segments.
            seed: unused.
            epoch: unused.

        Raises:
            FramewattError: the training set has no segment.
        """
        count = len(data.x_test if split == TEST else data.x_train)
        check_not_empty(count)
        streams = min(batch_size, count)
        lengths = np.full(streams, count // streams)
        if split == TEST:
            lengths[: count % streams] += 1
        first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        for place in range(lengths.max()):
            chosen = first[lengths > place] + place
            yield Step(chosen, self.units_of(split, data, chosen), carries_state=place > 0)

    def units_of(self, split: str, data: Arrays, indices: NDArray[np.int64]) -> int:
        """Return the tokens that some segments predict."""
        return int(data.lengths(split == TEST)[indices].sum())

    def predictions(self, outputs: Outputs, data: Arrays) -> None:
        """Return None: likelihoods do not choose a token."""

    def judge(self, outputs: Outputs, data: Arrays) -> Judged:
        """Return perplexity over all tokens of the test set without padding."""
        if outputs.shape != data.y_test.shape:
            return self.unjudged(f"outputs of shape {outputs.shape} are no likelihoods of {data.y_test.shape} tokens")
        tokens = np.arange(data.y_test.shape[1]) < data.lengths(test=True)[:, None]
        each = outputs[tokens].astype(np.float64)
        if not np.isfinite(each).all():
            return self.unjudged(NOT_NUMBERS)
        if each.min() < -_ROUNDING:
            return self.unjudged("some token is more probable than 1")
        with np.errstate(over="ignore"):
            perplexity = float(np.exp(each.mean()))
        if not np.isfinite(perplexity):
            return self.unjudged(NOT_NUMBERS)
        return Judged({PERPLEXITY.name: max(perplexity, 1.0)}, None)

    def reasons_pattern(self, data: Mapping[str, Any]) -> str:
        """Return a regular expression of all reasons for which perplexity is unknown."""
        shape = r"outputs of shape \([\d, ]+\) are no likelihoods of \([\d, ]+\) tokens"
        return f"{NOT_NUMBERS}|{shape}|some token is more probable than 1"
