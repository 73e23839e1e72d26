"""How the numbers in the sentences of georgiou2022 follow from the means of its runs, printed or recomputed.

Every function takes the means and the arguments of a row of `georgiou2022_claims.csv`. A case is a model and quantity
of a phase: 24 a phase.
"""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from framewatt.papers.printed import Answer, NotGivenError, read_table

FRAMEWORKS = ("pytorch", "tensorflow")
ENERGIES = {"pkg_energy": "PKG energy", "ram_energy": "RAM energy", "gpu_energy": "GPU energy"}
QUANTITIES = {**ENERGIES, "run_time": "run time"}
PHASES = {"train": "training", "infer": "inference"}

MEANS_COLUMNS = ["pytorch", "tensorflow", "p", "a12"]
"""Columns of the means: mean of either framework in joules or seconds, p of their difference (where a bound is printed,
the bound), and A12 of the framework that costs more. The index is phase, model, quantity."""

_RUNS = 10


def significant(means: pd.DataFrame, phases: str, give: str, least_a12: str = "0", alpha: str = "0.05") -> Answer:
    """Cases with p at most alpha and an effect size of at least that given."""
    try:
        cases = _cases(means, phases)
    except NotGivenError as missing:
        given = [phase for phase in phases.split() if means.loc[phase].notna().all(axis=None)]
        if not given:
            raise
        alone = significant(means, " ".join(given), give, least_a12, alpha)
        raise NotGivenError(f"{missing}; {PHASES[given[0]]} alone: {alone.note}") from missing
    return _counted((cases["p"] <= float(alpha)) & (cases["a12"] >= float(least_a12)), len(cases), give)


def cheaper(
    means: pd.DataFrame,
    framework: str,
    phases: str,
    give: str,
    models: str = "",
    least_a12: str = "0",
    alpha: str = "0.05",
    of: str = "all",
) -> Answer:
    """Cases in which a framework has the lower mean, with p at most alpha and an effect size of at least that given."""
    cases = _cases(means, phases, models)
    is_significant = cases["p"] <= float(alpha)
    other = FRAMEWORKS[1 - FRAMEWORKS.index(framework)]
    lower = (cases[framework] < cases[other]) & is_significant & (cases["a12"] >= float(least_a12))
    return _counted(lower, int(is_significant.sum()) if of == "significant" else len(cases), give)


def ratio(means: pd.DataFrame, quantity: str, phase: str, cheaper: str, model: str) -> Answer:
    """The dearer framework's mean over the cheaper's (equation 1); energy is PKG + RAM + GPU."""
    of_model = _cases(means, phase, model).droplevel(["phase", "model"])
    metered = [name for name in ENERGIES if name in of_model.index]
    each = {name: _ratio(of_model.loc[name], cheaper) for name in metered}
    if quantity != "energy":
        return Answer(_ratio(of_model.loc[quantity], cheaper))
    shown = ", ".join(f"{name[:3].upper()} {value:.2f}" for name, value in each.items())
    note = f"{shown}; mean of these three {sum(each.values()) / len(each):.2f}" if len(each) > 1 else ""
    return Answer(_ratio(of_model.loc[metered].sum(), cheaper), note)


def mean_ratio(means: pd.DataFrame, quantity: str, phase: str, cheaper: str, models: str) -> Answer:
    """The mean over some models of the dearer framework's mean over the cheaper's; energy is PKG + RAM + GPU."""
    each = {model: ratio(means, quantity, phase, cheaper, model).value for model in models.split()}
    values = pd.Series(each, dtype="float64")
    return Answer(float(values.mean()), ", ".join(f"{model} {value:.2f}" for model, value in values.items()))


def hours(means: pd.DataFrame, idle_s: str) -> Answer:
    """Ten times the sum of all mean run times and of the idle time after each run."""
    times = _cases(means, "train infer").xs("run_time", level="quantity")[list(FRAMEWORKS)]
    seconds = _RUNS * float((times + float(idle_s)).to_numpy().sum())
    return Answer(seconds / 3600, f"{10 * times.size} runs; {_RUNS * times.to_numpy().sum() / 3600:.1f} h without idle")


def accuracy(means: pd.DataFrame, model: str, better: str) -> Answer:
    """Not recounted: the accuracies stand in Figure 1 as colours only."""
    return Answer(None, "the paper prints no accuracy as a number, and the raw results hold none")


FUNCTIONS: dict[str, Callable[..., Answer]] = {
    function.__name__: function for function in (significant, cheaper, ratio, mean_ratio, hours, accuracy)
}


def _cases(means: pd.DataFrame, phases: str, models: str = "") -> pd.DataFrame:
    """Return the cases of phases and models.

    Args:
        means: see MEANS_COLUMNS.
        phases: separated by spaces.
        models: names without their spaces, separated by spaces; empty takes all.

    Raises:
        NotGivenError: a case is unknown.
    """
    cases = means.loc[phases.split()]
    if models:
        cases = cases[cases.index.get_level_values("model").str.replace(" ", "").isin(models.split())]
    require(means, cases.index)
    return cases


def require(means: pd.DataFrame, cases: pd.MultiIndex) -> None:
    """Make sure that some cases are known.

    Raises:
        NotGivenError: some are not, and which.
    """
    known = means.notna().all(axis=1)
    missing = known.index[~known & known.index.isin(cases)].droplevel("quantity").unique()
    named = []
    for phase in missing.unique("phase"):
        models = ", ".join(model for of, model in missing if of == phase)
        named.append(f"{models} ({PHASES[phase]})" if known[phase].any() else PHASES[phase])
    if named:
        raise NotGivenError(f"the raw results of {' and '.join(named)} are not given")


def _ratio(row: pd.Series, cheaper: str) -> float:
    other = FRAMEWORKS[1 - FRAMEWORKS.index(cheaper)]
    return float(row[other] / row[cheaper])


def _counted(as_claimed: pd.Series, total: int, give: str) -> Answer:
    count = int(as_claimed.sum())
    note = f"{count} of {total}"
    return Answer(100 * count / total, note) if give == "percent" else Answer(count, note, out_of=total)


PROFILE_TABLES = {
    "Table 5": "georgiou2022_table5_pytorch_training.csv",
    "Table 6": "georgiou2022_table6_pytorch_inference.csv",
    "Table 7": "georgiou2022_table7_tensorflow_training.csv",
    "Table 8": "georgiou2022_table8_tensorflow_inference.csv",
}
"""Files of the printed tables of profiled functions, by table."""


def mean_cost(resources: Path, table: str, functions: str, models: str = "") -> Answer:
    """The mean over the rows of some functions of their share of the run time."""
    rows = read_table(resources / PROFILE_TABLES[f"Table {table}"])
    rows = rows[rows["function"].isin(functions.split())]
    if models:
        rows = rows[rows["model"].isin(models.split())]
    costs = rows["cost_percent"].astype("float64")
    return Answer(float(costs.mean()), "" if len(costs) == 1 else f"{len(costs)} rows")


def functions_of_type(resources: Path, type: str) -> Answer:  # the column of the tables
    """How many different functions of Tables 5 to 8 have a type."""
    rows = pd.concat([read_table(resources / name) for name in PROFILE_TABLES.values()])
    names = sorted(set(rows.loc[rows["type"] == type, "function"]))
    return Answer(len(names), ", ".join(names))


PROFILE_FUNCTIONS: dict[str, Callable[..., Answer]] = {f.__name__: f for f in (mean_cost, functions_of_type)}
