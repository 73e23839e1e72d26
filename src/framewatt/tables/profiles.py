"""The tables of a study's own profiled runs, as its report shows them."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from framewatt.tables.functions import functions, functions_unnamed
from framewatt.tables.profiler_cost import profiler_cost
from framewatt.tables.table import Table


def profile_tables(
    frame: pd.DataFrame | None, of: Iterable[tuple[str, str]], records: Iterable[Mapping[str, Any]]
) -> list[Table]:
    """Functions by engine and phase, those without a name, and what the profiler costs; none where nothing is profiled.

    Args:
        frame: the functions frame; None where no cell is profiled.
        of: engine and phase of each table.
        records: of the profiled runs.
    """
    if frame is None:
        return []
    return [
        *(functions(frame, framework, phase) for framework, phase in of),
        functions_unnamed(frame),
        profiler_cost(records),
    ]
