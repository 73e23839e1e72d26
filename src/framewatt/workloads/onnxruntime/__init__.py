"""ONNX Runtime: its engine runs any exported model, so that it has no model families."""
