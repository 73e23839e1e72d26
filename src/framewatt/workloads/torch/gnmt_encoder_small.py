"""The encoder alone of GNMT v2 with dimensions for a machine of few cores, which can be exported."""

import torch

from framewatt.workloads.contract import Facts
from framewatt.workloads.gnmt import SMALL, TASK
from framewatt.workloads.torch._gnmt import build_gnmt_encoder

__all__ = ["TASK", "build"]


def build(facts: Facts) -> torch.nn.Module:
    """The model; takes source sentences of any lengths, and gives its outputs, which are no translations."""
    return build_gnmt_encoder(SMALL, facts.classes)
