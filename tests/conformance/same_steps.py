"""What two frameworks must have alike once they began with the same weights: gradients, losses, outputs."""

from collections.abc import Mapping

import numpy as np
import pytest

Values = Mapping[str, np.ndarray]


def assert_gradients_alike(before: Values, ours: Values, theirs: Values) -> None:
    """One step of SGD: what it changes is the gradient, times the learning rate.

    Args:
        before: the weights.
        ours: the weights after a step, by `first/<name>`.
        theirs: those of the other framework.
    """
    for name, start in before.items():
        steps = [one[f"first/{name}"] - start for one in (ours, theirs)]
        scale = np.abs(steps[0]).max()
        assert scale > 0, name
        assert np.abs(steps[0] - steps[1]).max() < 1e-3 * scale, name


def assert_ten_steps_alike(ours: Values, theirs: Values) -> None:
    """The losses of ten steps, and outputs `after` them, which are others than `before`."""
    assert len(ours["losses"]) == 10
    assert theirs["losses"][0] == pytest.approx(ours["losses"][0], rel=1e-5)
    assert theirs["losses"] == pytest.approx(ours["losses"], rel=1e-3)
    assert np.abs(theirs["after"] - ours["after"]).max() < 1e-3 * np.abs(ours["after"]).max()
    assert np.abs(ours["after"] - ours["before"]).max() > 0.05
