"""Exports TensorFlow's search for the best boxes by what tf2onnx is told of it; it runs in TensorFlow's environment.

`export_search.py <given.npz> <model.onnx> <found.npz>`
"""

import sys

import numpy as np
import tensorflow as tf
import tf2onnx

import framewatt.prepare.exporters.tensorflow  # noqa: F401  # registers the operator in tf2onnx

given, model, found = sys.argv[1:]
with np.load(given) as content:
    boxes, scores = content["boxes"], content["scores"]
signature = [tf.TensorSpec([None, *part.shape[1:]], tf.float32, name) for part, name in ((boxes, "b"), (scores, "s"))]


@tf.function(input_signature=signature)
def searched(b, s):
    return tf.image.combined_non_max_suppression(b, s, 10, 10, 0.5, 0.1, clip_boxes=False)[:4]


tf2onnx.convert.from_function(searched, signature, opset=15, output_path=model)
np.savez(found, *(part.numpy() for part in searched(boxes, scores)))
