"""The loss of each task in PyTorch: the mean over the units of a batch."""

from collections.abc import Callable

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from framewatt.datasets.ragged import IGNORED
from framewatt.workloads.families.gnmt import SMOOTHING

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _tokens(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of tokens, without padding: scores (batch, longest, classes), labels (batch, longest)."""
    return cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)


def _pairs(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of chosen or not: scores (batch, 1), labels (batch,), 0 or 1."""
    return binary_cross_entropy_with_logits(scores.flatten(), labels.to(scores.dtype))


def _likelihoods(improbability: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean negative log-likelihood of tokens, which the model has worked out; none of a training batch is padding."""
    return improbability.mean()


def _translations(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of smoothed labels, without padding: scores (batch, longest, classes), labels (batch, longest)."""
    return cross_entropy(
        scores.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED, label_smoothing=SMOOTHING
    )


LOSSES: dict[str, Loss] = {
    "classification": cross_entropy,
    "tagging": _tokens,
    "recommendation": _pairs,
    "language_modelling": _likelihoods,
    "translation": _translations,
}
"""By the task's name: from outputs and labels of a batch."""
