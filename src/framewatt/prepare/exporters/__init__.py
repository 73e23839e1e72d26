"""Exporters: one file a framework turns trained weights into model.onnx; check.py judges the result."""
