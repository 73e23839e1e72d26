"""The studies for one GPU, with the interpreter at hand, in slices of the time that there is."""

STUDIES = ("gpu-alizadeh2024", "gpu-georgiou2022", "gpu-itu2023", "operators-gpu", "gpu-precision")
"""Names of the studies that `make gpu` measures, the most valuable first."""
