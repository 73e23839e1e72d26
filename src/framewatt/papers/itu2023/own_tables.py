"""Replication of itu2023: verdicts on the claims of its report, next to the numbers from its authors' files.

Claims are recounted by the functions that recount them from the authors' files, over PyTorch and TensorFlow, the two
frameworks of the report.
"""

from collections.abc import Iterator

import pandas as pd

from framewatt.frames.totals import TOTAL
from framewatt.papers.itu2023 import recount as claims
from framewatt.papers.itu2023.epochs import KEYS
from framewatt.papers.printed import Answer, Claim, NotGivenError, read_claims
from framewatt.papers.replication import OPPOSITE, PARTLY, SAME, UNDECIDED, Finding, Measured, claims_table
from framewatt.statistics.to_accuracy import PANELS, counted_epochs, gpu_or_total, labelled
from framewatt.tables.columns import Show, table_of, text_of
from framewatt.tables.table import Table, significant

PAPER = "itu2023"

_FRAMEWORKS = {"torch": "pytorch", "tensorflow": "tensorflow"}
_DATASETS = {"cifar100": "CIFAR100", "cifar10": "CIFAR10", "svhn": "SVHN"}
"""How the names of data sets begin, and what they stand for."""

_METHOD = "II Experimental Methodology"
_COMPARED = {"energy": "energy_per_sample_j", "total_time": "time_per_sample_s"}
_OF_ENERGY = ("energy", "power", "energy_per_batch")
_OF_POWER = (claims.first_epoch_lower.__name__,)
"""Functions of claims that are about power whatever their arguments."""


def claims_of_runs(measured: Measured) -> Table:
    """Verdicts on the claims of results, summary and concluding remarks."""
    return claims_table(PAPER, findings(measured))


def three_ways(measured: Measured) -> Table:
    """Every claim: the report's number, that of its authors' files, and that of these runs."""
    rows = [
        (own.where, own.claim, own.published, measured.recounted.get(own.id), own.here, own.verdict)
        for own in findings(measured)
    ]
    data = pd.DataFrame(rows, columns=["where", "claim", "published", "recounted", "here", "verdict"])
    data = data.astype({"recounted": "float64", "here": "float64"})
    shown: dict[str, Show] = {
        "Section": text_of("where"),
        "Claim": text_of("claim"),
        "Published (%)": text_of("published"),
        "From its authors' files (%)": lambda r: significant(r["recounted"], 3),
        "Here (%)": lambda r: significant(r["here"], 3),
        "Verdict": text_of("verdict"),
    }
    caption = f"Claims of {PAPER} in the report, in its authors' raw results, and here"
    if not measured.recounted:
        caption += f"; the raw results are not given (--config published_{PAPER}=<folder>)"
    return table_of("three_ways", caption, data, shown)


def findings(measured: Measured) -> Iterator[Finding]:
    """One finding per claim."""
    own = own_epochs(measured)
    for claim in read_claims(measured.resources / f"{PAPER}_claims.csv"):
        if claim.where != _METHOD:
            yield _finding(claim, own, measured.comparisons)


def own_epochs(measured: Measured) -> pd.DataFrame:
    """Own epochs as the functions of claims take them: index KEYS, means over the runs that count.

    Of cells that differ in options alone the plainest is taken. Energy and power are the GPU's, as in the report, where
    every run has one and the same GPU.

    Returns:
        Columns runs, energy, power, gpu_util, total_time, accuracy, estimated, cell, named (the data set), domain.
    """
    domain = gpu_or_total(measured.epochs)
    rows = labelled(counted_epochs(measured.epochs, measured.runs, domain), ["runtime"])
    rows = rows[rows["runtime"].isin(list(_FRAMEWORKS))]
    plainest = rows.groupby([*PANELS, "runtime"])["cell"].transform(lambda names: min(names, key=len))
    rows = rows[rows["cell"] == plainest]
    rows = rows.rename(columns={"epoch": "epoch_number", "workload": "model"}).assign(
        framework=rows["runtime"].map(_FRAMEWORKS), dataset=rows["dataset"].map(_stands_for), named=rows["dataset"]
    )
    grouped = rows.groupby(KEYS)
    own = grouped.agg(
        runs=("repetition", "nunique"),
        energy=("energy_gross_j", "mean"),
        power=("mean_power_w", "mean"),
        gpu_util=("gpu_utilization_percent", "mean"),
        total_time=("duration_s", "mean"),
        accuracy=("accuracy", "mean"),
        estimated=("estimated", "any"),
        cell=("cell", "first"),
        named=("named", "first"),
    )
    return own.assign(domain=domain)


def _stands_for(dataset: str) -> str:
    return next((name for begin, name in _DATASETS.items() if dataset.startswith(begin)), dataset)


def _whole(dataset: str) -> bool:
    """Whether a data set is all that the authors trained on."""
    return dataset.removesuffix(f"-{PAPER}") in _DATASETS


def _finding(claim: Claim, own: pd.DataFrame, comparisons: pd.DataFrame) -> Finding:
    quantity = claim.arguments.get("quantity", "")
    try:
        if own.empty:
            raise NotGivenError("no training by PyTorch or TensorFlow counts")
        if quantity == "gpu_util" and own["gpu_util"].isna().all():
            raise NotGivenError("no GPU was metered")
        if _is_about_power(claim) and own["estimated"].any():
            raise NotGivenError("power is estimated from how busy the processors were")
        answer = claims.FUNCTIONS[claim.how](own, **claim.arguments)
    except NotGivenError as missing:
        answer = Answer(None, f"not measured here: {missing}")
    value = answer.value
    here = float(value) if isinstance(value, int | float) and not pd.isna(value) else None
    return Finding(
        id=claim.id,
        where=claim.where,
        claim=claim.claim,
        published=claim.value,
        unit=claim.unit,
        here=here,
        out_of=None,
        verdict=_verdict(claim, here),
        p=_p(claim, own, comparisons) if here is not None else None,
        why="; ".join(filter(None, [answer.note, *(_notes(quantity, own) if here is not None else [])])),
    )


def _is_about_power(claim: Claim) -> bool:
    return claim.how in _OF_POWER or claim.arguments.get("quantity") == "power"


def _verdict(claim: Claim, here: float | None) -> str:
    """The verdict of "all are so", or of "most are so", from the share that is."""
    if here is None:
        return UNDECIDED
    if claim.value.startswith(">"):
        return SAME if here > 50 else OPPOSITE if here < 50 else PARTLY
    return SAME if here == 100 else OPPOSITE if here == 0 else PARTLY


def _p(claim: Claim, own: pd.DataFrame, comparisons: pd.DataFrame) -> float | None:
    """The largest corrected p of the pairs of frameworks that a claim compares; other claims rest on no comparison."""
    quantity = _COMPARED.get(claim.arguments.get("quantity", ""))
    if quantity is None or claim.how not in (claims.tensorflow_more.__name__, claims.pytorch_more.__name__):
        return None
    cells = own["cell"].groupby([*claims.COMBINATION, "framework"]).first().unstack("framework").dropna()
    pairs = [set(pair) for pair in cells.itertuples(index=False, name=None)]
    own_pairs = comparisons[comparisons["quantity"] == quantity]
    corrected = [
        p for a, b, p in own_pairs[["cell_a", "cell_b", "p_corrected"]].itertuples(index=False) if {a, b} in pairs
    ]
    return max(corrected) if pairs and len(corrected) == len(pairs) else None


def _notes(quantity: str, own: pd.DataFrame) -> list[str]:
    """What a reader should know of a number that a claim has here."""
    shown = own.reset_index()[["dataset", "named"]].drop_duplicates()
    notes = [
        f"{row.named} stands for {row.dataset}" if row.named != row.dataset else f"{row.named} is not in the report"
        for row in shown.itertuples()
        if not _whole(row.named)
    ]
    if quantity in _OF_ENERGY:
        if own["domain"].eq(TOTAL).any():
            notes.append("energy is that of all domains, the report's of the GPU")
        if own["estimated"].any():
            notes.append("energy is estimated from processor time, so that it follows time")
    return notes


TABLES = {"claims": claims_of_runs, "three_ways": three_ways}
