"""Tasks: what a model is asked, and metrics of its answers."""
