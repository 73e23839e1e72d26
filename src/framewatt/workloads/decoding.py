"""Models that make their answers token by token, as translations are made. In no framework of its own."""

from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.study.options import GREEDY
from framewatt.workloads.contract import Spec

UNCOUNTED = "a search goes on until its sentences end"
"""Why the operations of an answer that is searched for have no number."""


def beam_of(spec: Spec, model: Any) -> int | None:
    """How many hypotheses a model's search keeps; 1 is greedy. None of a model that answers at once.

    A model that decodes has `decode(source, beam) -> ids`, shape (batch, width), and `beam`, that of its own search.

    Args:
        spec: with the option `decoding`.
        model: of any framework.

    Raises:
        FramewattError: greedy decoding was asked of a model that answers at once.
    """
    asked = spec.level("decoding")
    if hasattr(model, "decode"):
        return 1 if asked == GREEDY else int(model.beam)
    if asked == GREEDY:
        raise FramewattError(
            f"decoding: found {asked}; allowed: default, of a model that answers at once as {spec.model}"
        )
    return None


def check_plain(spec: Spec, beam: int | None) -> None:
    """Check that inference is not to be compiled where the model decodes.

    Raises:
        FramewattError: it is; compilers here take a pass of the model, and a search is many of them.
    """
    if beam is not None and spec.level("compile") == "compiled":
        raise FramewattError(
            "compile: found compiled; allowed: plain, of a model that makes its answers token by token"
        )


def in_words(beam: int | None) -> dict[str, str]:
    """How a model decodes, among the options that are in force; empty of one that answers at once."""
    return {} if beam is None else {"decoding": GREEDY if beam == 1 else f"beam of {beam}"}
