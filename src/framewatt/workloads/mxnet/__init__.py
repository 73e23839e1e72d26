"""MXNet: its engine, and a module for each model family that it has."""

from framewatt.workloads.families.contract import Implementation

FAMILIES = (
    Implementation("bert"),
    Implementation("digit_tagger"),
    Implementation("mobilenet", official=("mobilenetv2",)),
    Implementation("neumf"),
    Implementation("resnet", official=("resnet50", "resnet101", "resnet152")),
)

LIBRARIES = {"mxnet": ("mxnet", "mxnet-cu112")}
"""The modules that its models, training and exports need, each with the distributions that may bring it."""

PROFILER_VARIABLES = {"MXNET_EXEC_BULK_EXEC_INFERENCE": "0", "MXNET_EXEC_BULK_EXEC_TRAIN": "0"}
"""Environment variables under which its profiler shows single operators; MXNet would run, and show, them in bulk."""
