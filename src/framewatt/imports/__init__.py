"""Readers of other tools' logs, one module per format."""
