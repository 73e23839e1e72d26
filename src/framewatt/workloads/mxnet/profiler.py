"""MXNet's profiler: what its engine ran. Where it runs operators in bulk, they are one span, named by all of them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mxnet as mx

from framewatt.workloads.contract import Workload
from framewatt.workloads.profilers import STEP, Span

_ENDS = {"E": "B", "e": "b"}


class EngineProfiler:
    """See Profiler.

    Args:
        path: where the profile goes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._domain = mx.profiler.Domain("framewatt")

    def start(self) -> None:
        mx.nd.waitall()
        mx.profiler.set_config(
            profile_symbolic=True,
            profile_imperative=True,
            profile_api=False,
            profile_memory=False,
            filename=str(self._path),
        )
        mx.profiler.set_state("run")

    @contextmanager
    def step(self) -> Iterator[None]:
        task = mx.profiler.Task(self._domain, STEP)
        task.start()
        yield
        task.stop()

    def stop(self) -> list[Span]:
        mx.nd.waitall()
        mx.profiler.set_state("stop")
        mx.profiler.dump()
        started: dict[tuple[object, ...], list[float]] = {}
        spans = []
        for event in json.loads(self._path.read_text(encoding="utf-8"))["traceEvents"]:
            what, name = event["ph"], event.get("name", "")
            key = (_ENDS.get(what, what), name, event.get("pid"), event.get("tid"), event.get("id"))
            if what in ("B", "b"):
                started.setdefault(key, []).append(1000 * event["ts"])
            elif what in _ENDS and started.get(key):
                start_ns = started[key].pop()
                step = name == STEP
                if step or event.get("cat") == "operator":
                    thread = -1 if step else event["tid"]
                    spans.append(Span(name, "" if step else api_of(name), "", thread, start_ns, 1000 * event["ts"]))
        return spans


def api_of(name: str) -> str:
    """Return what of the API an operator of the engine belongs to.

    Args:
        name: in the profile; of a bulk, the names of its operators.
    """
    first = name.partition(",")[0]
    if first.startswith("_backward"):
        return "mxnet.autograd.backward"
    if first.endswith("_update"):
        return "mxnet.gluon.Trainer.step"
    return "" if first in ("DeleteVariable", "SetValueOp") else "mxnet.gluon.HybridBlock.__call__"


def make_profiler(workload: Workload, scratch: Path) -> EngineProfiler:
    """MXNet's profiler."""
    return EngineProfiler(scratch / "profile.json")
