"""Reads numbers digit by digit: what a digit looks like by a dense layer, with its neighbours by a convolution."""

import torch

from framewatt.workloads.contract import Facts

TASK = "tagging"

WIDTH = 64
"""Units of both hidden layers."""


class _Tagger(torch.nn.Module):
    """Scores (batch, longest, classes) of tokens (batch, longest, features)."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.token = torch.nn.Linear(features, WIDTH)
        self.neighbours = torch.nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        self.head = torch.nn.Linear(WIDTH, classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        seen = torch.relu(self.token(tokens))
        both = torch.relu(self.neighbours(seen.transpose(1, 2))).transpose(1, 2)
        return self.head(both)


def build(facts: Facts) -> torch.nn.Module:
    """The model with random weights."""
    return _Tagger(facts.input_shape[-1], facts.classes)
