"""Settings of a study's statistics, and a way to one row of what they give."""

from typing import Any

import numpy as np
import pandas as pd

from framewatt.study.factors import COMPARED


def settings(**changes: Any) -> dict[str, Any]:
    defaults = {
        "test": "wilcoxon",
        "correction": "holm",
        "alpha": 0.05,
        "confidence": 0.95,
        "equal_margin": 0.05,
        "unused_gpus": "count",
        "noise": 0.05,
    }
    return {"compare": COMPARED, **defaults, **changes}


def array(*values: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def row(frame: pd.DataFrame, **levels: Any) -> "pd.Series[Any]":
    """The one row with these levels."""
    for name, level in levels.items():
        frame = frame[frame[name] == level]
    assert len(frame) == 1
    return frame.iloc[0]
