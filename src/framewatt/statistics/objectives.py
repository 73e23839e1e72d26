"""Objectives that choices are ranked by, and the words of the verdicts."""

OBJECTIVES = {"energy": "energy_per_sample_j", "latency": "latency_p95_s", "throughput": "time_per_sample_s"}
"""Objectives, each with its quantity, of which smaller is better."""

BEST, NOT_APART, NOT_LESS, WORSE = "least", "not told apart", "not less", "more"
"""Verdicts of a choice in an objective: alone in the confidence set of the best; one of several in it; outside of it,
where it is only known that the best takes no more; outside of it, and shown to take more than the best."""
