"""Verdicts on alizadeh2024's claims: own runs go through the functions that recount the claims from its tables."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from framewatt.papers.alizadeh2024 import recount as claims
from framewatt.papers.alizadeh2024.own_runs import ENERGIES, HEADINGS, QUANTITIES, exports_by_provider, own_cells
from framewatt.papers.alizadeh2024.recount import EXECUTION_PROVIDERS, INFERENCE, Tables, read_tables
from framewatt.papers.printed import Claim, NotGivenError, read_claims, read_printed
from framewatt.papers.replication import OPPOSITE, PARTLY, SAME, UNDECIDED, Finding, Measured, claims_table
from framewatt.tables.columns import ESTIMATED, Show, number, table_of, text_of
from framewatt.tables.table import MISSING, Table, significant

_SECTIONS = ("Abstract", "4 Results", "5 Concluding remarks")
_LARGE_BATCH = "64"
_ALPHA = 0.05


def findings(measured: Measured) -> Iterator[Finding]:
    """One finding per claim of the sections in _SECTIONS."""
    own = own_cells(measured.runs)
    tables, stands_in = _tables_of(own)
    for claim in read_claims(measured.resources / "alizadeh2024_claims.csv"):
        # The p of a correlation is part of the row of its rho.
        if claim.where in _SECTIONS and claim.how != claims.spearman_p.__name__:
            yield _finding(claim, tables, measured.comparisons, _notes(claim, own, stands_in))


def _finding(claim: Claim, tables: Tables, comparisons: pd.DataFrame, notes: list[str]) -> Finding:
    """What the own tables say of a claim; what they lack makes it undecidable."""
    own = {"id": claim.id, "where": claim.where, "claim": claim.claim, "published": claim.value, "unit": claim.unit}
    try:
        answer = claims.FUNCTIONS[claim.how](tables, **claim.arguments)
    except KeyError as missing:
        return Finding(**own, here=None, out_of=None, verdict=UNDECIDED, p=None, why=_not_measured(missing.args[0]))
    except NotGivenError as unknown:
        return Finding(**own, here=None, out_of=None, verdict=UNDECIDED, p=None, why=str(unknown))
    value = None if answer.value is None else float(answer.value)
    if value is None or math.isnan(value) or answer.out_of == 0:
        return Finding(
            **own, here=None, out_of=None, verdict=UNDECIDED, p=None, why=answer.note or "too little to compare"
        )
    p = _p(claim, tables, comparisons)
    verdict, against = _verdict(claim, value, answer.out_of, p)
    why = "; ".join(filter(None, [answer.note, against, *notes]))
    return Finding(**own, here=value, out_of=answer.out_of, verdict=verdict, p=p, why=why)


def _not_measured(key: object) -> str:
    """What own tables lack, from the key that was looked up: a cell, a quantity, a provider."""
    name = "/".join(map(str, key)) if isinstance(key, tuple) else str(key)
    return f"not measured here: {HEADINGS[name].rpartition(' (')[0] if name in HEADINGS else name}"


def _verdict(claim: Claim, value: float, out_of: int | None, p: float | None) -> tuple[str, str]:
    """The verdict of a claim that has a number here, and what speaks against it."""
    if out_of is not None:
        return _verdict_on_count(value, out_of, most=claim.value.startswith(">")), ""
    if claim.how == claims.cpu_to_gpu.__name__:
        # The paper's CPU took less than its GPU.
        return (SAME if value < 100 else OPPOSITE), ""
    if p is None or p > _ALPHA:
        return UNDECIDED, "the correlation could be chance"
    printed = read_printed(claim.value)
    assert printed is not None
    return (SAME if value * printed.value > 0 else OPPOSITE), ""


def _verdict_on_count(count: float, out_of: int, *, most: bool) -> str:
    """The verdict of "all are so", or of "most are so"."""
    if most:
        return SAME if count > out_of / 2 else OPPOSITE if count < out_of / 2 else PARTLY
    return SAME if count == out_of else OPPOSITE if count == 0 else PARTLY


def _p(claim: Claim, tables: Tables, comparisons: pd.DataFrame) -> float | None:
    """The largest corrected p of what a claim compares, or the p of its correlation."""
    if claim.how == claims.spearman_rho.__name__:
        answer = claims.spearman_p(tables, **claim.arguments)
        return None if answer.value is None else float(answer.value)
    quantity = {"total_energy_j": "energy_per_sample_j", "inference_time_s": "time_per_sample_s"}.get(
        claim.arguments.get("quantity", "")
    )
    pairs = [{str(a), str(b)} for a, b in _compared(claim, tables)]
    own = comparisons[comparisons["quantity"] == quantity]
    corrected = [p for a, b, p in own[["cell_a", "cell_b", "p_corrected"]].itertuples(index=False) if {a, b} in pairs]
    return max(corrected) if pairs and len(corrected) == len(pairs) else None


def _compared(claim: Claim, tables: Tables) -> list[tuple[Any, Any]]:
    """Names of the cells that a claim compares."""
    if claim.how == claims.tensorrt_lower.__name__:
        by_provider = tables.providers["cell"].droplevel("model").unstack("execution_provider")
        return list(by_provider[["TensorRT", "CUDA"]].itertuples(index=False, name=None))
    named = tables.inference["cell"]
    if claim.how == claims.lower.__name__:
        pairs = list(zip(claim.arguments["of"].split(), claim.arguments["than"].split(), strict=True))
    elif claim.how in (claims.converted_lower.__name__, claims.converted_higher.__name__):
        pairs = list(claims.conversions(tables, claim.arguments.get("batch_size", "")).items())
    else:
        return []
    return [(named[tuple(a.split("/"))], named[tuple(b.split("/"))]) for a, b in pairs]


def _tables_of(own: pd.DataFrame) -> tuple[Tables, dict[str, int]]:
    """Own numbers as the tables that claims are recounted from, and the batch sizes that stand for 64, by model.

    Unknown cells and quantities are left out, so that the verdict on a claim about them names what was not measured.
    """
    largest = own.groupby("model")["batch_size"].max()
    stands_in = {str(model): int(size) for model, size in largest.items() if size > 1 and str(size) != _LARGE_BATCH}
    batch = own["batch_size"].astype(str).where(own["batch_size"] != own["model"].map(stands_in), _LARGE_BATCH)
    known = own.assign(batch_size=batch)[own["n"] > 0]
    # Where there is no cell at all, nothing is known of any column; those that name cells stay.
    inference = known[known["default_provider"]].set_index(INFERENCE).dropna(axis=1, how="all")
    exports = exports_by_provider(own[own["n"] > 0]).set_index(EXECUTION_PROVIDERS).dropna(axis=1, how="all")
    return Tables(inference, pd.DataFrame(), exports), stands_in


def _notes(claim: Claim, own: pd.DataFrame, stands_in: Mapping[str, int]) -> list[str]:
    """What a reader should know of a number that a claim has here."""
    named = " ".join(claim.arguments.values())
    notes = [
        f"batch size {size} stands for 64 in {model}"
        for model, size in stands_in.items()
        if f"{model}/{_LARGE_BATCH}/" in named or "/" not in named
    ]
    if own["estimated"].any() and ("energy" in named or claim.how == claims.cpu_to_gpu.__name__):
        notes.append("energy is estimated from processor time, so that it follows time")
    return notes


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
    data = _compared_with_printed(own.astype({"batch_size": str}), printed, INFERENCE)
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
    data = _compared_with_printed(own, printed, EXECUTION_PROVIDERS)
    keys = {"Exported from": text_of("exported_from"), "Provider": text_of("execution_provider")}
    return _table("table3", f"Table 3 of {PAPER} from these runs, ResNet-50 at batch size 1: {_OF}", data, keys)


def claims_of_runs(measured: Measured) -> Table:
    """Verdicts on the claims of the abstract and the concluding remarks, and on the correlations."""
    return claims_table(PAPER, findings(measured))


def _compared_with_printed(own: pd.DataFrame, printed: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
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
