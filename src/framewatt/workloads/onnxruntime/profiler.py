"""ONNX Runtime's profile: nodes of the graph."""

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from framewatt.workloads.contract import Workload
from framewatt.workloads.onnxruntime.providers import open_session
from framewatt.workloads.profilers import STEP, Span

RUN = "model_run"
"""What the profile calls a run of the session, which is a step."""

NODE = "_kernel_time"
API = "onnxruntime.InferenceSession.run"


class SessionProfiler:
    """See Profiler. A session writes a profile from its making on, so a new one takes the place of the workload's.

    Args:
        workload: of ONNX Runtime.
        scratch: where the profile goes.
    """

    def __init__(self, workload: Any, scratch: Path) -> None:
        self._workload, self._prefix = workload, scratch / "profile"

    def start(self) -> None:
        workload = self._workload
        workload.session, _ = open_session(workload.spec, workload.path, self._prefix)
        workload.warm_up(1)
        self._warm = 1

    def step(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def stop(self) -> list[Span]:
        path = self._workload.session.end_profiling()
        events = json.loads(Path(path).read_text(encoding="utf-8"))
        spans, runs = [], 0
        for event in events:
            name, arguments = event["name"], event.get("args") or {}
            if name == RUN:
                runs += 1
                if runs > self._warm:
                    spans.append(_span(STEP, "", "", event))
            elif name.endswith(NODE):
                shapes = json.dumps(arguments.get("input_type_shape", []))
                spans.append(_span(arguments.get("op_name", name), API, shapes, event))
        return spans


def _span(name: str, api: str, shapes: str, event: dict[str, Any]) -> Span:
    start_ns = 1e3 * event["ts"]
    return Span(name, api, shapes, event["tid"], start_ns, start_ns + 1e3 * event["dur"])


def make_profiler(workload: Workload, scratch: Path) -> SessionProfiler:
    """ONNX Runtime's profile."""
    return SessionProfiler(workload, scratch)
