"""How the sentences of itu2023 follow from its runs, computed as its authors did.

Every function takes the epochs of the authors' table, averaged over runs, with `runs` in each, and the arguments of a
row of `itu2023_claims.csv`. A combination is a batch size, data set and model, of which PyTorch and TensorFlow are
compared.
"""

import itertools
from collections.abc import Callable

import pandas as pd

from framewatt.published.itu2023_epochs import FACTORS
from framewatt.published.printed import Answer
from framewatt.published.resources import NotGivenError

COMBINATION = ["dataset", "model", "batch_size"]

_ORDER = {"model": ["resnet50", "resnet101", "resnet152"]}
_SHOWN = 6


def epochs_of_runs(epochs: pd.DataFrame) -> Answer:
    """The number of epochs, the same for every combination and framework, or the smallest of them."""
    _require(epochs)
    found = epochs.groupby(FACTORS).size()
    return Answer(int(found.min()), f"{found.min()} to {found.max()}" if found.nunique() > 1 else "")


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
        quantity: a column, or `energy_per_batch`, in joules times images: joules a batch, but for a constant factor.
        used: `all`, `first`, `rest` or `last` epochs.
    """
    _require(epochs)
    sizes = epochs.groupby(FACTORS)["runs"].transform("size")
    epochs = epochs[sizes == sizes.max()]
    number = epochs.index.get_level_values("epoch_number").astype(int)
    kept = {"all": number > 0, "first": number == 1, "rest": number > 1, "last": number == number.max()}[used]
    column = "energy" if quantity == "energy_per_batch" else quantity
    grouped = epochs.loc[kept, column].groupby(FACTORS)
    found = grouped.sum() if column in ("energy", "total_time") else grouped.mean()
    found = found[grouped.count() == grouped.size()]
    if quantity == "energy_per_batch":
        found = found * found.index.get_level_values("batch_size").astype(int)
    return found


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


def _share(found: dict[str, bool]) -> Answer:
    if not found:
        raise NotGivenError("there is nothing to compare")
    exceptions = [name for name, holds in found.items() if not holds]
    note = f"{len(found) - len(exceptions)} of {len(found)}"
    if exceptions:
        shown = ", ".join(exceptions[:_SHOWN]) + (", …" if len(exceptions) > _SHOWN else "")
        note += f"; not so: {shown}"
    return Answer(100 * (len(found) - len(exceptions)) / len(found), note)


def _require(epochs: pd.DataFrame) -> None:
    if epochs.empty:
        raise NotGivenError("the raw results are not given")
