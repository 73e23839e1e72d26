"""Measured runs: what is kept of them, and in which order it came to be."""
