"""Batches of a run: made before its window, or within it by a thread where a pass is too large to be kept."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal

from framewatt.datasets.contract import Arrays
from framewatt.study.load import CLOSED, rate_of
from framewatt.study.records import Batches
from framewatt.tasks.contract import TEST
from framewatt.workloads.contract import Workload

AHEAD: Final = "ahead"
STREAMED: Final = "streamed"
"""How batches are made: before the window, so that it has no part in them; or within it."""

PASSES = 1
"""Default of the whole passes over the test set that a window of inference spans at least."""

AHEAD_GB = 8
"""Most gigabytes of a pass that is made before its window, where the study says nothing else; as in its schema."""

_WAITING = 2
"""Batches that are made, or in the making, while a model works on another."""

_END = object()


class Supply:
    """The batches of a workload's passes over its data.

    Whether they are kept depends on the data and the study alone, so that it is the same in every framework.

    Args:
        workload: makes them.
        ahead_gb: most gigabytes (1e9 bytes) of a pass that is made before a window.

    Attributes:
        made: AHEAD or STREAMED.
        pass_b: bytes of the data of a pass, as they are stored.
    """

    def __init__(self, workload: Workload, ahead_gb: float) -> None:
        self._workload = workload
        self._kept: list[Any] | None = None
        self.pass_b = pass_b(workload.data, workload.split)
        self.made = made(self.pass_b, ahead_gb)

    def of(self, epoch: int = 0) -> Iterable[Any]:
        """The batches of a pass: all of them, ready, or the promise of them; of the latter, none is begun yet.

        Passes of inference, of epoch 0, are all alike, and made once.
        """
        if self.made == STREAMED:
            return streamed(self._workload.batches(epoch))
        if epoch:
            # Not kept here: two epochs need not fit.
            return list(self._workload.batches(epoch))
        if self._kept is None:
            self._kept = list(self._workload.batches())
        return self._kept

    def summary(self) -> Batches:
        """Return how batches were made, for the run's record."""
        return {"made": self.made, "pass_b": self.pass_b}


def always_ahead(options: Mapping[str, Any]) -> bool:
    """Whether batches are made ahead whatever their size: those of requests at a rate, and those of Node.js.

    Args:
        options: of a cell, that are not at their default.
    """
    return options.get("client") == "node" or rate_of(options.get("load", CLOSED)) is not None


def made(size_b: int, ahead_gb: float) -> Literal["ahead", "streamed"]:
    """How batches of a pass of so many bytes are made, where at most `ahead_gb` are made ahead."""
    return AHEAD if size_b <= ahead_gb * 1e9 else STREAMED


def pass_b(data: Arrays, split: str) -> int:
    """Bytes of the samples of a split, and in training of their labels."""
    if split == TEST:
        return sum(values.nbytes for values in data.inputs_test.values())
    return sum(values.nbytes for values in (*data.inputs_train.values(), data.y_train))


def streamed(batches: Iterator[Any]) -> Iterator[Any]:
    """The same batches, made by a thread while the last ones are worked on; it begins when the first is asked for.

    What making a batch raises is raised where the batch is asked for.
    """
    maker = ThreadPoolExecutor(1)
    try:
        waiting = deque(maker.submit(next, batches, _END) for _ in range(_WAITING))
        while (batch := waiting.popleft().result()) is not _END:
            waiting.append(maker.submit(next, batches, _END))
            yield batch
    finally:
        maker.shutdown(cancel_futures=True)
