"""RetinaNet with a ResNet-50: own code, the same model as torchvision's."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.retinanet import FULL, TASK
from framewatt.workloads.tensorflow._retinanet import build_retinanet

__all__ = ["TASK", "build"]


def build(facts: Facts) -> keras.Model:
    """The model; takes images whose sides are multiples of 32, and gives detections."""
    return build_retinanet(FULL, facts)
