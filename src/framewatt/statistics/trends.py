"""How the energy of an epoch grows with batch size and with a model's operations: power laws fitted on logarithms."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm

from framewatt.frames.factor_columns import sorted_by
from framewatt.statistics.intervals import Values
from framewatt.statistics.log_ratios import log_ratio, number
from framewatt.statistics.training_epochs import LABEL, PANELS, counted_epochs, labelled

BATCH_SIZE, WORK = "batch_size", "flops_per_sample"

TRENDS_COLUMNS = [
    "along",
    "group",
    "label",
    "n_levels",
    "n",
    "exponent",
    "exponent_low",
    "exponent_high",
    "per_doubling",
    "per_doubling_low",
    "per_doubling_high",
    "r_squared",
    "estimated",
    "note",
]
"""One row per line: joules of an epoch grow as `along` to the power of `exponent`; `per_doubling` is 2 to that power,
the factor by which energy changes when `along` doubles. `n` is the number of runs; the line is fitted to their means,
one per level. Unknown numbers are missing."""

_FLOATS = [name for name in TRENDS_COLUMNS if name.startswith(("exponent", "per_doubling", "r_"))]

_HELD = {BATCH_SIZE: ["dataset", "workload"], WORK: ["dataset", "batch_size"]}
"""Factors that are constant along each line, besides those in LABEL."""


def fit_trends(epochs: pd.DataFrame, runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Fit energy of an epoch against batch size, and against operations of a sample.

    A run's value is the mean energy of its epochs without the first, which includes one-time work of the framework (a
    run of one epoch takes that one). A point of the line is the mean of a level's runs: deviations from the line belong
    to the level and are shared by all its runs, so more runs do not make the slope more certain. Ordinary least squares
    on base-2 logarithms (statsmodels), Student's interval of the slope with two degrees of freedom fewer than levels.
    With two levels, it is the interval of their ratio (Welch's t).
    Operations are those that a framework counts itself, or else those of the same model and data set in a framework
    that does; models of one name differ by a few per cent between model zoos (see the fairness sheet).

    Args:
        epochs: the epochs frame.
        runs: the runs frame, which says which runs count.
        settings: the study's `statistics`: compare, confidence.

    Returns:
        TRENDS_COLUMNS; no row where a study has a single level of the line's factor.
    """
    points = _points(labelled(counted_epochs(epochs, runs), settings["compare"]))
    rows = [row for along, held in _HELD.items() for row in _lines(points, along, held, float(settings["confidence"]))]
    return pd.DataFrame(rows, columns=TRENDS_COLUMNS).astype(dict.fromkeys(_FLOATS, "float64"))


def _points(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per run: its factors, joules of an epoch, operations of a sample."""
    last = rows.groupby(["cell", "repetition"])["epoch"].transform("max")
    later = rows[(rows["epoch"] > 1) | (last == 1)]
    keys = ["cell", "repetition", LABEL, *PANELS]
    points = later.groupby(keys, sort=False, as_index=False).agg(
        energy_j=("energy_gross_j", "mean"), estimated=("estimated", "any"), own=(WORK, "first")
    )
    counted = points.groupby(["dataset", "workload"])["own"].transform("first")
    return points.assign(**{WORK: points["own"].fillna(counted)})


def _lines(points: pd.DataFrame, along: str, held: Sequence[str], confidence: float) -> Iterator[dict[str, Any]]:
    """A line for every label and combination of the `held` factors; none where the study does not vary `along`."""
    varied = "workload" if along == WORK else along
    if points[varied].nunique() < 2:
        return
    for levels, part in sorted_by(points, [*held, LABEL]).groupby([*held, LABEL], sort=False):
        *group, label = levels
        words = [
            f"batch {level}" if name == "batch_size" else str(level) for name, level in zip(held, group, strict=True)
        ]
        head = {"along": along, "group": " ".join(filter(None, words)), "label": label}
        yield head | {"estimated": bool(part["estimated"].any())} | _line(part, along, confidence)


def _line(part: pd.DataFrame, along: str, confidence: float) -> dict[str, Any]:
    known = part.dropna(subset=[along, "energy_j"])
    known = known[(known[along] > 0) & (known["energy_j"] > 0)]
    found: dict[str, Any] = {"n_levels": int(known[along].nunique()), "n": len(known)}
    if part[along].isna().all():
        return found | {"note": "no framework of the study counts the operations of its models"}
    if found["n_levels"] < 2:
        return found | {"note": "fewer than two levels have runs that count"}
    x, y = (np.log2(known[name].to_numpy(dtype=np.float64)) for name in (along, "energy_j"))
    if found["n_levels"] == 2:
        return found | _two_levels(x, y, confidence)
    levels, of_run = np.unique(x, return_inverse=True)
    means = np.bincount(of_run, weights=y) / np.bincount(of_run)
    fit = sm.OLS(means, sm.add_constant(levels)).fit()
    low, high = map(float, fit.conf_int(alpha=1 - confidence)[1])
    return found | _told(float(fit.params[1]), low, high) | {"r_squared": float(fit.rsquared), "note": ""}


def _two_levels(x: Values, y: Values, confidence: float) -> dict[str, Any]:
    """The line through two levels, from the ratio of their runs."""
    few, many = y[x == x.min()], y[x == x.max()]
    ratio = log_ratio(many * np.log(2), few * np.log(2), paired=False)
    steps = float(np.ptp(x))
    low, high = (number(np.log2(end) / steps) for end in ratio.within((1 - confidence) / 2))
    note = "two levels: any two lie on a line, so that nothing says whether this is one"
    if low is None or high is None:
        note += "; no interval: one run a level, or runs that do not differ"
    return _told(float(ratio.mean) / np.log(2) / steps, low, high) | {"note": note}


def _told(exponent: float, low: float | None, high: float | None) -> dict[str, Any]:
    ends = {"": exponent, "_low": low, "_high": high}
    told = {f"exponent{end}": value for end, value in ends.items()}
    return told | {f"per_doubling{end}": None if value is None else 2**value for end, value in ends.items()}
