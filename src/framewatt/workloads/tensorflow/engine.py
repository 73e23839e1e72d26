"""Inference and training in TensorFlow, with Keras models. Images are (height, width, channels)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray
from tensorflow.python.util import _pywrap_util_port

from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import Objects, Targets
from framewatt.datasets.pairs import Pairs
from framewatt.study.options import EVERYWHERE, GREEDY, NOWHERE, Level
from framewatt.tasks.contract import Outputs
from framewatt.workloads.contract import EVALUATED, Inference, Inputs, Spec, Training, example_inputs, facts_of
from framewatt.workloads.decoding import beam_of, check_plain, in_words
from framewatt.workloads.models import build_model
from framewatt.workloads.outputs import single_output
from framewatt.workloads.state import Carried, fresh_state, linked
from framewatt.workloads.tensorflow.inspection import structure
from framewatt.workloads.tensorflow.losses import LOSSES
from framewatt.workloads.tensorflow.optimizer import Optimizer

WEIGHTS = "weights.weights.h5"
POLICIES = {"fp32": "float32", "fp16": "mixed_float16", "bf16": "mixed_bfloat16"}
"""Keras' number formats; in the mixed ones weights stay in fp32."""

HALVES = {"fp16": "float16", "bf16": "bfloat16"}
"""The formats in which layers compute under the mixed ones."""


def channels_last(values: Any) -> Any:
    """Return images (n, channels, height, width) as contiguous (n, height, width, channels); tokens as they are."""
    return np.ascontiguousarray(np.moveaxis(values, 1, -1)) if values.ndim == 4 else values


def packed(inputs: Inputs) -> Any:
    """Inputs as a Keras model takes them: a single one as it is, several in a list."""
    return inputs[0] if len(inputs) == 1 else list(inputs)


def in_single(returned: Any) -> Any:
    """Return a model's outputs in fp32; state that it returns behind them, and outputs that have names, as they are."""
    if isinstance(returned, dict):
        return returned
    if isinstance(returned, list | tuple):
        return tf.cast(returned[0], tf.float32), *returned[1:]
    return tf.cast(returned, tf.float32)


def _tf32_in_force() -> str:
    return EVERYWHERE if tf.config.experimental.tensor_float_32_execution_enabled() else NOWHERE


def is_compiled(function: Any) -> bool:
    """Return whether XLA compiles a `tf.function`; its own attribute, since TensorFlow has no public one."""
    return bool(function._jit_compile)


def _precision_of(model: keras.Model) -> str:
    """Return a level of the option `precision`: the half format in which a layer with own weights computes, else fp32.

    A model that was loaded from a file has the formats of that file, whatever Keras' global policy is.
    """
    kinds = {layer.compute_dtype for layer in model._flatten_layers() if layer._trainable_variables}
    return next((level for level, kind in HALVES.items() if kind in kinds), "fp32")


class _TensorFlowModel:
    """What inference and training share: the model and a compiled forward pass."""

    spec: Spec
    data: Arrays
    model: keras.Model

    def build(self) -> None:
        check_plain(self.spec, self.data)
        tf.config.threading.set_intra_op_parallelism_threads(self.spec.threads)
        tf.config.threading.set_inter_op_parallelism_threads(self.spec.threads)
        if self.spec.device == "cpu":
            tf.config.set_visible_devices([], "GPU")
        elif not tf.config.list_physical_devices("GPU"):
            raise RuntimeError("device: TensorFlow can use no GPU here. Use device: cpu, or a machine with a GPU.")
        keras.utils.set_random_seed(self.spec.seed)
        if (level := self.spec.level("tf32")) != "default":
            tf.config.experimental.enable_tensor_float_32_execution(level == EVERYWHERE)
        keras.mixed_precision.set_global_policy(POLICIES[self.spec.level("precision")])
        self.compiled = self.spec.level("compile") == "compiled"
        example = self.tensors(example_inputs(self.data, 1))
        # Sentences are padded to a multiple, which is not what they have.
        self.input_shape = self.data.input_shape if isinstance(self.data, Pairs) else tuple(example[0].shape[1:])
        self.model = build_model("tensorflow", keras.Model, self.spec, facts_of(self.data, self.input_shape))
        if not self.model.built:
            # Calling the model would fix the batch size to the example's.
            shapes = [self.free(values) for values in example]
            self.model.build(shapes if len(shapes) > 1 else shapes[0])
        arrays = [*example, *fresh_state(self.model, 1)]
        signature = [tf.TensorSpec(self.free(values), values.dtype) for values in arrays]
        self.forward = tf.function(self._outputs, signature, jit_compile=self.compiled)
        self.carried = self.fresh(self.spec.batch_size)
        self.beam = beam_of(self.spec, self.model, self.data)

    @property
    def images(self) -> tf.TensorSpec:
        """Batches of images of any size, of the data set's shape."""
        return tf.TensorSpec((None, *self.input_shape), tf.float32, "images")

    def free(self, values: tf.Tensor) -> tuple[int | None, ...]:
        """Return the shape of batches of any size, and of sentences of any length."""
        return (None,) * len(values.shape) if isinstance(self.data, Pairs) else (None, *values.shape[1:])

    def answers(self, carried: Carried, batch: Inputs) -> Outputs:
        """Return outputs of a batch on the host: what the forward pass gives, or what a search finds with it."""
        if self.beam is not None:
            return self.model.decode(batch[0], self.beam).numpy()  # type: ignore[no-any-return]  # tensorflow is not installed where mypy runs
        returned = carried.through(self.forward, batch)
        if isinstance(returned, tf.Tensor):
            return returned.numpy()  # type: ignore[no-any-return]  # as above
        # In the order in which exports have them: of mappings, that of their keys.
        return single_output([tensor.numpy() for tensor in tf.nest.flatten(returned)], self.data)  # type: ignore[no-any-return]  # as above

    def _outputs(self, *inputs: tf.Tensor) -> Any:
        return in_single(self.model(packed(inputs), training=False))

    def fresh(self, batch_size: int) -> Carried:
        return Carried(fresh_state(self.model, batch_size))

    def tensors(self, arrays: Iterable[Any]) -> Inputs:
        """Return arrays of the data set, in TensorFlow's layout."""
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

    def levels(self) -> dict[str, Level | None]:
        """Return the levels in force."""
        tf32 = {"tf32": _tf32_in_force()} if self.spec.device == "cuda" else {}
        return {
            "precision": _precision_of(self.model),
            "threads": tf.config.threading.get_intra_op_parallelism_threads(),
            "compile": "compiled" if is_compiled(self.timed) else "plain",
            "decoding": GREEDY if self.beam == 1 else "default",
            **tf32,
        }

    @property
    def timed(self) -> Any:
        """The function that the timed window calls."""
        return self.forward

    def in_force(self) -> dict[str, Any]:
        return {
            "precision": keras.mixed_precision.dtype_policy().name,
            "threads": tf.config.threading.get_intra_op_parallelism_threads(),
            "compile": "XLA" if self.compiled else "tf.function",
            **({"tf32": _tf32_in_force()} if self.spec.device == "cuda" else {}),
            # On by default on some processors only, where it changes an epoch's time by up to 3.6 times.
            "onednn": bool(_pywrap_util_port.IsMklEnabled()),
            **in_words(self.beam),
        }


class TensorFlowInference(_TensorFlowModel, Inference):
    """Answers for the test set with trained weights."""

    def setup(self) -> None:
        """Load the weights from HDF5."""
        self.build()
        assert self.spec.artefact is not None
        self.model.load_weights(self.spec.artefact / WEIGHTS)
        if self.compiled:
            self.compile()

    def run(self, batch: Inputs) -> Outputs:
        """Return outputs of a batch on the host."""
        return self.answers(self.carried, batch)


class TensorFlowTraining(_TensorFlowModel, Training):
    """Learns with the study's optimizer, in a step that is one graph."""

    def setup(self) -> None:
        """Random weights, and the step as a graph."""
        self.build()
        self._optimizer = optimizer = Optimizer(self.spec, self.model.trainable_variables, self.rates())

        @tf.function(input_signature=self._signature(), jit_compile=self.compiled)  # type: ignore[untyped-decorator]  # tensorflow is not installed where mypy runs
        def step(inputs: Inputs, labels: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                loss, *state = self._loss(inputs, labels)
                scaled = optimizer.scale_loss(loss)
            variables = self.model.trainable_variables
            optimizer.apply(tape.gradient(scaled, variables), variables)
            return (loss, *state) if state else loss

        self._step = step

    def _loss(self, inputs: Inputs, labels: Any) -> tuple[tf.Tensor, ...]:
        """Return the mean loss of a batch, and the state that the model returns. A detector works out its own loss."""
        if isinstance(labels, tuple):
            return (self.model.objective(*inputs, *labels),)
        returned = in_single(self.model(packed(inputs), training=True))
        outputs, *state = returned if isinstance(returned, tuple) else (returned,)
        return LOSSES[self.task.name](outputs, labels), *state

    def _signature(self) -> list[Any] | None:
        """One graph for batches that differ in shape, as sentences of any length do, or objects of any number."""
        if isinstance(self.data, Pairs):
            pairs = tf.TensorSpec((None, None), tf.int64)
            return [(pairs,) * len(self.data.inputs_train), pairs]
        if not isinstance(self.data.y_train, Objects):
            return None
        parts = [tf.TensorSpec((None, None, 4), tf.float32), tf.TensorSpec((None, None), tf.int64)]
        if self.data.y_train.masked:
            parts.append(tf.TensorSpec((None, None, *self.data.y_train.size), tf.uint8))
        return [(self.images,), tuple(parts)]

    def labels(self, values: NDArray[np.int64] | Targets) -> Any:
        """Labels of a batch on the device, or what there is of Targets."""
        if isinstance(values, Targets):
            return tuple(tf.constant(part) for part in values if part is not None)
        return tf.constant(values)

    def run(self, batch: tuple[Inputs, Any]) -> tf.Tensor:
        """Return one step; the loss stays on the device."""
        inputs, labels = batch
        return self.carried.through(lambda *arrays: self._step(arrays, labels), inputs)

    def loss_of(self, step: tf.Tensor) -> float:
        """Return the mean loss of a step."""
        return float(step)

    def evaluate(self) -> Outputs:
        """Return outputs for the test set, in evaluation mode."""
        carried, steps = self.fresh(EVALUATED), self.test_steps()
        inputs = self.data.inputs_test.values()
        batches = (linked(self.tensors(step.samples_of(values) for values in inputs), step) for step in steps)
        outputs = [self.answers(carried, batch) for batch in batches]
        return self.in_order(outputs, steps)

    def save(self, folder: Path) -> None:
        """Write the weights as HDF5."""
        self.model.save_weights(folder / WEIGHTS)

    def in_force(self) -> dict[str, Any]:
        """Return options as set in Keras, including the optimizer's."""
        return super().in_force() | self._optimizer.in_force()

    @property
    def timed(self) -> Any:
        """The step."""
        return self._step

    def levels(self) -> dict[str, Level | None]:
        """Return the levels in force, including the optimizer's."""
        return super().levels() | self._optimizer.levels()


def make_inference(spec: Spec, data: Arrays) -> TensorFlowInference:
    """TensorFlow's inference workload."""
    return TensorFlowInference(spec, data)


def make_training(spec: Spec, data: Arrays) -> TensorFlowTraining:
    """TensorFlow's training workload."""
    return TensorFlowTraining(spec, data)
