"""PyTorch: its engine, and a module for each model family that it has."""

from framewatt.workloads.families.contract import Implementation

FAMILIES = (
    Implementation("bert"),
    Implementation("digit_tagger"),
    Implementation("gnmt"),
    Implementation("mask_rcnn"),
    Implementation("mobilenet", official=("mobilenetv2",)),
    Implementation("neumf"),
    Implementation("resnet", official=("resnet50", "resnet101", "resnet152")),
    Implementation("resnet_v15", official=("resnet50_v15",)),
    Implementation("retinanet"),
    Implementation("ssd"),
    Implementation("transformer_xl"),
)

LIBRARIES = {name: (name,) for name in ("torch", "torchvision", "transformers", "onnxscript")}
"""The modules that its models, training and exports need, each with the distributions that may bring it."""

HOST_READS = ("aten::_local_scalar_dense", "aten::nonzero")
"""Operators in which the host waits for a number of the device: `item()`, `float()` and an `if` call the first. Masks
as indices call the second, since the size of its answer is not known before."""

EAGER = True
"""Whether a program calls one operator after the other, with time between them, unless it compiles its model."""

UPDATE_API = ("torch.optim.", ".step")
"""How the names of the API start and end that updates weights."""
