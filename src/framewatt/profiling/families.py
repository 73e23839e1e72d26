"""What kind of work an operator does, by its name in a profiler, so that frameworks can stand side by side."""

import re

from framewatt.profiling.joules import BETWEEN

UNTOLD = "not told apart"
OTHER = "other operators"

_FAMILIES = (
    ("optimiser", r"sgd|adam|lamb|_update\b|optimizer|apply\w*(descent|momentum)|assign(sub|add)"),
    ("convolution", r"conv"),
    ("normalisation", r"norm|moments|squareddifference|rsqrt"),
    ("matrix product", r"mm\b|addmm|bmm|matmul|gemm|linear|fullyconnected|dense|einsum|attention|dot\b"),
    ("recurrence", r"lstm|gru|rnn"),
    ("embedding, lookup", r"embedding|gather|take\b|index|nonzero"),
    ("activation, softmax", r"relu|clip|hardtanh|clamp|sigmoid|tanh|gelu|softmax|swish|silu|erf\b"),
    ("pooling", r"pool"),
    (
        "data movement",
        r"copy|reorder|transpose|pad\b|reshape|concat|cat\b|slice|split|cast|empty|contiguous|view|memcpy|memset|fill",
    ),
    ("sums and elementwise", r"add|sub|mul|div|sum|mean|max|min|sqrt|pow|exp|log|neg|square|reduce"),
)

FAMILIES = (*(name for name, _ in _FAMILIES), OTHER, UNTOLD, BETWEEN)
"""In the order of figures."""


def family_of(operator: str) -> str:
    """The family of an operator; the first whose words are in its name.

    Args:
        operator: as the profiler names it, or the name of a row of several.
    """
    if operator == BETWEEN:
        return BETWEEN
    if UNTOLD in operator:
        return UNTOLD
    return next((name for name, words in _FAMILIES if re.search(words, operator, re.IGNORECASE)), OTHER)
