"""Adam as the algorithm of its paper has it; MXNet's own has its epsilon elsewhere, as Keras' (see there)."""

from typing import Any

import mxnet as mx


class Adam(mx.optimizer.Adam):
    """Adam whose epsilon stands beside the corrected root, as in PyTorch's (Kingma and Ba, 2015, algorithm 1)."""

    def __init__(self, *, epsilon: float, **settings: Any) -> None:
        super().__init__(epsilon=epsilon, **settings)
        self._asked = epsilon

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Change a weight by its gradient; MXNet's epsilon, of the root before its correction, is set for the step."""
        step = self._index_update_count.get(index, self.begin_num_update) + 1
        self.epsilon = self._asked * (1 - self.beta2**step) ** 0.5
        super().update(index, weight, grad, state)
