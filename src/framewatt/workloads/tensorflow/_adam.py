"""Adam as the algorithm of its paper has it; Keras' own has its epsilon elsewhere."""

from typing import Any

import keras
from keras import ops


class Adam(keras.optimizers.Adam):
    """Adam whose epsilon stands beside the corrected root, as in PyTorch's (Kingma and Ba, 2015, algorithm 1).

    Keras adds epsilon to the root before its correction ("epsilon hat" in the paper), which makes it 32 times as large
    in the first step with the usual betas: where gradients are of that size, as those of rare words in a softmax, a
    step is another one.
    """

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Change a variable by its dense gradient."""
        self.assign_sub(variable, corrected(self, gradient, variable, learning_rate))


def corrected(optimizer: keras.optimizers.Adam, gradient: Any, variable: Any, rate: Any = 1.0) -> Any:
    """Adam's update of a variable times a learning rate, from its moments, which take the gradient in."""
    place = optimizer._get_variable_index(variable)
    mean, square = optimizer._momentums[place], optimizer._velocities[place]
    kind = variable.dtype
    gradient = ops.cast(gradient, kind)
    step = ops.cast(optimizer.iterations + 1, kind)
    optimizer.assign_add(mean, (gradient - mean) * (1 - optimizer.beta_1))
    optimizer.assign_add(square, (ops.square(gradient) - square) * (1 - optimizer.beta_2))
    # Both corrections as numbers, so that they take no pass over the moments each.
    of_mean = 1 - ops.power(ops.cast(optimizer.beta_1, kind), step)
    of_root = ops.sqrt(1 - ops.power(ops.cast(optimizer.beta_2, kind), step))
    return mean * (ops.cast(rate, kind) * of_root / of_mean) / (ops.sqrt(square) + optimizer.epsilon * of_root)
