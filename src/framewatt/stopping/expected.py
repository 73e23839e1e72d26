"""How long the blocks of a study took, and how many one with a stopping rule is expected to need (pure)."""

import math
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from itertools import accumulate
from typing import Any

from scipy.special import ndtri, stdtrit

from framewatt.statistics.best_set import level_of
from framewatt.statistics.stopping import critical_t, threshold_of
from framewatt.study.records import RunRecord
from framewatt.study.stopping_rule import Rule

_PAUSE = 10
"""A block that took longer than this many times its runs was interrupted, and counts as long as its runs."""


def minutes_after(records: Iterable[RunRecord], blocks: int) -> list[float]:
    """Minutes that the first 1, 2, ... blocks took together.

    A block takes from the start of its first run to the end of its last, so that time between runs counts; a pause
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
    started_s = datetime.fromisoformat(clock["utc"]).timestamp()
    ended_s = started_s + (process["end_monotonic_ns"] - clock["monotonic_ns"]) * 1e-9 if process else started_s
    return started_s - (run["cool_down_s"] or 0.0), ended_s


NOISE = 0.05
"""Assumed residual standard deviation of a run after cell and block effects, as a share: that of a quiet machine."""

DIFFERENCES = (0.05, 0.1, 0.2)
"""Shares by which the next best may take more than the best."""


def expected(rule: Rule, cells: int, alpha: float) -> dict[str, Any]:
    """Median number of blocks until a group of so many cells is settled, if all others are equally close to the best.

    Half of such studies take longer (docs/stopping.md has simulated means).

    Args:
        rule: when the study stops.
        cells: of its largest group.
        alpha: probability of an error in a group.

    Returns:
        `blocks`: number by difference in percent (key "any" for an interval), None where it exceeds at_most; and a
        `sentence`.
    """
    spread = NOISE * math.sqrt(2)
    if rule.width is not None:
        blocks = {"any": _narrow(rule, cells, alpha, spread)}
        outcome = f"{_words(blocks['any'], rule)} where runs vary by {100 * NOISE:g} %"
    else:
        blocks = {f"{100 * share:g}": _known(rule, cells, alpha, math.log1p(share) / spread) for share in DIFFERENCES}
        each = (f"{_words(number, rule)} where it is {share} % ahead" for share, number in blocks.items())
        outcome = (
            f"{', '.join(each)} of {'all others' if cells > 2 else 'the other'}, and runs vary by {100 * NOISE:g} %"
        )
    limit = f", or until {rule.minutes:g} minutes are over" if rule.minutes is not None else ""
    sentence = f"Measures {rule.at_least} to {rule.at_most} blocks, {rule.words}{limit}: {outcome}."
    return {"blocks": blocks, "sentence": sentence}


def _known(rule: Rule, cells: int, alpha: float, effect: float) -> int | None:
    """The first look at which the least of the others' t statistics is large enough in half of such studies."""
    threshold, below = threshold_of(cells, alpha), float(ndtri(0.5 ** (1 / (cells - 1))))
    level = level_of(cells, alpha / len(rule.looks))

    def enough(n: int) -> float:
        return critical_t(n, threshold) if rule.at_every_block else float(stdtrit(n - 1, 1 - level))

    return next((n for n in rule.looks if math.sqrt(n) * effect - below >= enough(n)), None)


def _narrow(rule: Rule, cells: int, alpha: float, spread: float) -> int | None:
    """The first look at which an interval of such a spread is narrow enough."""
    assert rule.width is not None
    share = alpha / (len(rule.looks) * math.comb(cells, 2))
    widths = ((n, math.expm1(stdtrit(n - 1, 1 - share / 2) * spread / math.sqrt(n))) for n in rule.looks)
    return next((n for n, width in widths if width <= rule.width), None)


def _words(blocks: int | None, rule: Rule) -> str:
    return f"about {blocks} blocks" if blocks is not None else f"more than {rule.at_most}"
