"""A network that reads numbers digit by digit: a dense layer sees each digit, a convolution its neighbours."""

from framewatt.workloads.families.contract import Family, Size

FAMILY = Family("digit_tagger", "tagging", {"digit_tagger": Size(64)})
"""The dimensions are the units of both hidden layers."""
