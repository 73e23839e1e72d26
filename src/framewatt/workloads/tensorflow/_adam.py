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
        place = self._get_variable_index(variable)
        mean, square = self._momentums[place], self._velocities[place]
        kind = variable.dtype
        gradient = ops.cast(gradient, kind)
        step = ops.cast(self.iterations + 1, kind)
        self.assign_add(mean, (gradient - mean) * (1 - self.beta_1))
        self.assign_add(square, (ops.square(gradient) - square) * (1 - self.beta_2))
        mean_now = mean / (1 - ops.power(ops.cast(self.beta_1, kind), step))
        square_now = square / (1 - ops.power(ops.cast(self.beta_2, kind), step))
        self.assign_sub(variable, ops.cast(learning_rate, kind) * mean_now / (ops.sqrt(square_now) + self.epsilon))
