"""ONNX Runtime's nodes, one by one: each of the graph that really ran, as a graph of its own."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from framewatt.workloads.contract import Spec
from framewatt.workloads.onnxruntime.profiler import NODE, RUN
from framewatt.workloads.onnxruntime.providers import open_node, open_session
from framewatt.workloads.repeaters import Case, UnrepeatableError

_TYPES = {
    **{"float": onnx.TensorProto.FLOAT, "double": onnx.TensorProto.DOUBLE, "float16": onnx.TensorProto.FLOAT16},
    **{"int64": onnx.TensorProto.INT64, "int32": onnx.TensorProto.INT32, "bool": onnx.TensorProto.BOOL},
    **{"int8": onnx.TensorProto.INT8, "uint8": onnx.TensorProto.UINT8},
}
"""Types as profiles name them."""

_DRAWN = ("float", "double", "float16")
_GRAPH, _GIVEN = "optimized.onnx", "given.npz"
_DEVICES = {"cuda": "cuda", "tensorrt": "cuda"}
_SEED = 0


class NodeRepeater:
    """See Repeater.

    Args:
        spec: of the workload.
        folder: see make_repeater.
    """

    def __init__(self, spec: Spec, folder: Path) -> None:
        self._spec, self._folder = spec, folder
        self._device = _DEVICES.get(spec.provider, "cpu")
        self._last: Any = None

    def captured(self, workload: Any, batches: Iterable[Any]) -> list[Case]:
        """See Repeater."""
        try:
            workload.session, _ = open_session(
                self._spec, workload.path, self._folder / "profile", self._folder / _GRAPH
            )
        # It has no specific exception for a graph that a provider compiled, and which has no file.
        except Exception as error:
            raise UnrepeatableError(
                f"the graph that ran cannot be written ({str(error).splitlines()[0][:200]}). Use an execution provider "
                "that runs the nodes of the file one by one."
            ) from error
        given: dict[str, Any] = {}
        for batch in batches:
            workload.run(batch)
            given |= {_key(name, values.shape): values for name, values in workload.feed(batch).items()}
        np.savez(self._folder / _GIVEN, **given)
        events = json.loads(Path(workload.session.end_profiling()).read_text(encoding="utf-8"))
        return list(self._cases(events))

    def _cases(self, events: Sequence[Mapping[str, Any]]) -> Iterable[Case]:
        """Yield a case for each group of nodes that are alike; the first node of a group represents it."""
        nodes: dict[tuple[str, str, bytes], tuple[str, Any, Counter[int]]] = {}
        runs = 0
        # The profile has a run after its nodes.
        for event in sorted(events, key=lambda one: one["ts"] + one.get("dur", 0)):
            name, profiled = event["name"], event.get("args") or {}
            if name == RUN:
                runs += 1
            elif name.endswith(NODE):
                node, shapes = name.removesuffix(NODE), profiled.get("input_type_shape", [])
                kind = profiled.get("op_name", name)
                key = (kind, json.dumps(shapes), self._attributes(node))
                nodes.setdefault(key, (node, shapes, Counter()))[2][runs] += 1
        for (kind, text, _), (node, shapes, counted) in nodes.items():
            yield Case(kind, text, {"node": node, "inputs": shapes}, tuple(counted[run] for run in range(runs)))

    def _attributes(self, name: str) -> bytes:
        node = self._nodes.get(name)
        parts = sorted(one.SerializeToString(deterministic=True) for one in node.attribute) if node else [name.encode()]
        return b"".join(parts)

    def make_call(self, case: Case) -> Callable[[], object]:
        """See Repeater."""
        node = self._nodes.get(case.arguments["node"])
        if node is None:
            raise UnrepeatableError(f"the written graph has no node {case.arguments['node']}")
        if any(one.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for one in node.attribute):
            raise UnrepeatableError("it has a graph in it")
        names = [name for name in node.input if name]
        weights = [self._weights[name] for name in dict.fromkeys(names) if name in self._weights]
        wanted = given_of(names, self._weights, case.arguments["inputs"])
        given = {name: self._values(name, one) for name, one in wanted.items()}
        inputs = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(values.dtype), values.shape)
            for name, values in given.items()
        ]
        outputs = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
        graph = onnx.helper.make_graph([node], "alone", inputs, outputs, weights)
        model = onnx.helper.make_model(graph, opset_imports=self._model.opset_import, ir_version=self._model.ir_version)
        session = open_node(self._spec, model.SerializeToString())
        binding = session.io_binding()
        for name, values in given.items():
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(values, self._device, 0))
        for output in outputs:
            binding.bind_output(output.name, self._device)
        self._last = binding
        options = ort.RunOptions()
        if self._device != "cpu":
            options.add_run_config_entry("disable_synchronize_execution_providers", "1")
        return partial(session.run_with_iobinding, binding, options)

    def synchronize(self) -> None:
        """See Repeater."""
        if self._last is not None and self._device != "cpu":
            self._last.synchronize_outputs()

    def _values(self, name: str, profiled: Mapping[str, Sequence[int]]) -> Any:
        """Return the values of an input: what the program was given, or drawn at random."""
        ((kind, shape),) = profiled.items()
        if kind not in _TYPES:
            raise UnrepeatableError(f"input {name} is of {kind}")
        with np.load(self._folder / _GIVEN, allow_pickle=False) as file:
            if _key(name, shape) in file and kind not in _DRAWN:
                return file[_key(name, shape)]
        if kind not in _DRAWN:
            raise UnrepeatableError(f"input {name} is {kind} that another node computes")
        drawn = np.random.default_rng(_SEED).standard_normal(shape)
        return drawn.astype(onnx.helper.tensor_dtype_to_np_dtype(_TYPES[kind]))

    @cached_property
    def _model(self) -> Any:
        return onnx.load(self._folder / _GRAPH)

    @cached_property
    def _nodes(self) -> dict[str, Any]:
        return {node.name: node for node in self._model.graph.node if node.name}

    @cached_property
    def _weights(self) -> dict[str, Any]:
        return {one.name: one for one in self._model.graph.initializer}


def given_of(
    names: Sequence[str], weights: Mapping[str, Any], inputs: Sequence[Mapping[str, Sequence[int]]]
) -> dict[str, Mapping[str, Sequence[int]]]:
    """Return type and shape of the inputs of a node that are not weights.

    A profile leaves out weights that the session has packed in another form.

    Args:
        names: of the node's inputs, in their order.
        weights: initialisers by name.
        inputs: type and shape of inputs in their order, as the profile has them.

    Raises:
        UnrepeatableError: they do not fit each other.
    """
    given, left = {}, list(inputs)
    for place, name in enumerate(names):
        needed = sum(other not in weights for other in names[place:])
        if name not in weights and left:
            given[name] = left.pop(0)
        elif name in weights and len(left) > needed and left[0] == _initialiser_shape(weights[name]):
            left.pop(0)
    if left or len(given) != len({name for name in names if name not in weights}):
        raise UnrepeatableError(f"its profile has {len(inputs)} inputs, which are not the {len(names)} of its node")
    return given


def _initialiser_shape(weight: Any) -> dict[str, list[int]] | None:
    """Return type and shape of an initialiser as a profile has them."""
    kind = next((name for name, number in _TYPES.items() if number == weight.data_type), None)
    return {kind: list(weight.dims)} if kind else None


def _key(name: str, shape: Sequence[int]) -> str:
    return f"{name}:{'x'.join(map(str, shape))}".replace("/", "|")


def make_repeater(spec: Spec, folder: Path) -> NodeRepeater:
    """ONNX Runtime's nodes."""
    return NodeRepeater(spec, folder)
