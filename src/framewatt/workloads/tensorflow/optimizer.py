"""The study's optimizer in TensorFlow: its step with loss scaling, clipping and schedule."""

from collections.abc import Iterable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from numpy.typing import NDArray

from framewatt.study.options import LAMB, Level
from framewatt.workloads.contract import Spec, adam_of
from framewatt.workloads.schedule import schedule_summary


class Adam(keras.optimizers.Adam):
    """Adam that adds its epsilon to the corrected root, as PyTorch's (Kingma and Ba, 2015, algorithm 1).

    Keras adds epsilon to the root before its correction ("epsilon hat" in the paper), which makes it 32x larger in
    the first step with the default betas: where gradients are of that size, as those of rare words in a softmax, a
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


class Lamb(keras.optimizers.Lamb):
    """LAMB with the weight decay in its update (You et al., Large Batch Optimization for Deep Learning, 2020).

    torch/optimizer.py has the same step. Keras' own LAMB takes the decay off before the step and outside of the trust
    ratio.

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


def summed(gradient: Any) -> tf.Tensor:
    """Return the gradient of vectors by id (of an embedding) as one of all vectors, those of repeated ids added up.

    Keras 3.15's Adam squares each occurrence of an id by itself, so that a vector that a batch has twice takes another
    step than Adam's: the sum of squares stands where the square of the sum belongs. So it is with the norm by which
    gradients are clipped.
    """
    return tf.convert_to_tensor(gradient) if isinstance(gradient, tf.IndexedSlices) else gradient


class Rates(keras.optimizers.schedules.LearningRateSchedule):
    """The learning rate of every step from a table; further steps have the last one.

    It counts by itself: Keras' `iterations` are without the steps that loss scaling skipped.

    Args:
        table: of every step, see schedule.rates.
    """

    def __init__(self, table: NDArray[np.float64]) -> None:
        self.table = tf.constant(table, tf.float32)
        self.taken = tf.Variable(0, dtype=tf.int64, trainable=False)

    def __call__(self, step: Any) -> tf.Tensor:
        """Return the rate of the step that is being taken, a scalar."""
        return tf.gather(self.table, tf.minimum(self.taken, len(self.table) - 1))


class Momentum(keras.optimizers.SGD):
    """SGD with a velocity that is a sum of gradients, as PyTorch's; Keras multiplies each with the rate of its step.

    Both are the same under a rate that stays, and are not under a schedule.
    """

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Change a variable by its dense gradient."""
        velocity = self.momentums[self._get_variable_index(variable)]
        self.assign(velocity, velocity * self.momentum + ops.cast(gradient, variable.dtype))
        self.assign_sub(variable, ops.cast(learning_rate, variable.dtype) * velocity)


def optimizer_of(spec: Spec, rate: float | Rates) -> keras.optimizers.Optimizer:
    """Return the study's optimizer, which clips the gradients.

    Args:
        spec: how the workload is run.
        rate: of every step, or a schedule.
    """
    level, training = spec.level("optimizer"), spec.training
    clipped = {"global_clipnorm": training.get("clip_norm")}
    if level == "sgd":
        make = Momentum if isinstance(rate, Rates) and training["momentum"] else keras.optimizers.SGD
        return make(rate, momentum=training["momentum"], **clipped)
    settings = {**adam_of(training), **clipped}
    if level == LAMB and training.get("weight_decay"):
        return Lamb(rate, training["weight_decay"], **settings)
    # Keras' own LAMB is the paper's as long as no weights decay.
    return (keras.optimizers.Lamb if level == LAMB else Adam)(rate, **settings)


class Optimizer:
    """Steps of a training, a part of its graph.

    Args:
        spec: how the workload is run.
        variables: the model's.
        rates: of every step, see schedule.rates; empty without a schedule.
    """

    def __init__(self, spec: Spec, variables: Sequence[keras.Variable], rates: NDArray[np.float64]) -> None:
        self._rates = Rates(rates) if len(rates) else None
        self._inner = optimizer_of(spec, self._rates or spec.training["learning_rate"])
        self._optimizer = self._inner
        if spec.level("precision") == "fp16":
            self._optimizer = keras.optimizers.LossScaleOptimizer(self._inner)
        self._optimizer.build(variables)
        self._kind = (spec.training.get("schedule") or {}).get("kind")
        # Plain SGD adds gradients of repeated ids up one by one, which is the same and touches no other vector.
        self._sums = type(self._inner) is not keras.optimizers.SGD or self._inner.global_clipnorm is not None

    def scale_loss(self, loss: tf.Tensor) -> tf.Tensor:
        """Return the loss from which gradients are taken; in fp16 a scaled one."""
        return self._optimizer.scale_loss(loss)

    def apply(self, gradients: Iterable[Any], variables: Sequence[keras.Variable]) -> None:
        """Change the variables by the gradients of the scaled loss."""
        self._optimizer.apply([summed(one) if self._sums else one for one in gradients], variables)
        if self._rates:
            self._rates.taken.assign_add(1)

    def levels(self) -> dict[str, Level | None]:
        """Return the levels in force of the options that concern the optimizer."""
        # Momentum is SGD, too, and other classes of Keras are not known by the study's words.
        kinds = {"sgd": keras.optimizers.SGD, "adam": keras.optimizers.Adam, LAMB: keras.optimizers.Lamb}
        name = next(
            (level for level, kind in kinds.items() if isinstance(self._inner, kind)), type(self._inner).__name__
        )
        return {"optimizer": name, "learning_rate": self.in_force()["learning_rate"]}

    def in_force(self) -> dict[str, Any]:
        """Return what is set in Keras."""
        table = [] if self._rates is None else self._rates.table.numpy().tolist()
        return {
            "optimizer": type(self._inner).__name__,
            "learning_rate": max(table) if table else float(self._inner.learning_rate),
            "weight_decay": getattr(self._inner, "decay", None) or self._inner.weight_decay or 0,
            "clip_norm": self._inner.global_clipnorm,
            "schedule": schedule_summary(self._kind, table),
        }
