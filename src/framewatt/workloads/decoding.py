"""Models that make their answers token by token, as translations are made, in any framework."""

from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.datasets.pairs import Pairs
from framewatt.study.options import GREEDY
from framewatt.workloads.contract import Spec

UNCOUNTED = "a search goes on until its sentences end"
"""Why the operations of an answer that a search finds have no number."""


def searches(model: Any, data: Arrays) -> bool:
    """Whether a model searches for its answers; of sentences alone, since a user's autoencoder has a `decode`, too."""
    return isinstance(data, Pairs) and hasattr(model, "decode")


def beam_of(spec: Spec, model: Any, data: Arrays) -> int | None:
    """Return how many hypotheses a model's search stores; 1 is greedy, None is for a model that answers at once.

    A model that decodes has `decode(source, beam) -> ids`, shape (batch, width), and `beam`, its default.

    Args:
        spec: with the option `decoding`.
        model: of any framework.
        data: the data set.

    Raises:
        FramewattError: greedy decoding was requested for a model that answers at once.
    """
    requested = spec.level("decoding")
    if searches(model, data):
        return 1 if requested == GREEDY else int(model.beam)
    if requested == GREEDY:
        raise FramewattError(
            f"decoding: {spec.model} answers at once and cannot be {requested}. Use decoding: default."
        )
    return None


def check_plain(spec: Spec, data: Arrays) -> None:
    """Check that a model of sentences, or a detector, is not to be compiled.

    XLA compiles a training step of GNMT anew for every pair of widths, for 12 to 23 s each, within the epochs; and
    torch.compile does not take an LSTM. XLA has no search for boxes, and torchvision's detectors do as many steps as
    there are objects, which is no single graph; a user's own may.

    Raises:
        FramewattError: `compile: compiled` was requested for such a model.
    """
    if isinstance(data, Pairs) and spec.level("compile") == "compiled":
        raise FramewattError(
            f"compile: {spec.model} takes sentences, and each of their lengths would be compiled anew. Use compile: "
            "plain."
        )

    if isinstance(data.y_test, Objects) and spec.own is None and spec.level("compile") == "compiled":
        raise FramewattError(
            f"compile: the steps of the detector {spec.model} depend on what it detects, and cannot be compiled. Use "
            "compile: plain."
        )


def in_words(beam: int | None) -> dict[str, str]:
    """Return how a model decodes, for the options in force; empty for a model that answers at once."""
    return {} if beam is None else {"decoding": GREEDY if beam == 1 else f"beam of {beam}"}
