"""SSD as georgiou2022 ran it in TensorFlow: a RetinaNet. In PyTorch it is another model, SSD300 with a ResNet-50."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.ssd_as_published import TASK
from framewatt.workloads.tensorflow._ssd320 import build_ssd320

__all__ = ["TASK", "build"]


def build(facts: Facts) -> keras.Model:
    """The model; takes images of 300 pixels, and gives detections."""
    model: keras.Model = build_ssd320(facts)
    return model
