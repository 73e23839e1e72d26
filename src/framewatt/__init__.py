"""framewatt: what deep-learning frameworks cost in joules, seconds and accuracy."""

__version__ = "0.1.0"
