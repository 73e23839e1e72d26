"""TensorFlow's profiler: kernels on the threads of its executor, from the planes that it writes (XSpace)."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from framewatt.workloads.contract import Workload
from framewatt.workloads.profilers import STEP, Span

_KERNELS = 2
"""Level of the host's profiler that shows kernels, and not how the executor waits."""


class PlaneProfiler:
    """See Profiler.

    Args:
        folder: where the planes go.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def start(self) -> None:
        options = tf.profiler.experimental.ProfilerOptions(
            host_tracer_level=_KERNELS, python_tracer_level=0, device_tracer_level=1
        )
        tf.profiler.experimental.start(str(self._folder), options=options)

    def step(self) -> AbstractContextManager[Any]:
        return tf.profiler.experimental.Trace(STEP)  # type: ignore[no-any-return]  # tensorflow is not installed where mypy runs

    def stop(self) -> list[Span]:
        tf.profiler.experimental.stop()
        (path,) = self._folder.rglob("*.xplane.pb")
        space = xplane_pb2.XSpace()
        space.ParseFromString(path.read_bytes())
        spans = []
        for plane in space.planes:
            for line in plane.lines:
                for event in line.events:
                    metadata = plane.event_metadata[event.metadata_id]
                    # A kernel is named by its node and its kind, `dense/MatMul:MatMul`.
                    node, _, kind = metadata.name.rpartition(":")
                    if metadata.name != STEP and not (node and kind == metadata.display_name):
                        continue
                    start_ns = line.timestamp_ns + 1e-3 * event.offset_ps
                    name, api = (STEP, "") if metadata.name == STEP else (kind, api_of(node))
                    spans.append(Span(name, api, "", line.id, start_ns, start_ns + 1e-3 * event.duration_ps))
        return spans


def api_of(node: str) -> str:
    """Return what of the API a node of a graph belongs to, by the scope that its name begins with.

    Args:
        node: `gradient_tape/model/dense/MatMul/MatMul_1`.
    """
    if "gradient_tape/" in node or node.startswith("gradients/"):
        return "tf.GradientTape.gradient"
    scopes = node.split("/")[:-1]
    if any(scope.rstrip("0123456789_") in _OPTIMIZERS for scope in scopes):
        return "keras.optimizers.Optimizer.apply"
    return "keras.Model.__call__" if scopes else ""


_OPTIMIZERS = ("sgd", "adam", "lamb", "momentum")


def make_profiler(workload: Workload, scratch: Path) -> PlaneProfiler:
    """TensorFlow's profiler."""
    return PlaneProfiler(scratch / "planes")
