"""When what a meter made of a case is right: its energy within its uncertainty, or no energy and a reason."""

from hardware.cases import BEGIN_S, END_S

MOST_UNCERTAIN = {
    "rapl": 0.002,
    "pyrapl": 0.002,
    "perf": 0.005,
    "estimate": 0.005,
    "nvml": 0.01,
    "nvml power": 0.02,
    "nvml average": 0.04,
    "nvidia-smi": 0.04,
    "nvidia-smi 1 Hz": 0.08,
    "external": 0.02,
}
"""Largest standard uncertainty of a window of 10 s, as a share of the right energy. With more, any number is right."""

_ROUNDING = 1e-9
"""Relative error of sums of floating-point numbers."""


def assert_right(row: dict, stands_still_s: float = 0.0) -> None:
    """Fail unless a row is as its case demands.

    Args:
        row: see case.rows_of.
        stands_still_s: seconds for which the played counters stand still between two updates, as no hardware does.
    """
    what = f"{row['meter']} {row['domain']}: {row}"
    if row["must_be_invalid"] or (row["may_be_invalid"] and row["found_j"] is None):
        assert row["found_j"] is None, what
        assert row["reasons"], what
        return
    assert row["found_j"] is not None, what
    allowed_j = stands_still_s * row["most_w"] + 2 * row["uncertainty_j"] + _ROUNDING * row["right_j"]
    assert abs(row["found_j"] - row["right_j"]) <= allowed_j, what
    most = row["blind"] or MOST_UNCERTAIN[row["meter"]]
    # What is unknown at the edges of a window is a larger share of a shorter one.
    most *= max(1.0, (END_S - BEGIN_S) / row["window_s"])
    assert row["uncertainty_j"] <= most * row["right_j"], what
