"""Batches of sentences for plain loops."""

from typing import Any

import numpy as np

from framewatt.datasets.contract import Arrays


def alike(data: Arrays, batch: int) -> list[tuple[Any, Any, Any]]:
    """Batches of sentences that are alike in length: sources, targets, labels."""
    parts = np.argsort(data.lengths(test=False), kind="stable").reshape(-1, batch)
    arrays = (*data.inputs_train.values(), data.y_train)
    return [tuple(values[rows] for values in arrays) for rows in parts]  # type: ignore[misc]  # three of them
