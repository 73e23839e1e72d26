"""How the sentences of itu2023 follow from its runs, computed as its authors did.

Every function takes the epochs of the authors' table, averaged over runs, with `runs` in each, and the arguments of a
row of `itu2023_claims.csv`. A combination is a batch size, data set and model. PyTorch and TensorFlow are
compared in it.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pandas as pd

from framewatt.base.errors import FramewattError
from framewatt.papers.itu2023.epochs import DIGITS, FACTORS, GAUGES, KEYS, METRICS, UNITS, as_published
from framewatt.papers.printed import Answer, NotGivenError, Recount, read_claims, read_table, recount_claims
from framewatt.papers.verdicts import verdicts

COMBINATION = ["dataset", "model", "batch_size"]

_ORDER = {"model": ["resnet50", "resnet101", "resnet152"]}
_SHOWN = 6


def epochs_of_runs(epochs: pd.DataFrame) -> Answer:
    """The number of epochs, the same for every combination and framework, or the smallest of them."""
    _require(epochs)
    sizes = epochs.groupby(FACTORS).size()
    return Answer(int(sizes.min()), f"{sizes.min()} to {sizes.max()}" if sizes.nunique() > 1 else "")


def runs_of_combinations(epochs: pd.DataFrame) -> Answer:
    """The number of runs behind every mean, or the smallest of them."""
    _require(epochs)
    return Answer(int(epochs["runs"].min()), f"{epochs.groupby(FACTORS).ngroups} combinations of levels")


def less_with(epochs: pd.DataFrame, quantity: str, factor: str, pairs: str = "neighbours") -> Answer:
    """Share of pairs of levels of a factor, all else equal, of which the larger level has the smaller number."""
    return _along(epochs, quantity, factor, pairs, lambda small, large: large < small)


def more_with(epochs: pd.DataFrame, quantity: str, factor: str, pairs: str = "neighbours") -> Answer:
    """Share of pairs of levels of a factor, all else equal, of which the larger level has the larger number."""
    return _along(epochs, quantity, factor, pairs, lambda small, large: large > small)


def tensorflow_more(epochs: pd.DataFrame, quantity: str, epochs_used: str = "all") -> Answer:
    """Share of combinations in which TensorFlow has at least PyTorch's number."""
    both = _frameworks(epochs, quantity, epochs_used)
    return _share({name: row["tensorflow"] >= row["pytorch"] for name, row in both.items()})


def pytorch_more(epochs: pd.DataFrame, quantity: str, epochs_used: str = "all") -> Answer:
    """Share of combinations in which PyTorch has the larger number."""
    both = _frameworks(epochs, quantity, epochs_used)
    return _share({name: row["pytorch"] > row["tensorflow"] for name, row in both.items()})


def first_epoch_lower(epochs: pd.DataFrame) -> Answer:
    """Share of combinations and frameworks in which mean power is lower in epoch 1 than in the mean of the rest."""
    parts = {used: totals(epochs, "power", used) for used in ("first", "rest")}
    both = pd.DataFrame(parts).dropna()
    return _share({" ".join(map(str, key)): row["first"] < row["rest"] for key, row in both.iterrows()})


def cifar100_lower(epochs: pd.DataFrame) -> Answer:
    """Share of models, batch sizes and frameworks in which the last epoch's accuracy is lower for CIFAR100."""
    datasets = ["CIFAR10", "CIFAR100"]
    final = totals(epochs, "accuracy", "last").unstack("dataset").reindex(columns=datasets).dropna()
    if final.empty:
        raise NotGivenError("CIFAR10 and CIFAR100 are not both there")
    return _share({" ".join(map(str, key)): row["CIFAR100"] < row["CIFAR10"] for key, row in final.iterrows()})


def totals(epochs: pd.DataFrame, quantity: str, used: str = "all") -> pd.Series:
    """One number a combination and framework: joules and seconds are sums over the epochs, all else plain means.

    What lacks an epoch that others have, or its number in one, is left out: a sum of fewer is no smaller sum.

    Args:
        epochs: as above.
        quantity: a column, or `energy_per_batch`, in joules times images: joules a batch times a constant factor.
        used: `all`, `first`, `rest` or `last` epochs.
    """
    _require(epochs)
    sizes = epochs.groupby(FACTORS)["runs"].transform("size")
    epochs = epochs[sizes == sizes.max()]
    number = epochs.index.get_level_values("epoch_number").astype(int)
    chosen = {"all": number > 0, "first": number == 1, "rest": number > 1, "last": number == number.max()}[used]
    column = "energy" if quantity == "energy_per_batch" else quantity
    grouped = epochs.loc[chosen, column].groupby(FACTORS)
    numbers = grouped.sum() if column in ("energy", "total_time") else grouped.mean()
    numbers = numbers[grouped.count() == grouped.size()]
    if quantity == "energy_per_batch":
        numbers = numbers * numbers.index.get_level_values("batch_size").astype(int)
    return numbers


FUNCTIONS: dict[str, Callable[..., Answer]] = {
    function.__name__: function
    for function in (
        epochs_of_runs,
        runs_of_combinations,
        less_with,
        more_with,
        tensorflow_more,
        pytorch_more,
        first_epoch_lower,
        cifar100_lower,
    )
}


def _along(
    epochs: pd.DataFrame, quantity: str, factor: str, pairs: str, holds: Callable[[float, float], bool]
) -> Answer:
    by_level = totals(epochs, quantity).unstack(factor)
    levels = [level for level in _ORDER.get(factor, sorted(by_level.columns)) if level in by_level.columns]
    chosen = list(itertools.pairwise(levels[:: len(levels) - 1] if pairs == "extremes" and len(levels) > 1 else levels))
    return _share(
        {
            f"{' '.join(map(str, key))} {a} to {b}": holds(row[a], row[b])
            for key, row in by_level.iterrows()
            for a, b in chosen
            if pd.notna(row[a]) and pd.notna(row[b])
        }
    )


def _frameworks(epochs: pd.DataFrame, quantity: str, used: str) -> dict[str, pd.Series]:
    names = ["pytorch", "tensorflow"]
    by_framework = totals(epochs, quantity, used).unstack("framework").reindex(columns=names).dropna()
    ordered = by_framework.reorder_levels(COMBINATION).sort_index()
    return {" ".join(map(str, key)): row for key, row in ordered.iterrows()}


def _share(as_claimed: dict[str, bool]) -> Answer:
    if not as_claimed:
        raise NotGivenError("there is nothing to compare")
    exceptions = [name for name, holds in as_claimed.items() if not holds]
    note = f"{len(as_claimed) - len(exceptions)} of {len(as_claimed)}"
    if exceptions:
        shown = ", ".join(exceptions[:_SHOWN]) + (", …" if len(exceptions) > _SHOWN else "")
        note += f"; not so: {shown}"
    return Answer(100 * (len(as_claimed) - len(exceptions)) / len(as_claimed), note)


def _require(epochs: pd.DataFrame) -> None:
    if epochs.empty:
        raise NotGivenError("the raw results are not given")


AUTHORS_TABLES = "all_data_processed*.csv"
PLACES = (".", "dataout")
"""Folders, below the one that holds `experiments`, in which the table may lie; their repository has it in `dataout`."""


def authors_tables(folder: Path) -> list[Path]:
    """The authors' tables, each content once.

    Args:
        folder: that holds `experiments`.

    Raises:
        FramewattError: there is none; the line names every place that was searched.
    """
    places = [folder / place / AUTHORS_TABLES for place in PLACES]
    by_content: dict[str, Path] = {}
    for place in places:
        for path in sorted(place.parent.glob(place.name)):
            by_content.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    if not by_content:
        looked = " and ".join(str(place) for place in places)
        raise FramewattError(f"published_itu2023: the authors' table is not at {looked}. Name the folder that has it.")
    return list(by_content.values())


def labels(tables: list[Path]) -> dict[Path, str]:
    """What verdicts call each table: its name, and its folder too where two have one name."""
    names = [path.name for path in tables]
    return {path: path.name if names.count(path.name) == 1 else f"{path.parent.name}/{path.name}" for path in tables}


STUDY = "itu2023"

RUNS = 2
"""Runs of every combination of levels in the report."""

_HOW = dict.fromkeys(GAUGES, "mean over the runs of the mean reading of the epoch")
_HOW |= {"total_time": "mean over the runs of the time between the ends of epochs; epoch 1 from the first reading"}
_HOW |= dict.fromkeys(METRICS, "mean over the runs, each run's value rounded to three digits before")
_HOW |= {"accuracy": "mean over the runs", "energy": "rounded mean power x rounded mean time"}


def recount(resources: Path, epochs: pd.DataFrame, tables: Iterable[Path]) -> pd.DataFrame:
    """The verdicts of itu2023.

    Args:
        resources: folder of the claims.
        epochs: of all runs, see framewatt.papers.itu2023.epochs.all_epochs.
        tables: the authors' tables.

    Returns:
        framewatt.papers.verdicts.VERDICTS_COLUMNS.
    """
    recomputed = as_published(epochs)
    claims = read_claims(resources / f"{STUDY}_claims.csv")
    recounts = [
        recount for path, label in labels(list(tables)).items() for recount in recount_table(path, label, recomputed)
    ]
    recounts += recount_claims(claims, FUNCTIONS, recomputed)
    return verdicts(STUDY, recounts)


def recount_table(path: Path, label: str, recomputed: pd.DataFrame) -> Iterator[Recount]:
    """Every number of one of the authors' tables; the repository holds it with more and with fewer columns.

    Args:
        path: of the table.
        label: what verdicts call it.
        recomputed: see framewatt.papers.itu2023.epochs.as_published.

    Raises:
        FramewattError: the table does not name its epochs, or holds none of the numbers.
    """
    table = read_table(path)
    columns = [column for column in UNITS if column in table]
    if missing := [key for key in KEYS if key not in table] or ([] if columns else list(UNITS)):
        raise FramewattError(
            f"{path}: the columns {', '.join(table)} are not those of the authors' table of epochs: "
            f"{', '.join(missing)} are missing. Use the table of their repository."
        )
    rows = recomputed.to_dict("records")
    by_key = {tuple(map(str, key)): row for key, row in zip(recomputed.index, rows, strict=True)}
    alike = table.groupby(KEYS)[columns[0]].transform("size")
    for printed, count in zip(table.to_dict("records"), alike, strict=True):
        row = by_key.get(tuple(printed[key] for key in KEYS))
        where = "{dataset} {model} batch {batch_size} {framework} epoch {epoch_number}".format(**printed)
        for column in columns:
            answer = _answer(row, column) if count == 1 else Answer(None, _NO_MEANS)
            yield Recount(label, where, column, printed[column], UNITS[column], answer, _HOW[column], DIGITS)


_NO_MEANS = "the table has several rows of an epoch, so that they are no means over the runs"


def _answer(row: dict[str, float] | None, column: str) -> Answer:
    if row is None:
        return Answer(None, "the raw results of these levels are not given")
    runs = int(row["runs"])
    if pd.isna(row[column]):
        return Answer(None, "the raw results do not hold it")
    note = "" if runs == RUNS else f"{runs} of {RUNS} runs"
    return Answer(float(row[column]), note, row.get(f"{column}_low"), row.get(f"{column}_high"))
