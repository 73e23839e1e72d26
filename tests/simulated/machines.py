"""How often the answer over several machines is wrong, covers and agrees, in merged studies whose truth is known."""

import sys

import numpy as np
import pandas as pd

from framewatt.statistics.selection import stratified

STUDIES = 1500
ALPHA = 0.05


def judged(studies: int, levels: np.ndarray, noises: tuple[float, ...], blocks: tuple[int, ...], seed: int) -> dict:
    """Simulate merged studies of one group.

    Args:
        studies: how many.
        levels: shape (machines, cells): logarithms of what each cell costs on each machine.
        noises: of a run on each machine, as a share.
        blocks: of each machine.
        seed: of the noise.

    Returns:
        shares of studies: `misses`, the cell of least mean is not in a set that names some; `covers`, the interval of
        the last cell's ratio to the first holds the mean ratio; `settled`; `disagrees`, no cell is named since machines
        disagree; `contradicts`, that is said to be known.
    """
    rng = np.random.default_rng(seed)
    mean = levels.mean(axis=0)
    told = dict.fromkeys(("misses", "covers", "settled", "disagrees", "contradicts"), 0)
    for _ in range(studies):
        logs = [
            level[:, None] + rng.normal(0, 0.05, count) + rng.normal(0, noise, (level.size, count))
            for level, noise, count in zip(levels, noises, blocks, strict=True)
        ]
        found = stratified(logs, ALPHA, paired=True)
        low, high = (np.log(end[-1, 0]) for end in found.whole.pairs.within(ALPHA / 2))
        told["misses"] += found.agree and not found.inside[int(np.argmin(mean))]
        told["covers"] += low <= mean[-1] - mean[0] <= high
        told["settled"] += int(found.inside.sum()) == 1
        told["disagrees"] += not found.agree
        told["contradicts"] += found.contradict
    return {name: count / studies for name, count in told.items()}


def main() -> None:
    """Print a table of cases: nothing differs; one costs less everywhere; more on some; opposite winners."""
    nothing, better = np.zeros((2, 3)), np.tile([0.0, 0.1, 0.2], (2, 1))
    cases = {
        "nothing differs, 2 machines": (nothing, (0.05, 0.05), (5, 5)),
        "nothing differs, 3 machines": (np.zeros((3, 3)), (0.05,) * 3, (5,) * 3),
        "nothing differs, unequal machines": (nothing, (0.02, 0.1), (10, 3)),
        "the same is best, by 10 %": (better, (0.05, 0.05), (5, 5)),
        "the same is best, by 5 and 20 %": (np.array([[0, 0.05, 0.1], [0, 0.2, 0.4]]), (0.05, 0.05), (5, 5)),
        "best on one, equal on the other": (np.array([[0, 0.2, 0.2], [0, 0, 0]]), (0.05, 0.05), (5, 5)),
        "opposite winners, by 10 %": (np.array([[0, 0.1, 0.3], [0.1, 0, 0.3]]), (0.05, 0.05), (5, 5)),
        "opposite winners, by 30 %": (np.array([[0, 0.3, 0.5], [0.3, 0, 0.5]]), (0.05, 0.05), (5, 5)),
    }
    rows = [{"case": name} | judged(STUDIES, *case, seed=number) for number, (name, case) in enumerate(cases.items())]
    sys.stdout.write(pd.DataFrame(rows).to_string(index=False, float_format="%.3f") + "\n")


if __name__ == "__main__":
    main()
