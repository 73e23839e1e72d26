"""Unmeasured preparation before runs: weights, exports, and their checks."""
