"""What a choice may be the best in, and the words for how it did."""

OBJECTIVES = {"energy": "energy_per_sample_j", "latency": "latency_p95_s", "throughput": "time_per_sample_s"}
"""What a choice may be the best in, and the quantity that is the smaller the better."""

BEST, NOT_APART, WORSE = "least", "not told apart", "more"
"""Verdicts of an objective: the only one that may be the best, one of several that may, one that is shown to take
more."""
