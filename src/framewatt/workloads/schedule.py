"""The learning rate of every step of a training, the same table for every framework."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framewatt.base.errors import FramewattError
from framewatt.study.training import COSINE

_FIRST_SHARE = 0.01
"""Share of the learning rate from which exponential warm-up starts."""


def rates(training: Mapping[str, Any], steps: int) -> NDArray[np.float64]:
    """Return the learning rate of every step.

    Without a schedule it is `learning_rate` in all of them; with one, that is the largest rate r. W is `warm_up_steps`,
    N the number of all steps.

    - `cosine` counts from 0. Step i below W has r i/W, so that the first one changes nothing. Then it is
      f + (r - f) (1 + cos(pi (i - W)/(N - W)))/2, where f is the `final_rate`, which a step N would have.
      Source: NVIDIA's Transformer-XL for TensorFlow (DeepLearningExamples, tf/main.py); cosine by Loshchilov and
      Hutter, ICLR 2017.
    - `halvings` counts from 1. Step i up to W has r 0.01^(1 - i/W), then r. From R = floor(N `from_share`) on it is
      r/2, halved again every floor((N - R)/`halvings`) steps, `halvings` times in all. Source: NVIDIA's GNMT for
      PyTorch (DeepLearningExamples, seq2seq/train/lr_scheduler.py); its trainer moves on before the first step.

    A framework looks its rate up by the number of steps that were requested, those that loss scaling skipped among
    them, so that the schedule ends with the training.

    Args:
        training: the study's `training` settings.
        steps: of the whole training, over all epochs.

    Returns:
        shape (steps,), per step as the optimizers take it, without a unit.

    Raises:
        FramewattError: the warm-up is longer than the training, or reaches into the halvings.
    """
    rate, schedule = training["learning_rate"], training.get("schedule")
    if not schedule or not steps:
        return np.full(steps, float(rate))
    warm_up, cosine = schedule["warm_up_steps"], schedule["kind"] == COSINE
    start = math.floor(steps * schedule.get("from_share", 1))
    most = steps - 1 if cosine else start
    if warm_up > most:
        raise FramewattError(
            f"training.schedule.warm_up_steps: {warm_up} do not fit into a training of {steps} steps. Use at most "
            f"{most}{'' if cosine else ', which are before the first halving'}; or more epochs, or smaller batches."
        )
    if cosine:
        return _cosine(rate, schedule["final_rate"], warm_up, steps)
    return _halvings(rate, warm_up, start, schedule["halvings"], steps)


def _cosine(rate: float, final: float, warm_up: int, steps: int) -> NDArray[np.float64]:
    step = np.arange(steps)
    along = np.maximum(step - warm_up, 0) / (steps - warm_up)
    share = (1 + np.cos(np.pi * along)) / 2
    # Of both rates, so that rounding takes none above the largest.
    return np.where(step < warm_up, rate * step / max(warm_up, 1), rate * share + final * (1 - share))


def _halvings(rate: float, warm_up: int, start: int, halvings: int, steps: int) -> NDArray[np.float64]:
    step = np.arange(1, steps + 1)
    rising = _FIRST_SHARE ** np.maximum(1 - step / max(warm_up, 1), 0)
    halved = np.clip((step - start) // max((steps - start) // halvings, 1) + 1, 0, halvings)
    result: NDArray[np.float64] = rate * rising / 2.0 ** np.where(step > warm_up, halved, 0)
    return result


def schedule_summary(kind: str | None, table: Sequence[float]) -> dict[str, Any] | None:
    """Return a schedule for a run's record, from the rates that a framework stores; None where there is none."""
    if not len(table):
        return None
    return {"kind": kind, "steps": len(table), "first_rate": float(table[0]), "last_rate": float(table[-1])}
