"""The statistical tests that a study may use, and whether each treats runs as paired."""

from collections.abc import Mapping
from typing import Any

PAIRED_T, WELCH, SIGNED_RANK, RANK_SUM = "t", "welch", "wilcoxon", "mannwhitney"

NAMES = {
    PAIRED_T: "paired t on logarithms",
    WELCH: "Welch's t on logarithms",
    SIGNED_RANK: "wilcoxon signed-rank",
    RANK_SUM: "mann-whitney rank-sum",
}

CHECK_OF = {PAIRED_T: SIGNED_RANK, WELCH: RANK_SUM, SIGNED_RANK: PAIRED_T, RANK_SUM: WELCH}
"""By test, the test that checks its assumptions: a rank test for a t-test, and a t-test for a rank test."""


def is_paired(settings: Mapping[str, Any]) -> bool:
    """Return whether the study's `statistics` name a test that pairs the runs of a block."""
    return settings["test"] in (PAIRED_T, SIGNED_RANK)


def is_of_ranks(settings: Mapping[str, Any]) -> bool:
    """Return whether the study's `statistics` name a rank test, as papers use."""
    return settings["test"] in (SIGNED_RANK, RANK_SUM)


def t_of(settings: Mapping[str, Any]) -> str:
    """Return the t-test that is paired if the study's test is paired, else the unpaired one."""
    return PAIRED_T if is_paired(settings) else WELCH
