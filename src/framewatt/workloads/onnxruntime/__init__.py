"""ONNX Runtime: its engine runs any exported model, so that it has no model families."""

LIBRARIES = {
    "onnx": ("onnx",),
    "onnxruntime": ("onnxruntime-gpu", "onnxruntime"),
    "tensorrt": ("tensorrt",),
}
"""The modules that it needs, each with the distributions that may bring it."""
