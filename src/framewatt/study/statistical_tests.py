"""The tests that a study may ask for, and what each takes runs for."""

from collections.abc import Mapping
from typing import Any

PAIRED_T, WELCH, SIGNED_RANK, RANK_SUM = "t", "welch", "wilcoxon", "mannwhitney"

NAMES = {
    PAIRED_T: "paired t on logarithms",
    WELCH: "Welch's t on logarithms",
    SIGNED_RANK: "wilcoxon signed-rank",
    RANK_SUM: "mann-whitney rank-sum",
}

BESIDE = {PAIRED_T: SIGNED_RANK, WELCH: RANK_SUM, SIGNED_RANK: PAIRED_T, RANK_SUM: WELCH}
"""The test that stands beside each as a check of what it assumes: ranks beside t, t beside ranks."""


def is_paired(settings: Mapping[str, Any]) -> bool:
    """Whether the runs of a block belong together, by the study's `statistics`."""
    return settings["test"] in (PAIRED_T, SIGNED_RANK)


def is_of_ranks(settings: Mapping[str, Any]) -> bool:
    """Whether the study asks for the rank tests of papers, by its `statistics`."""
    return settings["test"] in (SIGNED_RANK, RANK_SUM)


def t_of(settings: Mapping[str, Any]) -> str:
    """The t-test that takes runs for what the study's test takes them for."""
    return PAIRED_T if is_paired(settings) else WELCH
