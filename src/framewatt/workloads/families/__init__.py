"""Model families: a file for each, which lists its models and their dimensions and knows no framework."""

from typing import Any

from framewatt.workloads.families import (
    bert,
    digit_tagger,
    gnmt,
    mask_rcnn,
    mobilenet,
    neumf,
    resnet,
    resnet_v15,
    retinanet,
    ssd,
    transformer_xl,
)
from framewatt.workloads.families.contract import Family

FAMILIES: tuple[Family[Any], ...] = (
    bert.FAMILY,
    digit_tagger.FAMILY,
    gnmt.FAMILY,
    mask_rcnn.FAMILY,
    mobilenet.FAMILY,
    neumf.FAMILY,
    resnet.FAMILY,
    resnet_v15.FAMILY,
    retinanet.FAMILY,
    ssd.FAMILY,
    transformer_xl.FAMILY,
)
"""All families."""
