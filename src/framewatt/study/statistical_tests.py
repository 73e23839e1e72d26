"""The statistical tests that a study may ask for, and whether each treats runs as paired."""

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
"""The test reported beside each as a check of its assumptions: a rank test beside a t-test, and the reverse."""


def is_paired(settings: Mapping[str, Any]) -> bool:
    """Whether the study's `statistics` ask for a test that pairs the runs of a block."""
    return settings["test"] in (PAIRED_T, SIGNED_RANK)


def is_of_ranks(settings: Mapping[str, Any]) -> bool:
    """Whether the study's `statistics` ask for a rank test, as papers use."""
    return settings["test"] in (SIGNED_RANK, RANK_SUM)


def t_of(settings: Mapping[str, Any]) -> str:
    """The t-test that is paired or unpaired as the study's test is."""
    return PAIRED_T if is_paired(settings) else WELCH
