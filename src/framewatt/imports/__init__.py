"""Logs that other tools left, one file per format."""
