"""NeuMF of any dimensions in PyTorch."""

import torch
from torch import nn

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size
from framewatt.workloads.families.neumf import SPREAD, Dimensions


class _NeuMF(nn.Module):
    """Scores (batch, 1) of pairs (batch, 2) of a user and an item."""

    def __init__(self, dimensions: Dimensions, users: int, items: int) -> None:
        super().__init__()
        self.user_factors = nn.Embedding(users, dimensions.factors)
        self.item_factors = nn.Embedding(items, dimensions.factors)
        self.user_mlp = nn.Embedding(users, dimensions.half)
        self.item_mlp = nn.Embedding(items, dimensions.half)
        sizes = zip(dimensions.layers, dimensions.layers[1:], strict=False)
        layers = [(nn.Linear(before, units), nn.ReLU(), nn.Dropout(dimensions.dropout)) for before, units in sizes]
        self.mlp = nn.Sequential(*(part for layer in layers for part in layer))
        self.head = nn.Linear(dimensions.factors + dimensions.layers[-1], 1)
        self._start()

    def _start(self) -> None:
        for part in self.modules():
            if isinstance(part, nn.Embedding):
                nn.init.normal_(part.weight, std=SPREAD)
            elif isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)
                nn.init.zeros_(part.bias)
        # LeCun's uniform.
        nn.init.kaiming_uniform_(self.head.weight, nonlinearity="linear")

    def forward(self, pairs: torch.Tensor) -> torch.Tensor:
        user, item = pairs.unbind(1)
        factors = self.user_factors(user) * self.item_factors(item)
        hidden = self.mlp(torch.cat([self.user_mlp(user), self.item_mlp(item)], dim=1))
        return self.head(torch.cat([factors, hidden], dim=1))


def build_neumf(dimensions: Dimensions, categories: tuple[int, ...]) -> nn.Module:
    """Return a NeuMF with random weights.

    Raises:
        FramewattError: the data set has no pairs of users and items.
    """
    return _NeuMF(dimensions, *dimensions.sizes(categories))


def build(facts: Facts, size: Size[Dimensions]) -> nn.Module:
    """Return a NeuMF for the users and items of a data set; it takes pairs of a user and an item."""
    return build_neumf(size.dimensions, facts.categories)
