"""`make simulate`: how often georgiou2022 anew gives a verdict where no framework costs more than the other."""

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from georgiou2022_factory import claims, measured, of_costs, the_same

from framewatt.papers.replication import OPPOSITE, SAME, UNDECIDED
from simulated.procedures import AT_MOST, Row

STUDIES = 50
RUN_NOISE = 0.05

_TARGET = 0.05
"""In so many families of models at most, a verdict on any of them is by chance: p are corrected by Holm in each."""

_BLOCKS = (3, 5, 10)
_NOISES: dict[str, Callable[[np.random.Generator], float]] = {
    "runs scatter by 5 %": lambda noise: 0.0,
    "and blocks by 10 %": lambda noise: 0.1 * noise.standard_normal(),
    "and one block in ten is 3 times as dear": lambda noise: np.log(3) * (noise.random() < 0.1),
}
_FAMILY = r"^(training|inference)-\w+-(time|energy)$"
_OF_ALL = ("answer-training-tensorflow", "answer-inference-pytorch")


def main(studies: int) -> None:
    """Print the table as Markdown.

    Args:
        studies: in each row.
    """
    missed = 0
    print('| where nothing differs | blocks | families with a verdict | "all are so" said | target |')
    print("|---|---:|---:|---:|---:|")
    for name, of_block in _NOISES.items():
        for blocks in _BLOCKS:
            found = [_of_one(blocks, seed, of_block) for seed in range(studies)]
            family = Row(name, "", float(np.mean([one for one, _ in found])), AT_MOST, _TARGET, studies)
            every = Row(name, "", float(np.mean([said for _, said in found])), AT_MOST, _TARGET, studies)
            missed += (not family.met) + (not every.met)
            numbers = " | ".join(_text(row) for row in (family, every))
            print(f"| {name} | {blocks} | {numbers} | at most {100 * _TARGET:g} % |", flush=True)
    print(f"\n{missed} of the numbers above miss their target." if missed else "\nEvery number meets its target.")


def _of_one(blocks: int, seed: int, of_block: Callable[[np.random.Generator], float]) -> tuple[float, bool]:
    """Share of families in which a model has a verdict, and whether all models are said to be so."""
    study = measured(the_same, blocks=blocks, spread=RUN_NOISE, seed=seed, of_block=of_block)
    verdicts = of_costs(claims(study))["verdict"]
    families = verdicts.index.to_series().str.extract(_FAMILY).dropna()
    given = (verdicts.loc[families.index] != UNDECIDED).groupby([families[0], families[1]]).any()
    every = verdicts.loc[list(_OF_ALL)].isin([SAME, OPPOSITE])
    return float(given.mean()), bool(pd.Series(every).any())


def _text(row: Row) -> str:
    text = f"{100 * row.found:.1f} %"
    return text if row.met else f"**{text}**"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
