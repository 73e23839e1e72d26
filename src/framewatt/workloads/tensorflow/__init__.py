"""TensorFlow with Keras: its engine, and a module for each model family that it has."""

from framewatt.workloads.families.contract import Implementation

FAMILIES = (
    Implementation("bert"),
    Implementation("digit_tagger"),
    Implementation("gnmt"),
    Implementation("mask_rcnn"),
    Implementation("mobilenet", official=("mobilenetv2",)),
    Implementation("neumf"),
    Implementation("resnet", official=("resnet50", "resnet101", "resnet152")),
    Implementation("resnet_v15"),
    Implementation("retinanet"),
    Implementation("ssd"),
    Implementation("transformer_xl"),
)

LIBRARIES = {
    "tensorflow": ("tensorflow", "tensorflow-gpu", "tf-nightly"),
    "keras": ("keras",),
    "tf2onnx": ("tf2onnx",),
}
"""The modules that its models, training and exports need, each with the distributions that may bring it."""
