"""`make compare`: two packages of the same cells side by side."""
