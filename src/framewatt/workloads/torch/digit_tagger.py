"""Reads numbers digit by digit: what a digit looks like by a dense layer, with its neighbours by a convolution."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.families.contract import Size


class _Tagger(torch.nn.Module):
    """Scores (batch, longest, classes) of tokens (batch, longest, features)."""

    def __init__(self, features: int, width: int, classes: int) -> None:
        super().__init__()
        self.token = torch.nn.Linear(features, width)
        self.neighbours = torch.nn.Conv1d(width, width, 3, padding=1)
        self.head = torch.nn.Linear(width, classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        seen = torch.relu(self.token(tokens))
        both = torch.relu(self.neighbours(seen.transpose(1, 2))).transpose(1, 2)
        return self.head(both)


def build(facts: Facts, size: Size[int]) -> torch.nn.Module:
    """Return the model with random weights."""
    return _Tagger(facts.input_shape[-1], size.dimensions, facts.classes)
