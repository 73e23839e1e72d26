"""How long the blocks of a study took, by its records alone: a limit of time is judged alike anywhere (pure)."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from itertools import accumulate
from typing import Any

_PAUSE = 10
"""A block that took longer than this many times its runs was interrupted, and counts as long as its runs."""


def minutes_after(records: Iterable[Mapping[str, Any]], blocks: int) -> list[float]:
    """Minutes that the first 1, 2, ... blocks took together.

    A block takes from the start of its first run to the end of its last, so that what lies between runs counts; a pause
    in which the study was interrupted does not.

    Args:
        records: run records of whole blocks.
        blocks: how many blocks there are.
    """
    by_block: dict[int, list[tuple[float, float]]] = {number: [] for number in range(1, blocks + 1)}
    for record in records:
        by_block.get(record["block"], []).append(span_s(record))
    return list(accumulate(_block_s(spans) / 60 for spans in by_block.values()))


def _block_s(spans: Collection[tuple[float, float]]) -> float:
    ran_s = sum(end - start for start, end in spans)
    if not spans:
        return 0.0
    took_s = max(end for _, end in spans) - min(start for start, _ in spans)
    return took_s if ran_s <= took_s <= _PAUSE * ran_s else ran_s


def span_s(run: Mapping[str, Any]) -> tuple[float, float]:
    """Start and end of a run on the wall clock, seconds: from the rest before it to the end of its process.

    Args:
        run: a run record.
    """
    clock, process = run["clock"], run["windows"].get("process")
    began_s = datetime.fromisoformat(clock["utc"]).timestamp()
    ended_s = began_s + (process["end_monotonic_ns"] - clock["monotonic_ns"]) * 1e-9 if process else began_s
    return began_s - (run["cool_down_s"] or 0.0), ended_s
