"""Profiled runs: which functions a run spent its time in, by which names of their framework, and who called them."""
