"""ONNX Runtime's execution providers: their names, how a session is opened on one, and which nodes it runs."""

import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnxruntime as ort

from framewatt.study.options import EVERYWHERE, NOWHERE, REMOVED
from framewatt.study.runtimes import PROVIDERS
from framewatt.workloads.contract import Spec

GRAPH_OPTIMIZATION = {
    "disabled": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
"""Level of the option `graph_optimization` -> ONNX Runtime's value."""

_NEEDS = {
    "cuda": "a GPU with a driver for CUDA 13",
    "tensorrt": "a GPU, and NVIDIA's TensorRT libraries (libnvinfer) where the loader finds them",
}
"""Likely missing requirement if a provider is in the build but does not start; its log has more."""


def open_session(
    spec: Spec, path: Path, profile: Path | None = None, optimized: Path | None = None
) -> tuple[ort.InferenceSession, bool]:
    """Return a session on the wanted provider, and whether that runs every node of the model.

    Args:
        spec: the provider, the threads it may use, and how far it may rewrite the graph.
        path: the exported model.
        profile: where the session's profile begins its name; None for a session without one.
        optimized: where the graph that runs is written; None for nowhere.

    Raises:
        RuntimeError: the provider is not available, or ONNX Runtime replaced it by another.
    """
    provider = PROVIDERS[spec.provider]
    if provider not in ort.get_available_providers():
        raise RuntimeError(
            f"provider: this build of ONNX Runtime has no {provider}. Use one that it has: "
            f"{', '.join(ort.get_available_providers())}."
        )
    if spec.provider in _NEEDS and hasattr(ort, "preload_dlls"):
        ort.preload_dlls()
    session, whole = _strict_if_possible(spec, path, _options(spec, profile, optimized))
    used = session.get_providers()[0]
    if used != provider:
        needs = f" It needs {_NEEDS[spec.provider]}." if spec.provider in _NEEDS else ""
        raise RuntimeError(f"provider: {provider} did not start, and ONNX Runtime took {used}.{needs}")
    return session, whole


def nodes_by_provider(spec: Spec, path: Path, feed: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return where nodes ran, by ONNX Runtime's profile of one inference: provider -> kind of node -> how many.

    Nodes that a provider fuses by compiling (OpenVINO, TensorRT) count as one node of a separate kind.

    Args:
        spec: the provider, and the threads it may use.
        path: the exported model.
        feed: inputs by name.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = _options(spec, Path(folder, "profile"))
        session = ort.InferenceSession(_model(spec, path), options, providers=_wanted(spec, path, strict=False))
        session.run(None, feed)
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    placed: dict[str, Counter[str]] = {}
    for event in events:
        arguments = event.get("args", {})
        if event["name"].endswith("_kernel_time") and arguments.get("provider"):
            placed.setdefault(arguments["provider"], Counter())[arguments["op_name"]] += 1
    return {provider: dict(sorted(kinds.items())) for provider, kinds in sorted(placed.items())}


def open_node(spec: Spec, model: bytes) -> ort.InferenceSession:
    """Return a session on a graph as it is, of a node that another session's graph has.

    Args:
        spec: as of that session.
        model: the graph, in ONNX's form.
    """
    options = _options(spec)
    options.graph_optimization_level = GRAPH_OPTIMIZATION["disabled"]
    return ort.InferenceSession(model, options, providers=[PROVIDERS[spec.provider]])


def _strict_if_possible(spec: Spec, path: Path, options: ort.SessionOptions) -> tuple[ort.InferenceSession, bool]:
    """Return a session with all nodes on the provider; if impossible, one with others, which the record then lists.

    ONNX Runtime has no specific exception for an impossible strict session; other errors of the model or the provider
    are raised again by the second try.
    """
    if spec.provider != "cpu":
        options.add_session_config_entry(_STRICT, "1")
        try:
            return ort.InferenceSession(_model(spec, path), options, providers=_wanted(spec, path, strict=True)), True
        except Exception:  # see the docstring: nothing is lost
            options.add_session_config_entry(_STRICT, "0")
    session = ort.InferenceSession(_model(spec, path), options, providers=_wanted(spec, path, strict=False))
    return session, spec.provider == "cpu"


_STRICT = "session.disable_cpu_ep_fallback"


def _model(spec: Spec, path: Path) -> Path | bytes:
    """The exported model, as the file or, where weights are to be taken off its inputs, as the bytes of another one."""
    if spec.level("weight_inputs") != REMOVED:
        return path
    import onnx

    model = onnx.load(path)
    weights = {tensor.name for tensor in model.graph.initializer}
    given = [entry for entry in model.graph.input if entry.name not in weights]
    del model.graph.input[:]
    model.graph.input.extend(given)
    # Before this version of the format every weight had to be among the inputs.
    model.ir_version = max(model.ir_version, 4)
    return bytes(model.SerializeToString())


def _options(spec: Spec, profile: Path | None = None, optimized: Path | None = None) -> ort.SessionOptions:
    options = ort.SessionOptions()
    if optimized:
        options.optimized_model_filepath = str(optimized)
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile)
    options.intra_op_num_threads = spec.threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = GRAPH_OPTIMIZATION[spec.level("graph_optimization")]
    return options


def _wanted(spec: Spec, path: Path, *, strict: bool) -> list[tuple[str, dict[str, str]]]:
    """Return the provider with its settings; CUDA runs the nodes that TensorRT does not take, as NVIDIA recommends."""
    wanted = [(PROVIDERS[spec.provider], _settings(spec, path))]
    return wanted + ([(PROVIDERS["cuda"], {})] if spec.provider == "tensorrt" and not strict else [])


def _settings(spec: Spec, path: Path) -> dict[str, str]:
    """Return settings of a provider."""
    if spec.provider == "openvino":
        # By default OpenVINO may compute in bfloat16 if the processor can.
        return {"device_type": "CPU", "num_of_threads": str(spec.threads), "precision": "FP32"}
    if spec.provider == "tensorrt":
        # By default TensorRT would rebuild its engine for the last, smaller batch, inside the timed window.
        least, most = _shapes(path, 1), _shapes(path, spec.batch_size)
        return {"trt_profile_min_shapes": least, "trt_profile_opt_shapes": most, "trt_profile_max_shapes": most}
    if (level := spec.level("tf32")) != "default":
        return {"use_tf32": str(int(level == EVERYWHERE))}
    return {}


def tf32_in_force(session: ort.InferenceSession) -> str | None:
    """Return where a session on CUDA may use TF32, `everywhere` or `nowhere`; None on any other provider."""
    allowed = session.get_provider_options().get(PROVIDERS["cuda"], {}).get("use_tf32")
    return {"1": EVERYWHERE, "0": NOWHERE}.get(allowed) if session.get_providers()[0] == PROVIDERS["cuda"] else None


def _shapes(path: Path, batch: int) -> str:
    """Shapes of a graph's inputs in the form of TensorRT's profiles: `images:64x3x224x224`."""
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [entry for entry in graph.input if entry.name not in weights]
    sizes = {entry.name: [d.dim_value for d in entry.type.tensor_type.shape.dim][1:] for entry in inputs}
    return ",".join(f"{name}:{'x'.join(map(str, [batch, *size]))}" for name, size in sizes.items())
