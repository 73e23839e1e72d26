"""One file a figure, each with one function `draw` that returns a matplotlib Figure; `save` writes it."""
