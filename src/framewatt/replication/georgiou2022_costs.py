"""Tables 2 to 4 of georgiou2022 from own runs, beside the printed ones."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from framewatt.figures.published.frameworks import NAMES
from framewatt.published.georgiou2022_claims import FRAMEWORKS, PHASES, QUANTITIES
from framewatt.published.georgiou2022_correlations import printed_rho
from framewatt.published.georgiou2022_tables import printed_means
from framewatt.replication.contract import Measured
from framewatt.replication.georgiou2022_findings import cheaper
from framewatt.replication.georgiou2022_runs import (
    ENERGY,
    PAPER,
    PROGRAM,
    WINDOW,
    Place,
    own_runs,
    places_of,
)
from framewatt.replication.georgiou2022_tests import tested, tests_of
from framewatt.statistics.trends import spearman
from framewatt.tables.columns import ESTIMATED, Show, table_of, text_of
from framewatt.tables.table import MISSING, Table, significant, with_ends

_WORDS = {**QUANTITIES, ENERGY: "energy, all that is metered"}
_UNIT_OF = {PROGRAM: "of a whole program", WINDOW: "of a unit of work, in the window alone"}


def table2(measured: Measured) -> Table:
    """Table 2: training."""
    return _costs(measured, "train", "table2", "Table 2")


def table3(measured: Measured) -> Table:
    """Table 3: inference."""
    return _costs(measured, "infer", "table3", "Table 3")


def table4(measured: Measured) -> Table:
    """Table 4: whether energy follows run time over the models, in training and, beyond the paper, in inference."""
    printed = printed_rho(measured.resources).set_index("quantity")
    tests = tests_of(measured, PROGRAM)
    rows = []
    for phase, words in PHASES.items():
        for quantity in [name for name in tests.index.unique("quantity") if name != "run_time"]:
            for framework in FRAMEWORKS:
                means = tests.xs(phase)[framework].unstack("quantity").dropna()
                rho, p = spearman(means[quantity], means["run_time"])
                paper = printed[f"{framework}_rho"].get(quantity, "") if phase == "train" else ""
                estimated = bool(tests.xs(phase).xs(quantity, level="quantity")["estimated"].eq(True).any())
                rows.append((words, quantity, framework, len(means), rho, p, paper, estimated))
    columns = ["phase", "quantity", "framework", "models", "rho", "p", "published", "estimated"]
    data = pd.DataFrame(rows, columns=columns).astype({"rho": "float64", "p": "float64"})
    shown: dict[str, Show] = {
        "Phase": text_of("phase"),
        "Quantity": lambda r: _WORDS[r["quantity"]],
        "Framework": lambda r: NAMES[r["framework"]],
        "Models": text_of("models"),
        "rho with run time": lambda r: significant(r["rho"], 2) + (ESTIMATED if r["estimated"] else ""),
        "p": lambda r: significant(r["p"], 2),
        "Published": text_of("published"),
    }
    caption = f"Table 4 of {PAPER} from these runs: Spearman's rho of energy and run time over the means of the models"
    if data["estimated"].any():
        caption += "; an estimate is made from processor time, so that it follows time whatever the models are"
    return table_of("table4", caption, data, shown)


def _costs(measured: Measured, phase: str, name: str, title: str) -> Table:
    """Table 2 or 3: whole programs, then the same runs by their windows."""
    places = places_of(measured)
    by_place = {(place.phase, place.model): place for place in places}
    printed = printed_means(measured.resources)
    parts = []
    for of in (PROGRAM, WINDOW):
        own = own_runs(measured, places, of)
        idle = own.groupby(["phase", "model", "framework"])["idle_share"].mean()
        for (at, model, quantity), row in tested(own).iterrows():
            place = by_place.get((at, model))
            if at == phase and place and (pd.notna(row["pytorch"]) or pd.notna(row["why"])):
                parts.append(
                    {
                        **_row(place, of, quantity, row),
                        **_printed(printed, at, model, quantity, of),
                        **_at_rest(idle, at, model),
                    }
                )
    data = pd.DataFrame(parts, columns=_COSTS_COLUMNS)
    shown: dict[str, Show] = {
        "Model": text_of("model"),
        "Of": lambda r: "program" if r["of"] == PROGRAM else "unit of work",
        "Quantity": lambda r: _WORDS[r["quantity"]],
        **{f"{NAMES[f]}, mean": _own(f) for f in FRAMEWORKS},
        **{f"{NAMES[f]}, median": _own(f"{f}_median") for f in FRAMEWORKS},
        **{f"{NAMES[f]}, at rest (%)": _percent(f"{f}_idle_share") for f in FRAMEWORKS},
        "Blocks": text_of("blocks"),
        "PyTorch over TensorFlow": lambda r: with_ends(r["ratio"], r["ratio_low"], r["ratio_high"]),
        "p": lambda r: significant(r["p"], 2),
        "A12": lambda r: significant(r["a12"], 2),
        "Takes less": lambda r: NAMES.get(r["takes_less"], "not told"),
        "To the smaller": lambda r: significant(r["to_smaller"], 3),
        "PyTorch over TensorFlow, published": lambda r: significant(r["published_ratio"], 3),
        "Cells": lambda r: r["levels"] + ("" if pd.isna(r["why"]) else f"; {r['why']}"),
    }
    caption = (
        f"{title} of {PAPER} from these runs ({PHASES[phase]}): joules and seconds, gross, {_UNIT_OF[PROGRAM]}, and "
        f"{_UNIT_OF[WINDOW]}. Ratio: geometric mean over blocks with its 95 % interval; p: Student's t on logarithms, "
        f"after Holm over the models; A12 of the framework that takes more; at rest: what the machine takes anyway"
    )
    return table_of(name, caption, data, shown)


_COSTS_COLUMNS = [
    *("model", "of", "quantity", "pytorch", "tensorflow", "pytorch_median", "tensorflow_median"),
    *("pytorch_idle_share", "tensorflow_idle_share", "blocks", "ratio", "ratio_low", "ratio_high", "p", "p_single"),
    *("a12", "takes_less", "to_smaller", "published_ratio", "estimated", "levels", "why"),
]


def _row(place: Place, of: str, quantity: str, row: pd.Series) -> dict[str, Any]:
    known = row["ratio"]
    return {
        **{name: row[name] for name in _COSTS_COLUMNS if name in row.index},
        "model": place.model,
        "of": of,
        "quantity": quantity,
        "blocks": 0 if pd.isna(row["blocks"]) else int(row["blocks"]),
        "estimated": row["estimated"] is True,
        "takes_less": cheaper(row),
        "to_smaller": None if pd.isna(known) else max(known, 1 / known),
        "levels": place.levels + (f" (and {place.others} more, not here)" if place.others else ""),
        "why": None if pd.isna(row["why"]) else row["why"],
    }


def _printed(printed: pd.DataFrame, phase: str, model: str, quantity: str, of: str) -> dict[str, float | None]:
    """The paper's ratio, of whole programs."""
    if of != PROGRAM or (phase, model, quantity) not in printed.index:
        return {"published_ratio": None}
    row = printed.loc[(phase, model, quantity)]
    return {"published_ratio": float(row["pytorch"] / row["tensorflow"])}


def _at_rest(idle: pd.Series, phase: str, model: str) -> dict[str, float | None]:
    return {f"{name}_idle_share": idle.get((phase, model, name)) for name in FRAMEWORKS}


def _own(name: str) -> Show:
    """An own number, marked where it was not measured."""

    def show(row: Mapping[str, Any]) -> str:
        text = significant(row[name])
        return text + ESTIMATED if row["estimated"] and text != MISSING else text

    return show


def _percent(name: str) -> Show:
    return lambda row: significant(None if pd.isna(row[name]) else 100 * row[name], 3)
