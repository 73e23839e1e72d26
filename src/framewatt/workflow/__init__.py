"""Helpers of the Snakefile: set-up, the results folder and its owner, targets, image servers."""
