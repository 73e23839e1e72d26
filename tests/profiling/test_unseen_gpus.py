"""A GPU's joules are shared out only where a timeline shows what ran on it, and on no other one."""

import pytest

from framewatt.profiling.operators import unseen_gpus
from framewatt.workloads.profilers import Span, Spans

HOST = Span("conv2d", "", "", 1, 0, 10)
ON_BOTH = Spans.from_spans([HOST, Span("gemm", "", "", -8, 5, 9, 0)], [])
ON_HOST_ALONE = Spans.from_spans([HOST], [])


@pytest.mark.parametrize(
    ("spans", "domains", "unseen"),
    [
        (ON_BOTH, ["gpu:0", "cpu:package-0"], ()),
        (ON_BOTH, ["cpu:package-0"], ()),
        (ON_HOST_ALONE, ["gpu:0", "cpu:estimate"], ("gpu:0",)),
        # Kernels of one would have the joules of the other, which idled.
        (ON_BOTH, ["gpu:0", "gpu:1", "cpu:estimate"], ("gpu:0", "gpu:1")),
    ],
)
def test_gpus_of_which_nothing_is_told(spans: Spans, domains: list[str], unseen: tuple[str, ...]) -> None:
    assert unseen_gpus(domains, spans) == unseen
