"""What TensorFlow's `ssd_as_published` makes of the pixels that it adds to an image, printed as JSON."""

import json

import keras
import numpy as np
import tensorflow as tf

from framewatt.tasks.boxes import NONE
from framewatt.workloads.contract import Facts
from framewatt.workloads.models import build

CLASSES = 3
keras.utils.set_random_seed(0)
model = build("tensorflow", "ssd_as_published", Facts("detection", CLASSES, (300, 300, 3)))
images = tf.constant(np.random.default_rng(0).random((2, 300, 300, 3), np.float32))


def found(boxes: list[list[float]]) -> list[list[float]]:
    """Detections among boxes that all have a score of 0.9 in the first class."""
    shares = np.zeros((1, len(boxes), CLASSES), np.float32)
    shares[..., 0] = 0.9
    rows = model.searched(tf.constant([boxes], tf.float32), tf.constant(shares)).numpy()[0]
    return rows[rows[:, 4] != NONE, :4].tolist()


# Scores begin so low that nothing is found; with a bias of 0 every place has one of about a half.
bias = next(one for one in model.maps.variables if one.path.endswith("classification_head.cls_logits/bias"))
bias.assign(tf.zeros_like(bias))
rows = model(images).numpy()
rows = rows[rows[..., 4] != NONE]
seen: list[tf.Tensor] = []
maps, model.maps = model.maps, lambda padded, training: (seen.append(padded), maps(padded, training=training))[1]
model(images)
rescaled = next(layer for layer in maps.layers if isinstance(layer, keras.layers.Rescaling))(seen[0]).numpy()
print(
    json.dumps(
        {
            "beside": found([[302, 10, 318, 40], [10, 305, 40, 315], [301, 301, 319, 319]]),
            "across": found([[280, 280, 318, 310]]),
            "within": found([[10, 10, 40, 40]]),
            "overlap_0.55": len(found([[0, 0, 100, 100], [0, 0, 100, 55]])),
            "overlap_0.65": len(found([[0, 0, 100, 100], [0, 0, 100, 65]])),
            "detections": len(rows),
            "lowest": float(rows[:, :4].min()),
            "highest": float(rows[:, :4].max()),
            "smallest": float((rows[:, 2:4] - rows[:, :2]).min()),
            "looked_at": list(seen[0].shape),
            "added": float(np.abs(rescaled[:, 300:]).max() + np.abs(rescaled[:, :, 300:]).max()),
            "image_changed": float(np.abs(seen[0][:, :300, :300] - images).max()),
        }
    )
)
