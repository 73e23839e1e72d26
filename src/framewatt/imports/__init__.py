"""Logs that other tools left, a file a format."""
