"""`make simulate`: how often answers are wrong, cover and find, beside their targets, for docs/statistics.md."""

import sys
from collections.abc import Callable, Sequence

import numpy as np

from simulated.heads import Judged, judge
from simulated.procedures import AT_LEAST, AT_MOST, Row, rows
from simulated.studies import BLOCKS, CELLS, NOISES, truths

STUDIES = 4000
SEED = 2026

_MEASURES: dict[str, tuple[Callable[[Sequence[Judged]], float], str, float]] = {
    "the head says something that is not so": (lambda of: max(one.false for one in of), AT_MOST, 0.05),
    "the set lacks the cheapest cell": (lambda of: max(one.missed for one in of), AT_MOST, 0.05),
    "the interval of the nearest cell's ratio holds it": (lambda of: min(one.covered for one in of), AT_LEAST, 0.94),
}
_EFFECTS = (0.05, 0.1, 0.2)


def main(studies: int) -> None:
    """Print the tables as Markdown.

    Args:
        studies: in each cell of the first table; parts of it where a procedure is slow.
    """
    missed = _heads(studies) + _power(studies) + _procedures(studies // 2)
    print(f"\n{missed} of the numbers above miss their target." if missed else "\nEvery number meets its target.")


def _heads(studies: int) -> int:
    """One row per measure and noise, one column per number of cells and blocks: the worst truth. How many miss."""
    missed = 0
    print(f"| of {studies} studies | target | " + " | ".join(f"{k} cells, {n}" for k in CELLS for n in BLOCKS) + " |")
    print("|---|---|" + "---|" * len(CELLS) * len(BLOCKS))
    shown: dict[tuple[str, str], list[str]] = {}
    for noise_name, noise in NOISES.items():
        for cells in CELLS:
            for blocks in BLOCKS:
                rng = np.random.default_rng([SEED, cells, blocks])
                found = [judge(noise, truth, blocks, studies, rng) for truth in truths(cells).values()]
                for what, (worst, kind, target) in _MEASURES.items():
                    row = Row(what, noise_name, worst(found), kind, target, studies)
                    missed += not row.met
                    shown.setdefault((what, noise_name), []).append(_text(row))
    for (what, noise_name), cells_of in sorted(shown.items(), key=lambda item: list(_MEASURES).index(item[0][0])):
        _, kind, target = _MEASURES[what]
        print(f"| {what}: {noise_name} | {kind} {100 * target:g} % | {' | '.join(cells_of)} |")
    return missed


def _power(studies: int) -> int:
    """How many of the other cells are shown not to cost least; what it is, and no target."""
    print("\n| other cells shown not to cost least | " + " | ".join(f"{n} blocks" for n in BLOCKS) + " |")
    print("|---|" + "---|" * len(BLOCKS))
    for cells in CELLS:
        for effect in _EFFECTS:
            truth = np.r_[1.0, np.full(cells - 1, 1 + effect)]
            rng = np.random.default_rng([SEED, cells])
            found = [judge(NOISES["normal noise"], truth, blocks, studies, rng) for blocks in BLOCKS]
            told = " | ".join(f"{100 * one.shown:.0f} %, named {100 * one.named:.0f} %" for one in found)
            print(f"| {cells} cells, {100 * effect:g} % apart | {told} |")
    return 0


def _procedures(studies: int) -> int:
    missed = 0
    print("\n| what | study | found | target |")
    print("|---|---|---:|---|")
    for row in rows(studies):
        missed += not row.met
        target = f"{row.kind} {100 * row.target:.3g} %" if row.target else "none"
        print(f"| {row.what} | {row.study} | {_text(row)} | {target} |", flush=True)
    return missed


def _text(row: Row) -> str:
    text = f"{100 * row.found:.1f} %"
    return text if row.met else f"**{text}**"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
