"""Inference of any exported model in ONNX Runtime: the ONNX file holds the model."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from framewatt.datasets.contract import Arrays
from framewatt.datasets.segments import Segments
from framewatt.study.factors import rate_of
from framewatt.study.options import QUANTISED, REMOVED, Level
from framewatt.study.runtimes import PROVIDERS
from framewatt.tasks.contract import Outputs, Step
from framewatt.workloads.contract import ONNX_FILE, Inference, Inputs, Spec
from framewatt.workloads.onnxruntime.named import NamedOutputs
from framewatt.workloads.onnxruntime.providers import (
    GRAPH_OPTIMIZATION,
    nodes_by_provider,
    open_session,
    tf32_in_force,
)
from framewatt.workloads.outputs import single_output
from framewatt.workloads.state import Carried, linked, state_names

_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
}
"""Input types of models; keras-hub's models take int32 tokens."""

_QUANTISERS = {"int8_dynamic": "DynamicQuantizeLinear", "int8_static": "QuantizeLinear"}
"""The node that only a graph of this form of quantisation has, in this order."""


@dataclass(frozen=True)
class _Form:
    """How a graph takes an input.

    Attributes:
        dtype: its type.
        channels_last: whether images are (height, width, channels).
    """

    dtype: np.dtype[Any]
    channels_last: bool

    def convert(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return an array in this form, aligned; the array itself where it has it."""
        return np.require(np.moveaxis(values, 1, -1) if self.channels_last else values, self.dtype, ["C", "A"])


class OnnxRuntimeInference(Inference):
    """Answers for the test set with the exported weights.

    Attributes:
        path: the ONNX file.
        answers: makes answers from its outputs.
    """

    def setup(self) -> None:
        """Open a session on the provider of the spec.

        Raises:
            RuntimeError: the provider is not available, or ONNX Runtime replaced it by another.
        """
        assert self.spec.artefact is not None
        self.path = self.spec.artefact / ONNX_FILE
        self.session, self._all_nodes_on_provider = open_session(self.spec, self.path)
        entries = self.session.get_inputs()
        self._layout = self.data.layout
        self._check_batch(entries[0].shape)
        # Only texts go on from batch to batch: of any other data, a user's input may have such a name.
        carried = state_names(len(entries)) if isinstance(self.data, Segments) else []
        state = [entry for entry in entries if entry.name in carried]
        given = [entry for entry in entries if entry not in state]
        self._names = [entry.name for entry in [*given, *state]]
        self._values, self._forms = zip(*(self._taken(entry, alone=len(given) == 1) for entry in given), strict=True)
        rows = self.spec.batch_size
        self._fresh = tuple(np.zeros((rows, *one.shape[1:]), _TYPES[one.type]) for one in state)
        self._carried = Carried(self._fresh)
        self.answers = NamedOutputs(self.spec, self.data, [entry.name for entry in self.session.get_outputs()])

    def _taken(self, entry: Any, *, alone: bool) -> tuple[Any, _Form]:
        """Return the test set's array for an input of the graph, and the form in which the graph takes it.

        Raises:
            RuntimeError: one of several inputs has a name that the data set does not have.
        """
        arrays = self.data.inputs_test
        if alone:
            values = self.data.x_test
        elif entry.name in arrays:
            values = arrays[entry.name]
        else:
            raise RuntimeError(
                f"model: the data set has no input {entry.name!r}, which the model needs. It has: {', '.join(arrays)}."
            )
        last = self.data.channels_first and values.ndim == 4 and entry.shape[1] != values.shape[1]
        dtype, shape = np.dtype(_TYPES[entry.type]), values.shape[1:]
        if last:
            shape, self._layout = (*shape[1:], shape[0]), "NHWC"
        if not _fits(entry.shape[1:], shape) or dtype.kind != values.dtype.kind:
            raise RuntimeError(
                f"model: its input {entry.name!r} has shape {tuple(entry.shape)}, {dtype}, and the data set has "
                f"{('n', *shape)}, {values.dtype}. Use a data set or a model that fits."
            )
        return values, _Form(dtype, last)

    def _check_batch(self, shape: Any) -> None:
        """Check that the model takes batches of the wanted size.

        Raises:
            RuntimeError: it has another fixed batch size, or the last batch would be smaller.
        """
        size, samples = (shape[0] if shape else None), len(self.data.x_test)
        if isinstance(size, int) and size != self.spec.batch_size:
            raise RuntimeError(f"batch_size: the ONNX file takes {size} alone, not {self.spec.batch_size}. Use {size}.")
        if isinstance(size, int) and size > 1 and rate_of(self.spec.level("load")) is not None:
            raise RuntimeError(
                f"load: the ONNX file takes batches of {size}, and requests come one by one. Use a file with a free "
                "batch axis, or with batches of 1."
            )
        if isinstance(size, int) and samples % size:
            raise RuntimeError(
                f"samples: {samples} are not a multiple of {size}, the batch size that the ONNX file fixes. Use "
                "a multiple."
            )

    def batches(self, epoch: int = 0) -> Iterator[Inputs]:
        """Batches of the test set, of those inputs that the graph has, in its order."""
        for step in self.steps():
            yield linked(self.tensors(step.samples_of(values) for values in self._values), step)

    def tensors(self, arrays: Iterable[Any]) -> Inputs:
        """Arrays, one for each input of the graph, in its layouts and types."""
        return tuple(form.convert(values) for values, form in zip(arrays, self._forms, strict=True))

    def whole(self) -> Inputs:
        """Return the whole test set, as one batch."""
        return self.tensors(values[:] for values in self._values)

    def run(self, batch: Inputs) -> Outputs:
        """Return outputs of a batch on the host."""
        return self._carried.through(self._called, batch)  # type: ignore[no-any-return]  # not installed where mypy runs

    def _called(self, *arrays: Any) -> Any:
        returned = self.session.run(None, dict(zip(self._names, arrays, strict=True)))
        if self._fresh or self.spec.outputs:
            # State stays with the first output; of named ones `in_order` makes answers.
            return returned
        return single_output(returned[0] if len(returned) == 1 else returned, self.data)

    def in_order(self, outputs: Iterable[Any], steps: Iterable[Step]) -> Outputs:
        """Return outputs of one pass over the test set, as one array that the task judges."""
        return super().in_order(map(self.answers.answers_in, outputs), steps)

    def feed(self, batch: Inputs) -> dict[str, Any]:
        """Return a batch by the graph's input names, with the state of streams that begin where the model has any."""
        state = (part[: len(batch[0])] for part in self._fresh)
        return dict(zip(self._names, [*batch, *state], strict=True))

    def synchronize(self) -> None:
        """Nothing to wait for: `run` returns when the outputs are on the host."""

    def facts(self) -> dict[str, Any]:
        """Return facts from the exported file."""
        import onnx

        model = onnx.load(self.path)
        return {
            "parameters": None,
            "parameters_reason": "the graph does not tell weights from folded constants",
            "initializer_elements": int(sum(np.prod(t.dims) for t in model.graph.initializer)),
            "flops": None,
            "flops_reason": "ONNX Runtime has no counter",
            "input_shape": list(self._example()[0].shape[1:]),
            "input_layout": self._layout,
            "opset": model.opset_import[0].version,
            "execution_provider": PROVIDERS[self.spec.provider],
            "all_nodes_on_provider": self._all_nodes_on_provider,
            "nodes_by_provider": self._placement(),
            "in_force": self._in_force() | {"integer_nodes": integer_nodes(model)},
            "libraries": {"onnxruntime": ort.__version__},
        }

    def _placement(self) -> dict[str, dict[str, int]] | None:
        """Nodes by provider, from a profile; None if ONNX Runtime guarantees that all are on the wanted one."""
        if self._all_nodes_on_provider:
            return None
        return nodes_by_provider(self.spec, self.path, self.feed(self._example()))

    def _example(self) -> Inputs:
        return self.tensors(values[:1] for values in self._values)

    def levels(self) -> dict[str, Level | None]:
        """Return the levels in force."""
        in_force = self._in_force()
        levels = {value.name: level for level, value in GRAPH_OPTIMIZATION.items()}
        return {
            "precision": self.precision_in_force(),
            "threads": in_force["threads"],
            "graph_optimization": levels[in_force["graph_optimization"]],
            "weight_inputs": "as_exported" if in_force["weights_among_inputs"] else REMOVED,
            "client": "python",
            **({"tf32": in_force["tf32"]} if "tf32" in in_force else {}),
        }

    def precision_in_force(self) -> Level:
        """Return a level of the option `precision`: how the graph is quantised, where that was requested.

        Else the one requested: exports are in fp32, and a user's file is run as it is, in whatever formats it computes.
        """
        import onnx

        if self.spec.level("precision") not in QUANTISED:
            return str(self.spec.level("precision"))
        kinds = integer_nodes(onnx.load(self.path, load_external_data=False))
        return next((level for level, kind in _QUANTISERS.items() if kind in kinds), "fp32")

    def _in_force(self) -> dict[str, Any]:
        options = self.session.get_session_options()
        tf32 = tf32_in_force(self.session)
        return {
            **({"tf32": tf32} if tf32 else {}),
            "threads": options.intra_op_num_threads,
            "graph_optimization": options.graph_optimization_level.name,
            # What may be overridden at each run is no constant.
            "weights_among_inputs": len(self.session.get_overridable_initializers()),
        }


def _fits(declared: list[Any], shape: tuple[int, ...]) -> bool:
    """Return whether a sample's shape fits one that a graph declares; free dimensions there are names or None."""
    return len(declared) == len(shape) and all(
        not isinstance(size, int) or size == there for size, there in zip(declared, shape, strict=True)
    )


def integer_nodes(model: Any) -> dict[str, int]:
    """Number of nodes of a graph that convert from or to integers, or compute in them, by kind; empty for fp32."""
    kinds = Counter(node.op_type for node in model.graph.node)
    words = ("Integer", "Linear", "Quantize")
    return {kind: count for kind, count in sorted(kinds.items()) if any(word in kind for word in words)}


def make_inference(spec: Spec, data: Arrays) -> OnnxRuntimeInference:
    """ONNX Runtime's inference workload."""
    return OnnxRuntimeInference(spec, data)
