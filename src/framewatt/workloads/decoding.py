"""Models that make their answers token by token, as translations are made. In no framework of its own."""

from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects
from framewatt.datasets.pairs import Pairs
from framewatt.study.options import GREEDY
from framewatt.workloads.contract import Spec

UNCOUNTED = "a search goes on until its sentences end"
"""Why the operations of an answer that is searched for have no number."""


def searches(model: Any, data: Arrays) -> bool:
    """Whether a model searches for its answers; of sentences alone, since a user's autoencoder has a `decode`, too."""
    return isinstance(data, Pairs) and hasattr(model, "decode")


def beam_of(spec: Spec, model: Any, data: Arrays) -> int | None:
    """How many hypotheses a model's search keeps; 1 is greedy. None of a model that answers at once.

    A model that decodes has `decode(source, beam) -> ids`, shape (batch, width), and `beam`, that of its own search.

    Args:
        spec: with the option `decoding`.
        model: of any framework.
        data: the data set.

    Raises:
        FramewattError: greedy decoding was asked of a model that answers at once.
    """
    asked = spec.level("decoding")
    if searches(model, data):
        return 1 if asked == GREEDY else int(model.beam)
    if asked == GREEDY:
        raise FramewattError(
            f"decoding: found {asked}; allowed: default, of a model that answers at once as {spec.model}"
        )
    return None


def check_plain(spec: Spec, data: Arrays) -> None:
    """Check that what goes through sentences, or searches for objects, is not to be compiled.

    XLA compiles a training step of GNMT anew for every pair of widths, for 12 to 23 s each, within the epochs; and
    torch.compile does not take an LSTM. XLA has no search for boxes, and torchvision's detectors do as many steps as
    there are objects, which is no single graph; a user's own may.

    Raises:
        FramewattError: it is.
    """
    if isinstance(data, Pairs) and spec.level("compile") == "compiled":
        raise FramewattError(
            "compile: found compiled; allowed: plain, of sentences, since each of their lengths would be compiled anew"
        )

    if isinstance(data.y_test, Objects) and spec.own is None and spec.level("compile") == "compiled":
        raise FramewattError(
            f"compile: found compiled of {spec.model}; allowed: plain, of a detector, whose steps depend on its finds"
        )


def in_words(beam: int | None) -> dict[str, str]:
    """How a model decodes, among the options that are in force; empty of one that answers at once."""
    return {} if beam is None else {"decoding": GREEDY if beam == 1 else f"beam of {beam}"}
