"""SSD300 with a VGG-16: own code, the same model as torchvision's."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.ssd import FULL, TASK
from framewatt.workloads.tensorflow._ssd import build_ssd

__all__ = ["TASK", "build"]


def build(facts: Facts) -> keras.Model:
    """The model; takes images of 300 pixels, and gives detections."""
    return build_ssd(FULL, facts)
