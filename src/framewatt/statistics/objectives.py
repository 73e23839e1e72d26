"""What a choice may be the best in, and the words for how it did."""

OBJECTIVES = {"energy": "energy_per_sample_j", "latency": "latency_p95_s", "throughput": "time_per_sample_s"}
"""What a choice may be the best in, and the quantity that is the smaller the better."""

BEST, NOT_APART, NOT_LESS, WORSE = "least", "not told apart", "not less", "more"
"""Verdicts of an objective: the only one that may be the best; one of several that may; one outside of these, of which
no more is known than that the best takes no more; one that is shown to take more than the best."""
