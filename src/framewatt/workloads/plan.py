"""Which anchors and proposals a step learns from: drawn by a plan that every framework follows.

Frameworks draw differently from the same seed, so that losses of one step would differ by the draw. Here a number's
rank is a hash of the number, its image and the step, which whole numbers of 64 bits give alike everywhere.
"""

from typing import Any

_FACTORS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
"""Odd numbers with mixed bits (those of xxHash)."""

_BITS = 0xFFFFFFFF


def ranks(numbers: Any, images: Any, step: Any) -> Any:
    """Ranks, by which the lowest ones are taken; integers below 2**32, as good as drawn.

    Numbers of an image and a step have different ranks, since each operation can be undone: nothing breaks ties.

    Args:
        numbers: of anchors or proposals, int64 of any framework, or of numpy.
        images: the image of each within its batch, int64, of a shape that broadcasts.
        step: how many draws there were before, int64.
    """
    mixed = (numbers * _FACTORS[0] + images * _FACTORS[1] + step * _FACTORS[2]) & _BITS
    for shift, factor in ((15, _FACTORS[1]), (13, _FACTORS[2])):
        # Without a sign, a shift is a division, in every framework.
        mixed = ((mixed ^ (mixed // 2**shift)) * factor) & _BITS
    return mixed ^ (mixed // 2**16)
