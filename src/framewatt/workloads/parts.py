"""Models that are a part of another: what they take of its data sets. They give no answers, and are not trained."""

from collections.abc import Mapping

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import TOKENS
from framewatt.workloads.contract import Spec

INPUTS: Mapping[str, tuple[str, ...]] = {"gnmt_encoder_small": (TOKENS,)}
"""Names of the inputs of each, by the model's file; whatever the framework, so that none is imported to know it."""


def inputs_of(spec: Spec) -> tuple[str, ...] | None:
    """Names of the inputs that a model takes; None takes all that its data set has."""
    return None if spec.own is not None else INPUTS.get(spec.model)


def check_trains(spec: Spec) -> None:
    """Check that a model can be trained.

    Raises:
        FramewattError: it is a part of one.
    """
    if inputs_of(spec) is not None:
        raise FramewattError(
            f"workload {spec.model}: found training of a part of a model; allowed: inference with weights: seeded"
        )
