"""Compute one number on a device, or end with the reason.

`python -m framewatt.workloads.tensorflow.on_device cuda`
"""

import sys

import tensorflow as tf


def main(device: str) -> None:
    """Compute it.

    Raises:
        RuntimeError: TensorFlow uses no GPU, as where it finds no CUDA libraries.
    """
    if device == "cuda" and not tf.config.list_physical_devices("GPU"):
        raise RuntimeError("TensorFlow finds no GPU that it can use")
    with tf.device("/GPU:0" if device == "cuda" else "/CPU:0"):
        (tf.ones(1) + 1).numpy()


if __name__ == "__main__":
    main(sys.argv[1])
