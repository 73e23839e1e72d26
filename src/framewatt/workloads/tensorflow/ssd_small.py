"""SSD with dimensions for a machine of few cores."""

import keras

from framewatt.workloads.contract import Facts
from framewatt.workloads.ssd import SMALL, TASK
from framewatt.workloads.tensorflow._ssd import build_ssd

__all__ = ["TASK", "build"]


def build(facts: Facts) -> keras.Model:
    """The model; takes images of 128 pixels, and gives detections."""
    return build_ssd(SMALL, facts)
