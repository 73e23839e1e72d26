"""What is made before a run and not measured: weights, exports, their checks."""
