"""Inference and training in TensorFlow, with Keras models. Images are (height, width, channels)."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.util import _pywrap_util_port

from framewatt.datasets.contract import Arrays
from framewatt.tasks.contract import Outputs
from framewatt.workloads.contract import Inference, Inputs, Spec, Training, adam_of, example_inputs, facts_of
from framewatt.workloads.models import build_model
from framewatt.workloads.tensorflow._losses import LOSSES
from framewatt.workloads.tensorflow._structure import structure

WEIGHTS = "weights.weights.h5"
POLICIES = {"fp32": "float32", "fp16": "mixed_float16", "bf16": "mixed_bfloat16"}
"""Keras' number formats; in the mixed ones weights stay in fp32."""


def channels_last(values: Any) -> Any:
    """Images (n, channels, height, width) as contiguous (n, height, width, channels); tokens as they are."""
    return np.ascontiguousarray(np.moveaxis(values, 1, -1)) if values.ndim == 4 else values


def packed(inputs: Inputs) -> Any:
    """Inputs as a Keras model takes them: a single one as it is, several in a list."""
    return inputs[0] if len(inputs) == 1 else list(inputs)


def optimizer_of(spec: Spec) -> keras.optimizers.Optimizer:
    """The study's optimizer at its learning rate; with loss scaling in fp16."""
    rate = spec.training["learning_rate"]
    optimizer = (
        keras.optimizers.Adam(rate, **adam_of(spec.training))
        if spec.level("optimizer") == "adam"
        else keras.optimizers.SGD(rate, momentum=spec.training["momentum"])
    )
    return keras.optimizers.LossScaleOptimizer(optimizer) if spec.level("precision") == "fp16" else optimizer


def summed(gradient: Any) -> tf.Tensor:
    """The gradient of vectors by id (of an embedding) as one of all vectors, those of repeated ids added up.

    Keras 3.15's Adam squares each occurrence of an id by itself, so that a vector that a batch has twice takes another
    step than Adam's: the sum of squares stands where the square of the sum belongs.
    """
    return tf.convert_to_tensor(gradient) if isinstance(gradient, tf.IndexedSlices) else gradient


class _TensorFlowModel:
    """What inference and training share: the model and a compiled forward pass."""

    spec: Spec
    data: Arrays
    model: keras.Model

    def build(self) -> None:
        tf.config.threading.set_intra_op_parallelism_threads(self.spec.threads)
        tf.config.threading.set_inter_op_parallelism_threads(self.spec.threads)
        if self.spec.device == "cpu":
            tf.config.set_visible_devices([], "GPU")
        elif not tf.config.list_physical_devices("GPU"):
            raise RuntimeError("device: found no GPU that TensorFlow can use; allowed: cpu, or a machine with one")
        keras.utils.set_random_seed(self.spec.seed)
        keras.mixed_precision.set_global_policy(POLICIES[self.spec.level("precision")])
        self.compiled = self.spec.level("compile") == "compiled"
        example = self.tensors(example_inputs(self.data, 1))
        self.input_shape = tuple(example[0].shape[1:])
        self.model = build_model("tensorflow", keras.Model, self.spec, facts_of(self.data, self.input_shape))
        if not self.model.built:
            # Calling the model would fix the batch size to the example's.
            shapes = [(None, *values.shape[1:]) for values in example]
            self.model.build(shapes if len(shapes) > 1 else shapes[0])
        signature = [tf.TensorSpec((None, *values.shape[1:]), values.dtype) for values in example]
        self.forward = tf.function(self._outputs, signature, jit_compile=self.compiled)

    def _outputs(self, *inputs: tf.Tensor) -> tf.Tensor:
        return tf.cast(self.model(packed(inputs), training=False), tf.float32)

    def tensors(self, arrays: Iterable[Any]) -> Inputs:
        """Arrays of the data set, in TensorFlow's layout."""
        ready = channels_last if self.data.channels_first else np.ascontiguousarray
        return tuple(tf.constant(ready(array)) for array in arrays)

    def synchronize(self) -> None:
        if self.spec.device == "cuda":
            tf.test.experimental.sync_devices()

    def facts(self) -> dict[str, Any]:
        return {
            "parameters": int(sum(np.prod(w.shape) for w in self.model.trainable_weights)),
            "flops": None,
            "flops_reason": "TensorFlow 2 has no supported counter",
            "input_shape": list(self.input_shape),
            "input_layout": "NHWC" if self.data.layout == "NCHW" else self.data.layout,
            "structure": structure(self.model),
            "in_force": self.in_force(),
            "libraries": {"tensorflow": tf.__version__, "keras": keras.__version__},
        }

    def in_force(self) -> dict[str, Any]:
        return {
            "precision": keras.mixed_precision.dtype_policy().name,
            "threads": tf.config.threading.get_intra_op_parallelism_threads(),
            "compile": "XLA" if self.compiled else "tf.function",
            # On by default on some processors only, where it changes an epoch's time by up to 3.6 times.
            "onednn": bool(_pywrap_util_port.IsMklEnabled()),
        }


class TensorFlowInference(_TensorFlowModel, Inference):
    """Answers for the test set with trained weights."""

    def setup(self) -> None:
        """Load the weights from HDF5."""
        self.build()
        assert self.spec.artefact is not None
        self.model.load_weights(self.spec.artefact / WEIGHTS)
        self._inputs = self.tensors(self.data.inputs_test.values())
        if self.compiled:
            self.compile()

    def batches(self, epoch: int = 0) -> Iterator[Inputs]:
        """Slices of the test set."""
        for step in self.steps():
            yield tuple(values[step.rows] for values in self._inputs)

    def run(self, batch: Inputs) -> Outputs:
        """Outputs of a batch on the host."""
        return self.forward(*batch).numpy()  # type: ignore[no-any-return]  # tensorflow is not installed where mypy runs


class TensorFlowTraining(_TensorFlowModel, Training):
    """Learns with stochastic gradient descent or Adam, in a step that is one graph."""

    def setup(self) -> None:
        """Random weights, the training set as tensors."""
        self.build()
        self._optimizer = optimizer = optimizer_of(self.spec)
        optimizer.build(self.model.trainable_variables)
        loss_function = LOSSES[self.task.name]
        squares = self.spec.level("optimizer") == "adam"

        @tf.function(jit_compile=self.compiled)  # type: ignore[untyped-decorator]  # tensorflow is not installed where mypy runs
        def step(inputs: Inputs, labels: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                outputs = tf.cast(self.model(packed(inputs), training=True), tf.float32)
                loss = loss_function(outputs, labels)
                scaled = optimizer.scale_loss(loss)
            variables = self.model.trainable_variables
            gradients = tape.gradient(scaled, variables)
            optimizer.apply([summed(one) for one in gradients] if squares else gradients, variables)
            return loss

        self._step = step
        self._inputs = self.tensors(self.data.inputs_train.values())
        self._labels = tf.constant(self.data.y_train)

    def batches(self, epoch: int = 0) -> Iterator[tuple[Inputs, tf.Tensor]]:
        """Shuffled inputs and labels."""
        for step in self.steps(epoch):
            inputs = tuple(tf.gather(values, step.indices) for values in self._inputs)
            yield inputs, tf.gather(self._labels, step.indices)

    def run(self, batch: tuple[Inputs, tf.Tensor]) -> tf.Tensor:
        """One step; the loss stays on the device."""
        return self._step(*batch)

    def loss_of(self, step: tf.Tensor) -> float:
        """The mean loss of a step."""
        return float(step)

    def evaluate(self) -> Outputs:
        """Outputs for the test set, in evaluation mode."""
        inputs = self.data.inputs_test.values()
        parts = (self.tensors(values[i : i + 64] for values in inputs) for i in range(0, len(self.data.x_test), 64))
        return np.concatenate([self.forward(*part).numpy() for part in parts])

    def save(self, folder: Path) -> None:
        """Write the weights as HDF5."""
        self.model.save_weights(folder / WEIGHTS)

    def in_force(self) -> dict[str, Any]:
        """Options as set in Keras, including the optimizer's."""
        inner = getattr(self._optimizer, "inner_optimizer", self._optimizer)
        rate = float(inner.learning_rate)
        return super().in_force() | {"optimizer": type(inner).__name__, "learning_rate": rate}


def make_inference(spec: Spec, data: Arrays) -> TensorFlowInference:
    """TensorFlow's inference workload."""
    return TensorFlowInference(spec, data)


def make_training(spec: Spec, data: Arrays) -> TensorFlowTraining:
    """TensorFlow's training workload."""
    return TensorFlowTraining(spec, data)
