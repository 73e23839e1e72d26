"""The cheapest choice on each machine and over all of them."""

import pandas as pd

from framewatt.frames.headline import PER_RUN
from framewatt.statistics.machines import ALL
from framewatt.tables.columns import ESTIMATED, Show, table_of
from framewatt.tables.ratios import ratio_of
from framewatt.tables.table import MISSING, Table, significant, text


def machines(machines: pd.DataFrame) -> Table:
    """Return a row for each quantity, group and machine, and one over all machines; empty where runs are of one.

    Args:
        machines: the frame of `answer_by_machine`.
    """
    shown: dict[str, Show] = {
        "Quantity": lambda r: _quantity(r["quantity"]) + (ESTIMATED if r["estimated"] else ""),
        "Of": lambda r: text(r["group"]),
        "Machine": lambda r: f"{ALL} of them" if r["machine"] == ALL else text(r["machine"]),
        "Least": lambda r: text(r["best"]),
        "Next": lambda r: text(r["next"]),
        "Next / best": ratio_of,
        "Blocks": lambda r: text(r["blocks"]),
        "Machines differ, p": lambda r: significant(r["differ_p"], 2),
        "At most, times": lambda r: significant(r["differ_at_most"]),
        "Note": lambda r: text(r["note"]) if text(r["note"]) != MISSING else "",
    }
    return table_of("machines", "Which choice costs least, by machine and over all machines", machines, shown)


def _quantity(name: str) -> str:
    """Return a quantity in words."""
    kind = "energy" if name.startswith("energy") else "time"
    return f"{kind} of a run" if name in PER_RUN.quantities else f"{kind} for one"
