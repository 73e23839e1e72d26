"""LAMB with weight decay in Keras, whose own takes the decay off before the step and outside of the trust ratio."""

from typing import Any

import keras
from keras import ops

from framewatt.workloads.tensorflow._adam import corrected


class Lamb(keras.optimizers.Lamb):
    """LAMB whose update holds the weight decay (You et al., Large Batch Optimization for Deep Learning, 2020).

    See torch/_lamb.py, which takes the same step.

    Args:
        learning_rate: a number or a schedule.
        decay: share of the weights in their update. Keras' `weight_decay` stays unset.
        settings: further ones of Keras' Lamb.
    """

    def __init__(self, learning_rate: Any, decay: float, **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.decay = decay

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Change a variable by its dense gradient."""
        update = corrected(self, gradient, variable) + self.decay * variable
        size, length = (ops.sqrt(ops.sum(ops.square(each))) for each in (variable, update))
        ratio = ops.where(ops.logical_and(size > 0, length > 0), size / length, 1.0)
        self.assign_sub(variable, ops.cast(learning_rate, variable.dtype) * ratio * update)
