"""Energy by runtime and batch size, or by the study's compared factors, with each repetition shown."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from framewatt.figures.runtime_batch import Quantity, draw_repetitions
from framewatt.frames.headline import headline_of_runs
from framewatt.study.factors import COMPARED


def draw(runs: pd.DataFrame, cells: pd.DataFrame, compared: Sequence[str] = COMPARED) -> Figure:
    """The figure of energy.

    Args:
        runs: the runs frame (framewatt.frames.frames.runs_columns); totals are drawn.
        cells: statistics of cells, whose intervals become error bars.
        compared: the factors in which cells are compared.
    """
    quantity = Quantity("Energy", headline_of_runs(runs).energy, "J", "most frugal")
    figure: Figure = draw_repetitions(runs, cells, compared, quantity)
    return figure
