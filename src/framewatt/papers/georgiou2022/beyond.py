"""What georgiou2022's raw results show beyond its tables: tables, and sentences with their numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from framewatt.figures.beside_paper import NAMES
from framewatt.papers.georgiou2022.claims import ENERGIES, FRAMEWORKS, PHASES, QUANTITIES
from framewatt.papers.georgiou2022.recount import RUNS, read_printed_table, runs_of
from framewatt.papers.methods import SIGNED_RANK, outliers, variants
from framewatt.statistics.cells import LARGEST_UNIMODAL, SMALLEST_N_BIMODAL, bimodality_coefficient
from framewatt.statistics.effect_size import is_constant, mean_interval
from framewatt.statistics.trends import spearman

FAMILIES = (1, 4, 6, 24, 48)
"""Tests that p may have been corrected for: none, a model's quantities, a quantity's models, a table, both tables."""


def p_value_variants(raw: pd.DataFrame, resources: Path) -> pd.DataFrame:
    """Which test gives the printed p, see framewatt.papers.methods.VARIANTS_COLUMNS."""
    printed = pd.concat([read_printed_table(resources, phase) for phase in PHASES]).to_dict("records")
    cases = [
        (*pair, row["p_value"])
        for row in printed
        if all((pair := runs_of(raw, row["phase"], row["model"], row["quantity"]))[i].size == RUNS for i in (0, 1))
    ]
    return variants(cases, [(row["p_value"], row["a12"]) for row in printed], FAMILIES, RUNS)


def outside_of_runs(raw: pd.DataFrame, resources: Path) -> pd.DataFrame:
    """Printed means that lie outside the range of the runs that they are meant to average."""
    rows = []
    for phase in PHASES:
        for printed in read_printed_table(resources, phase).to_dict("records"):
            pair = runs_of(raw, phase, printed["model"], printed["quantity"])
            for framework, values in zip(FRAMEWORKS, pair, strict=True):
                mean = float(printed[f"{framework}_mean"])
                # A printed mean may have lost less than 1 of its unit.
                if values.size and not values.min() - 1 <= mean <= values.max():
                    name = QUANTITIES[printed["quantity"]]
                    spread_of_runs = [values.size, values.min(), values.mean(), values.max()]
                    rows.append([phase, printed["model"], NAMES[framework], name, mean, *spread_of_runs])
    columns = ["phase", "model", "framework", "quantity", "published_mean", "runs", "least", "mean", "largest"]
    return pd.DataFrame(rows, columns=columns)


def medians(raw: pd.DataFrame) -> pd.DataFrame:
    """TensorFlow over PyTorch by means and by medians, one row per case."""
    rows = []
    for (phase, model), _ in raw.groupby(["phase", "model"], sort=False):
        for quantity, name in QUANTITIES.items():
            a, b = runs_of(raw, phase, model, quantity)
            if a.size and b.size:
                by_mean, by_median = float(b.mean() / a.mean()), float(np.median(b) / np.median(a))
                cheaper = ["TensorFlow" if ratio < 1 else "PyTorch" for ratio in (by_mean, by_median)]
                row = [phase, model, name, by_mean, by_median, 100 * (by_median / by_mean - 1)]
                rows.append([*row, *cheaper])
    columns = ["phase", "model", "quantity", "ratio_of_means", "ratio_of_medians", "difference_percent"]
    return pd.DataFrame(rows, columns=[*columns, "cheaper_by_means", "cheaper_by_medians"])


def gpu_sums(raw: pd.DataFrame) -> pd.DataFrame:
    """GPU joules as a sum of watts against the integral over the run, one row per model and framework."""
    known = raw.dropna(subset=["gpu_energy", "gpu_integral"])
    difference = 100 * (known["gpu_energy"] / known["gpu_integral"] - 1)
    grouped = known.assign(difference=difference).groupby(["phase", "model", "framework"], sort=False)
    frame = pd.DataFrame(
        {
            "runs": grouped.size(),
            "mean_sum_j": grouped["gpu_energy"].mean(),
            "mean_integral_j": grouped["gpu_integral"].mean(),
            "mean_difference_percent": grouped["difference"].mean(),
            "least_difference_percent": grouped["difference"].min(),
            "largest_difference_percent": grouped["difference"].max(),
        }
    ).reset_index()
    return frame.assign(framework=frame["framework"].map(NAMES))


def figure1(raw: pd.DataFrame) -> pd.DataFrame:
    """The numbers behind Figure 1: mean energy (PKG + RAM + GPU) and time, over the phases that are given."""
    runs, phases = total_energy(raw)
    grouped = runs.groupby(["model", "framework"], sort=False)
    means = grouped[["energy_j", "run_time_s"]].mean().add_prefix("mean_")
    means.insert(0, "runs", grouped.size())
    frame = means.reset_index()
    return frame.assign(framework=frame["framework"].map(NAMES), phases=phases)


def total_energy(raw: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Energy and time of every run for Figure 1, over the phases that are given, and those in words.

    Training and inference are different runs, so that repetition 1 of one is added to repetition 1 of the other.
    """
    given = [phase for phase in PHASES if (raw["phase"] == phase).any()]
    runs = raw.assign(energy_j=raw[list(ENERGIES)].sum(axis=1, min_count=len(ENERGIES)))
    summed = runs.groupby(["model", "framework", "repetition"], sort=False)[["energy_j", "run_time"]]
    frame = summed.sum(min_count=len(given)).dropna().reset_index().rename(columns={"run_time": "run_time_s"})
    words = " and ".join(PHASES[phase] for phase in given)
    missing = [PHASES[phase] for phase in PHASES if phase not in given]
    return frame, words + (f" ({' and '.join(missing)} not given)" if given and missing else "")


def left_out_functions(compared: pd.DataFrame) -> pd.DataFrame:
    """Functions over 1 % of a profiled run that Tables 5 to 8 leave out, one row per function, the costliest first.

    Args:
        compared: framewatt.papers.georgiou2022.profiles.COMPARISON_COLUMNS.
    """
    long = compared[compared["published"].isna()].astype({"recomputed": "float64"})
    wide = long.pivot(index=["entry", "table", "row"], columns="column", values="recomputed").reset_index()
    wide = wide.reindex(columns=["table", "row", "calls", "own time", "share"]).rename_axis(columns=None)
    renamed = wide.rename(columns={"row": "function", "own time": "own_time_s", "share": "share_percent"})
    return renamed.sort_values(["table", "share_percent"], ascending=[True, False], kind="stable", ignore_index=True)


def facts(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Sentences on the tables of this module, by the names of its functions."""
    sentences = [*p_value_facts(tables["p_value_variants"]), *_spearman_facts(tables["spearman_variants"])]
    outside, by_median, gpu = (tables[name] for name in ("outside_of_runs", "medians", "gpu_sums"))
    if len(by_median):
        sentences += [_outside_fact(outside), _median_fact(by_median)]
    if len(gpu):
        sentences.append(
            "GPU joules as the sum of one reading a second lie between "
            f"{gpu['least_difference_percent'].min():+.2f} % and {gpu['largest_difference_percent'].max():+.2f} % from "
            "the integral over the run."
        )
    return sentences + spread_facts(tables["spread"])


def p_value_facts(table: pd.DataFrame) -> list[str]:
    """Which test gives the printed p values."""
    best = table[table["attainable"] == table["attainable"].max()]
    names = " or ".join(f"{row.test}, {row.form}, {_correction(row.bonferroni_over)}" for row in best.itertuples())
    top = best.iloc[0]
    only = "; no other form of the two rank tests, corrected or not, can give as many" if len(best) == 1 else ""
    uncorrected = table[(table["form"] == "exact") & (table["bonferroni_over"] == 1)]
    signed = uncorrected[uncorrected["test"] == SIGNED_RANK].iloc[0]
    sentences = [
        f"Of the {top.pairs} printed pairs of p and A12, ten runs can give {top.attainable} by this test: "
        f"{names}{only}.",
        "The text names the Wilcoxon signed-rank test with a Bonferroni correction. Of ten runs that test, exact and "
        f"uncorrected, has a p of {signed.least_p:.3g} at the least, and can give {signed.attainable} of the "
        f"{signed.pairs} printed pairs; corrected, its p would be larger still.",
    ]
    if top.printed:
        sentences.append(f"From the runs that are given, {names} gives {top.reproduced} of {top.printed} printed p.")
    return sentences


def _spearman_facts(table: pd.DataFrame) -> list[str]:
    by_choice = table.groupby("numbers", sort=False)[["reproduced", "printed"]].sum()
    if by_choice.empty:
        return []
    best = by_choice[by_choice["reproduced"] == by_choice["reproduced"].max()]
    return [
        f"Of the {by_choice['printed'].max()} rho of Table 4, {best['reproduced'].max()} come out of these numbers, "
        f"and more of no others that were tried: {'; '.join(best.index)}."
    ]


def _outside_fact(outside: pd.DataFrame) -> str:
    if outside.empty:
        return "Every printed mean lies within the range of the runs that are given."
    which = sorted({f"{row.model} {row.framework} ({PHASES[row.phase]})" for row in outside.itertuples()})
    return f"{len(outside)} printed means lie outside the range of the runs that are given: {', '.join(which)}."


def _median_fact(by_median: pd.DataFrame) -> str:
    turned = by_median[by_median["cheaper_by_means"] != by_median["cheaper_by_medians"]]
    most = by_median.loc[by_median["difference_percent"].abs().idxmax()]
    return (
        f"Medians name another framework as the cheaper one in {len(turned)} of {len(by_median)} cases; the ratio of "
        f"TensorFlow to PyTorch changes most for {most['model']}, {most['quantity']} ({PHASES[most['phase']]}): "
        f"{most['ratio_of_means']:.3f} by means, {most['ratio_of_medians']:.3f} by medians."
    )


def _correction(size: int) -> str:
    return "uncorrected" if size == 1 else f"Bonferroni over {size}"


SPREAD_COLUMNS = [
    "phase",
    "model",
    "framework",
    "quantity",
    "runs",
    "mean",
    "mean_low",
    "mean_high",
    "median",
    "cv_percent",
    "drift_rho",
    "drift_p",
    "outlier_runs",
    "bimodality",
    "flags",
]
"""Columns of the spread: joules and seconds; `drift_rho` is Spearman's correlation with the number of the run,
`bimodality` SAS's coefficient. Intervals and bimodality are those of framewatt.statistics; there are no blocks, so that
outliers go by quartiles."""

CONFIDENCE = 0.95
ALPHA = 0.05
MUCH_CV_PERCENT = 10.0


def spread(raw: pd.DataFrame) -> pd.DataFrame:
    """One row per phase, model, framework and quantity that has runs.

    Args:
        raw: framewatt.papers.georgiou2022.recount.RAW_COLUMNS.
    """
    rows = []
    for (phase, model, framework), runs in raw.groupby(["phase", "model", "framework"], sort=False):
        for quantity, name in QUANTITIES.items():
            known = runs.dropna(subset=[quantity]).sort_values("repetition")
            if len(known):
                head = {"phase": phase, "model": model, "framework": NAMES[framework]}
                head["quantity"] = name
                rows.append(head | _row(known[quantity].to_numpy(), known["repetition"].to_numpy()))
    return pd.DataFrame(rows, columns=SPREAD_COLUMNS)


def spread_facts(table: pd.DataFrame) -> list[str]:
    """How many rows are flagged for what."""
    if table.empty:
        return []
    flags = table["flags"].fillna("")
    drift, outlier, bimodal = (int(flags.str.contains(word).sum()) for word in ("drift", "outlier", "bimodal"))
    sentences = [
        f"Of {len(table)} samples of a model, framework and quantity, {drift} drift with the number of the run (p at "
        f"most {ALPHA:g}, uncorrected), {outlier} have outliers beyond 1.5 interquartile ranges, {bimodal} look "
        "bimodal or skewed."
    ]
    varied = table.dropna(subset=["cv_percent"])
    if len(varied):
        worst = varied.loc[varied["cv_percent"].idxmax()]
        sentences.append(
            f"The largest coefficient of variation is {worst['cv_percent']:.1f} %: {worst['model']}, "
            f"{worst['framework']}, {worst['quantity']} ({worst['phase']})."
        )
    return sentences


def _row(values: np.ndarray, repetitions: np.ndarray) -> dict[str, Any]:
    interval = mean_interval(values, CONFIDENCE)
    mean = float(values.mean())
    row: dict[str, Any] = {
        "runs": len(values),
        "mean": mean,
        "mean_low": interval.low,
        "mean_high": interval.high,
        "median": float(np.median(values)),
        "cv_percent": 100 * float(values.std(ddof=1)) / mean if len(values) > 1 else None,
    }
    flags = []
    row["drift_rho"], row["drift_p"] = spearman(values, repetitions)
    if row["drift_p"] is not None and row["drift_p"] <= ALPHA:
        flags.append("drift")
    if len(values) >= SMALLEST_N_BIMODAL and not is_constant(values):
        odd = outliers(values)
        row["outlier_runs"] = ", ".join(str(repetitions[i]) for i in odd)
        row["bimodality"] = bimodality_coefficient(values)
        flags += ["outlier"] * bool(odd) + ["bimodal or skewed"] * (row["bimodality"] > LARGEST_UNIMODAL)
    if row["cv_percent"] is not None and row["cv_percent"] > MUCH_CV_PERCENT:
        flags.append("varies much")
    return row | {"flags": "; ".join(flags)}
