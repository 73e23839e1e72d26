"""NeuMF of any dimensions in MXNet."""

from typing import Any

import mxnet as mx
from mxnet.gluon import HybridBlock, nn

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.neumf import SPREAD, Dimensions

_LECUN = {"rnd_type": "uniform", "factor_type": "in", "magnitude": 3}


class _NeuMF(HybridBlock):
    """Scores (batch, 1) of pairs (batch, 2) of a user and an item."""

    def __init__(self, dimensions: Dimensions, users: int, items: int) -> None:
        super().__init__()
        with self.name_scope():
            self.user_factors = _vectors(users, dimensions.factors)
            self.item_factors = _vectors(items, dimensions.factors)
            self.user_mlp = _vectors(users, dimensions.half)
            self.item_mlp = _vectors(items, dimensions.half)
            self.mlp = nn.HybridSequential()
            for before, units in zip(dimensions.layers, dimensions.layers[1:], strict=False):
                self.mlp.add(nn.Dense(units, in_units=before, activation="relu"))
                if dimensions.dropout:
                    self.mlp.add(nn.Dropout(dimensions.dropout))
            both = dimensions.factors + dimensions.layers[-1]
            self.head = nn.Dense(1, in_units=both, weight_initializer=mx.init.Xavier(**_LECUN))

    def hybrid_forward(self, F: Any, pairs: Any) -> Any:  # noqa: N803  # Gluon's name for mx.nd or mx.sym
        user = F.reshape(F.slice_axis(pairs, axis=1, begin=0, end=1), shape=(-1,))
        item = F.reshape(F.slice_axis(pairs, axis=1, begin=1, end=2), shape=(-1,))
        factors = self.user_factors(user) * self.item_factors(item)
        hidden = self.mlp(F.concat(self.user_mlp(user), self.item_mlp(item), dim=1))
        return self.head(F.concat(factors, hidden, dim=1))


def build_neumf(dimensions: Dimensions, categories: tuple[int, ...]) -> HybridBlock:
    """Return a NeuMF, its weights not yet initialised; dense layers start as the engine's, Glorot's uniform.

    Raises:
        FramewattError: the data set has no pairs of users and items.
    """
    return _NeuMF(dimensions, *dimensions.sizes(categories))


def _vectors(count: int, length: int) -> nn.Embedding:
    return nn.Embedding(count, length, weight_initializer=mx.init.Normal(SPREAD))


def build(facts: Facts, size: Size[Dimensions]) -> HybridBlock:
    """Return a NeuMF for the users and items of a data set; it takes pairs of a user and an item."""
    return build_neumf(size.dimensions, facts.categories)
