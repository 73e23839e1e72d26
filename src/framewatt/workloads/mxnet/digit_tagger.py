"""Reads numbers digit by digit: what a digit looks like by a dense layer, with its neighbours by a convolution."""

from typing import Any

from mxnet.gluon import HybridBlock, nn

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size


class _Tagger(HybridBlock):
    """Scores (batch, longest, classes) of tokens (batch, longest, features)."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        with self.name_scope():
            self.token = nn.Dense(width, activation="relu", flatten=False)
            # The convolution as a dense layer over three tokens: MXNet 1.9 cannot write new weights into a Conv1D
            # that has run on oneDNN.
            self.neighbours = nn.Dense(width, activation="relu", flatten=False)
            self.head = nn.Dense(classes, flatten=False)

    def hybrid_forward(self, F: Any, tokens: Any) -> Any:  # noqa: N803  # Gluon's name for mx.nd or mx.sym
        seen = self.token(tokens)
        none = F.zeros_like(F.slice_axis(seen, axis=1, begin=0, end=1))
        before = F.concat(none, F.slice_axis(seen, axis=1, begin=0, end=-1), dim=1)
        behind = F.concat(F.slice_axis(seen, axis=1, begin=1, end=None), none, dim=1)
        return self.head(self.neighbours(F.concat(before, seen, behind, dim=2)))


def build(facts: Facts, size: Size[int]) -> HybridBlock:
    """Return the model, its weights not yet initialised; Gluon infers shapes from the first batch."""
    return _Tagger(size.dimensions, facts.classes)
