"""The table of trainings with several seeds says what ranges overlap, and not of single trainings."""

import pytest

from bench.seeds import Trained, table


@pytest.mark.parametrize(
    ("torch", "tensorflow", "told"),
    [
        ([0.3, 0.2], [0.25, 0.4], "| `ssd_small` | box_ap | 0.200, 0.300 | 0.250, 0.400 | yes |"),
        ([0.2, 0.3], [0.4, 0.31], "| `ssd_small` | box_ap | 0.200, 0.300 | 0.310, 0.400 | **no** |"),
        ([0.2, 0.2], [0.2, 0.2], "| `ssd_small` | box_ap | 0.200, 0.200 | 0.200, 0.200 | yes |"),
        ([0.2], [0.3, 0.4], "| `ssd_small` | box_ap | 0.200 | 0.300, 0.400 | unknown: fewer than two trainings |"),
        ([0.2, 0.3], [], "| `ssd_small` | box_ap | 0.200, 0.300 | none | unknown: fewer than two trainings |"),
    ],
)
def test_ranges_overlap_or_not_or_are_unknown(torch: list[float], tensorflow: list[float], told: str) -> None:
    found = {"torch": torch, "tensorflow": tensorflow}
    rows = [
        Trained("ssd_small", framework, seed, 8, "box_ap", value, 4.0)
        for framework, values in found.items()
        for seed, value in enumerate(values)
    ]
    assert table(rows).splitlines()[-1] == told
