"""Statistics of a study: pure functions of the runs frame, the study's statistics settings and its seed."""

from framewatt.statistics.cells import cells_columns, summarise_cells
from framewatt.statistics.comparisons import COMPARISONS_COLUMNS, compare_cells
from framewatt.statistics.correlation import CORRELATIONS_COLUMNS, correlate
from framewatt.statistics.deploy import judge_choices
from framewatt.statistics.omnibus import OMNIBUS_COLUMNS, omnibus
from framewatt.statistics.power import Reachability, count_comparisons, reachable_significance
from framewatt.statistics.to_accuracy import to_accuracy
from framewatt.statistics.trends import TRENDS_COLUMNS, fit_trends

__all__ = [
    "COMPARISONS_COLUMNS",
    "CORRELATIONS_COLUMNS",
    "OMNIBUS_COLUMNS",
    "TRENDS_COLUMNS",
    "Reachability",
    "cells_columns",
    "compare_cells",
    "correlate",
    "count_comparisons",
    "fit_trends",
    "judge_choices",
    "omnibus",
    "reachable_significance",
    "summarise_cells",
    "to_accuracy",
]
