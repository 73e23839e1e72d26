"""The layers of a Mask R-CNN in Keras, by PyTorch's names: maps with what is proposed on them, and the two heads."""

from typing import Any

import keras
import numpy as np

from framewatt.workloads.detector import DEVIATION, MEAN
from framewatt.workloads.mask_rcnn import CELLS, MASK_CELLS, Dimensions
from framewatt.workloads.tensorflow._detector import near_zero, normal
from framewatt.workloads.tensorflow._resnet import pyramid_of, stages_of


def maps_of(dimensions: Dimensions, shape: tuple[int, ...]) -> keras.Model:
    """Maps and what the network of proposals says of them, with layers by PyTorch's names."""
    images = keras.Input(shape)
    stages = stages_of(
        normal(images, MEAN, DEVIATION),
        dimensions.stem,
        dimensions.stages,
        dimensions.blocks,
        dimensions.widening,
        "backbone.body",
    )
    maps = pyramid_of(stages, dimensions.pyramid, "backbone.fpn")
    further = keras.layers.MaxPooling2D(1, 2)(maps[-1])
    anchors = dimensions.anchors_a_place
    first = near_zero(dimensions.pyramid, 3, "rpn.head.conv.0.0", activation="relu")
    last = [near_zero(anchors, 1, "rpn.head.cls_logits"), near_zero(4 * anchors, 1, "rpn.head.bbox_pred")]
    rows: tuple[list[Any], list[Any]] = ([], [])
    for values in [*maps, further]:
        hidden = first(values)
        rows[0].append(keras.layers.Reshape((-1,))(last[0](hidden)))
        rows[1].append(keras.layers.Reshape((-1, 4))(last[1](hidden)))
    return keras.Model(images, [*maps, *(keras.layers.Concatenate(axis=1)(part) for part in rows)])


def box_head_of(dimensions: Dimensions, labels: int) -> keras.Model:
    """Two dense layers, and a class and a box for each class."""
    within = keras.Input((CELLS, CELLS, dimensions.pyramid))
    # PyTorch's weights are those of channels before places.
    values = keras.layers.Flatten()(keras.layers.Permute((3, 1, 2))(within))
    for name in ("fc6", "fc7"):
        values = _dense(values, dimensions.dense, f"roi_heads.box_head.{name}", activation="relu")
    scores = _dense(values, labels, "roi_heads.box_predictor.cls_score")
    moves = _dense(values, labels * 4, "roi_heads.box_predictor.bbox_pred")
    return keras.Model(within, [scores, keras.layers.Reshape((labels, 4))(moves)])


def _dense(values: Any, units: int, name: str, **further: Any) -> Any:
    """A dense layer that begins as PyTorch's."""
    start = keras.initializers.VarianceScaling(1 / 3, "fan_in", "uniform")
    edge = 1 / np.sqrt(values.shape[-1])
    bias = keras.initializers.RandomUniform(-edge, edge)
    return keras.layers.Dense(units, kernel_initializer=start, bias_initializer=bias, name=name, **further)(values)


def mask_head_of(dimensions: Dimensions, labels: int) -> keras.Model:
    """Four convolutions, one that doubles the sides, and a mask for each class."""
    within = keras.Input((MASK_CELLS, MASK_CELLS, dimensions.pyramid))
    values = within
    for number in range(4):
        start = keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal")
        name = f"roi_heads.mask_head.{number}.0"
        layer = keras.layers.Conv2D(
            dimensions.masks, 3, padding="same", activation="relu", kernel_initializer=start, name=name
        )
        values = layer(values)
    for name, make in (
        ("conv5_mask", lambda **how: keras.layers.Conv2DTranspose(dimensions.masks, 2, 2, activation="relu", **how)),
        ("mask_fcn_logits", lambda **how: keras.layers.Conv2D(labels, 1, **how)),
    ):
        start = keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal")
        values = make(kernel_initializer=start, name=f"roi_heads.mask_predictor.{name}")(values)
    return keras.Model(within, values)
