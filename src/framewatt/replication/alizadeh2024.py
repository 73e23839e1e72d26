"""Replication of alizadeh2024: its Tables 1 to 3 beside own ones, and the verdicts on its claims.

The paper subtracted idle power from CPU and GPU; so do these tables.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from framewatt.published import alizadeh2024_claims as claims
from framewatt.published.alizadeh2024 import read_tables
from framewatt.published.alizadeh2024_claims import EXECUTION_PROVIDERS, INFERENCE
from framewatt.replication.alizadeh2024_findings import findings
from framewatt.replication.alizadeh2024_runs import ENERGIES, HEADINGS, QUANTITIES, exports_by_provider, own_cells
from framewatt.replication.contract import Measured, claims_table
from framewatt.tables.columns import ESTIMATED, Show, number, table_of, text_of
from framewatt.tables.table import MISSING, Table, significant

PAPER = "alizadeh2024"


_OF = (
    "net energy and time of as many samples as the paper ran (10,000 images, 25,000 reviews), scaled from those "
    "measured here; over the paper: the own number divided by the printed one"
)


def table1(measured: Measured) -> Table:
    """Table 1: utilisation, power, energy and time of every model, batch size and runtime."""
    own = own_cells(measured.runs)
    own = own[own["default_provider"]]
    printed = read_tables(measured.resources).inference.rename_axis(INFERENCE).reset_index()
    data = _beside(own.astype({"batch_size": str}), printed, INFERENCE)
    keys = {"Model": text_of("model"), "Batch size": text_of("batch_size"), "Runtime": text_of("runtime")}
    return _table("table1", f"Table 1 of {PAPER} from these runs: {_OF}", data, keys)


def table2(measured: Measured) -> Table:
    """Table 2: accuracy of every model and framework, of the original and of its export."""
    own = own_cells(measured.runs)
    rows = []
    printed = read_tables(measured.resources).accuracy
    for framework, published in printed.iterrows():
        name = {"tensorflow": "tf"}.get(str(framework), str(framework))
        for column, value in published.items():
            model = _MODEL_OF_COLUMN[str(column)]
            of_model = own[own["model"] == model]
            original, export = (
                of_model.loc[of_model["runtime"] == runtime, "accuracy_percent"].mean()
                for runtime in (name, claims.EXPORTS[name])
            )
            difference = original - value
            rows.append((model, framework, original, export, value, difference))
    columns = ["model", "framework", "accuracy_percent", "exported_percent", "published_percent", "difference_points"]
    data = pd.DataFrame(rows, columns=columns)
    shown: dict[str, Show] = {
        "Model": text_of("model"),
        "Framework": text_of("framework"),
        "Accuracy (%)": number("accuracy_percent"),
        "Of its export (%)": number("exported_percent"),
        "Published (%)": number("published_percent"),
        "Difference (percentage points)": number("difference_points"),
    }
    caption = f"Table 2 of {PAPER} from these runs"
    if data["accuracy_percent"].isna().all():
        caption += ": no accuracy is known here, since weights are random or nothing was measured"
    return table_of("table2", caption, data, shown)


def table3(measured: Measured) -> Table:
    """Table 3: ResNet-50's exports by execution provider, at batch size 1."""
    own = exports_by_provider(own_cells(measured.runs))
    printed = read_tables(measured.resources).providers.rename_axis(EXECUTION_PROVIDERS).reset_index()
    data = _beside(own, printed, EXECUTION_PROVIDERS)
    keys = {"Exported from": text_of("exported_from"), "Provider": text_of("execution_provider")}
    return _table("table3", f"Table 3 of {PAPER} from these runs, ResNet-50 at batch size 1: {_OF}", data, keys)


def claims_of_runs(measured: Measured) -> Table:
    """Verdicts on the claims of the abstract and the concluding remarks, and on the correlations."""
    return claims_table(PAPER, findings(measured))


def _beside(own: pd.DataFrame, printed: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Own rows with the printed numbers of the same place, and the ratios of own to printed."""
    columns = [*keys, "cell", "n", *QUANTITIES, "estimated", "why_empty"]
    published = printed.rename(columns={name: f"{name}_published" for name in QUANTITIES})
    data = own[columns].merge(published, on=keys, how="left")
    for name in QUANTITIES:
        data[f"{name}_ratio"] = data[name] / data[f"{name}_published"]
    return data


def _table(name: str, caption: str, data: pd.DataFrame, keys: Mapping[str, Show]) -> Table:
    shown: dict[str, Show] = {**keys, "Runs": text_of("n")}
    shown |= {heading: _own(column) for column, heading in HEADINGS.items()}
    for column in ("gpu_energy_j", "cpu_energy_j", "total_energy_j", "inference_time_s"):
        shown[f"{HEADINGS[column].rpartition(' ')[0]} over the paper"] = number(f"{column}_ratio")
    shown["Why empty"] = lambda row: row["why_empty"]
    return table_of(name, caption, data, shown)


def _own(column: str) -> Show:
    """An own number, marked where it was not measured."""

    def show(row: Mapping[str, Any]) -> str:
        text = significant(row[column])
        return text + ESTIMATED if column in ENERGIES and row["estimated"] and text != MISSING else text

    return show


_MODEL_OF_COLUMN = {"mobilenetv2_imagenet": "MobileNet", "resnet50_imagenet": "ResNet", "bert_imdb": "BERT"}

TABLES = {"claims": claims_of_runs, "table1": table1, "table2": table2, "table3": table3}
