"""Verdicts on alizadeh2024's claims: own runs go through the functions that recount the claims from its tables."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from framewatt.published import alizadeh2024_claims as claims
from framewatt.published.alizadeh2024_claims import EXECUTION_PROVIDERS, INFERENCE, Tables
from framewatt.published.printed import read_printed
from framewatt.published.resources import Claim, NotGivenError, read_claims
from framewatt.replication.alizadeh2024_runs import HEADINGS, exports_by_provider, own_cells
from framewatt.replication.contract import OPPOSITE, PARTLY, SAME, UNDECIDED, Finding, Measured

_SECTIONS = ("Abstract", "4 Results", "5 Concluding remarks")
_LARGE_BATCH = "64"
_ALPHA = 0.05


def findings(measured: Measured) -> Iterator[Finding]:
    """One finding per claim of the sections in _SECTIONS."""
    own = own_cells(measured.runs)
    tables, stands_in = _tables_of(own)
    for claim in read_claims(measured.resources / "alizadeh2024_claims.csv"):
        # The p of a correlation stands beside its rho.
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
        return _of_count(value, out_of, most=claim.value.startswith(">")), ""
    if claim.how == claims.cpu_to_gpu.__name__:
        # The paper's CPU took less than its GPU.
        return (SAME if value < 100 else OPPOSITE), ""
    if p is None or p > _ALPHA:
        return UNDECIDED, "the correlation could be chance"
    printed = read_printed(claim.value)
    assert printed is not None
    return (SAME if value * printed.value > 0 else OPPOSITE), ""


def _of_count(count: float, out_of: int, *, most: bool) -> str:
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
    found = [p for a, b, p in own[["cell_a", "cell_b", "p_corrected"]].itertuples(index=False) if {a, b} in pairs]
    return max(found) if pairs and len(found) == len(pairs) else None


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

    Cells and quantities of which nothing is known are not in them, so that a claim about them says what was not
    measured.
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
    told = " ".join(claim.arguments.values())
    notes = [
        f"batch size {size} stands for 64 in {model}"
        for model, size in stands_in.items()
        if f"{model}/{_LARGE_BATCH}/" in told or "/" not in told
    ]
    if own["estimated"].any() and ("energy" in told or claim.how == claims.cpu_to_gpu.__name__):
        notes.append("energy is estimated from processor time, so that it follows time")
    return notes
