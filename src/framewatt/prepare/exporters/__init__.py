"""Exporters: one module per framework exports trained weights to model.onnx; check.py checks the result."""
