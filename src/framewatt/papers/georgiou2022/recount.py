"""Tables 2 and 3 of georgiou2022: printed, and recounted from the raw results."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from framewatt.figures.beside_paper import NAMES
from framewatt.frames.totals import TOTAL
from framewatt.papers.contract import Sources
from framewatt.papers.georgiou2022.claims import (
    FRAMEWORKS,
    FUNCTIONS,
    MEANS_COLUMNS,
    PHASES,
    PROFILE_FUNCTIONS,
    QUANTITIES,
    require,
)
from framewatt.papers.methods import rank_sum_p
from framewatt.papers.printed import (
    REPRODUCED,
    Answer,
    NotGivenError,
    Recount,
    judge,
    read_claims,
    read_printed,
    read_table,
    recount_claims,
)
from framewatt.papers.verdicts import from_frame, verdicts
from framewatt.runs.records import read_run, record_paths
from framewatt.statistics.effect_size import Values, a12
from framewatt.statistics.trends import spearman

RAW_COLUMNS = ["phase", "model", "framework", "repetition", *QUANTITIES]
"""Columns of the raw results: one row per run; joules and seconds, with GPU joules as the sum of watts read once a
second."""

RUNS = 10
"""Repetitions of each run in the paper."""

_TABLES = {"train": ("Table 2", "georgiou2022_table2_training"), "infer": ("Table 3", "georgiou2022_table3_inference")}

_SOURCES = {
    "pkg_energy": "perf's joules of power/energy-pkg/",
    "ram_energy": "perf's joules of power/energy-ram/",
    "gpu_energy": "sums of nvidia-smi's watts, one reading a second",
    "run_time": "perf's seconds elapsed",
}


def read_printed_table(resources: Path, phase: str) -> pd.DataFrame:
    """Table 2 or 3 as text: columns model, phase, quantity, unit, pytorch_mean, tensorflow_mean, p_value, a12."""
    return read_table(resources / f"{_TABLES[phase][1]}.csv")


def printed_models(resources: Path) -> list[str]:
    """Names of the models in Tables 2 and 3."""
    return list(dict.fromkeys(read_printed_table(resources, "train")["model"]))


def printed_means(resources: Path) -> pd.DataFrame:
    """Tables 2 and 3 as means, see framewatt.papers.georgiou2022.claims.MEANS_COLUMNS."""
    table = pd.concat([read_printed_table(resources, phase) for phase in PHASES])
    table["pytorch"], table["tensorflow"] = table["pytorch_mean"], table["tensorflow_mean"]
    table["p"] = [getattr(read_printed(text), "value", None) for text in table["p_value"]]
    return table.set_index(["phase", "model", "quantity"])[MEANS_COLUMNS].astype("float64")


def raw_means(raw: pd.DataFrame, cases: pd.MultiIndex) -> pd.DataFrame:
    """Means, p and A12 of the raw results, NaN for cases that they do not hold.

    Args:
        raw: RAW_COLUMNS.
        cases: phase, model, quantity.
    """
    means = pd.DataFrame(index=cases, columns=MEANS_COLUMNS, dtype="float64")
    for case in cases:
        pair = runs_of(raw, *case)
        if all(values.size for values in pair):
            means.loc[case] = [*map(np.mean, pair), rank_sum_p(*pair), either_a12(*pair)]
    return means


def runs_of(raw: pd.DataFrame, phase: str, model: str, quantity: str) -> tuple[Values, Values]:
    """A quantity of PyTorch's and of TensorFlow's runs, in the order of their numbers, without missing ones."""
    of_model = raw[(raw["phase"] == phase) & (raw["model"] == model)].sort_values("repetition")
    pytorch, tensorflow = (of_model.loc[of_model["framework"] == name, quantity].dropna() for name in FRAMEWORKS)
    return pytorch.to_numpy(dtype=np.float64), tensorflow.to_numpy(dtype=np.float64)


def either_a12(a: Values, b: Values) -> float:
    """A12 of whichever sample is larger: the paper prints 1 whichever framework costs more."""
    value = a12(a, b)
    return max(value, 1 - value)


def recount_means(phase: str, raw: pd.DataFrame, resources: Path) -> Iterator[Recount]:
    """Every number of Table 2 (train) or 3 (infer) from the raw results."""
    title = _TABLES[phase][0]
    for printed in read_printed_table(resources, phase).to_dict("records"):
        pair = runs_of(raw, phase, printed["model"], printed["quantity"])
        row = f"{printed['model']}, {QUANTITIES[printed['quantity']]}"
        missing = "" if all(values.size for values in pair) else _missing(phase, printed["model"], raw)
        for framework, values in zip(FRAMEWORKS, pair, strict=True):
            answer = Answer(None, missing) if missing else Answer(float(values.mean()), _count_note(values))
            text = printed[f"{framework}_mean"]
            how = f"mean over the runs of {_SOURCES[printed['quantity']]}"
            yield Recount(title, row, NAMES[framework], text, printed["unit"], answer, how)
        p = Answer(None, missing) if missing else Answer(rank_sum_p(*pair))
        how = "exact two-sided rank-sum (Mann-Whitney) test, uncorrected: the form that gives most of the printed p"
        yield Recount(title, row, "p", printed["p_value"], "p", p, how)
        effect = Answer(None, missing) if missing else Answer(either_a12(*pair))
        how = "A12 of the framework that costs more: the printed 1 is the dearer one's in both directions"
        yield Recount(title, row, "A12", printed["a12"], "", effect, how)


def _missing(phase: str, model: str, raw: pd.DataFrame) -> str:
    if (raw["phase"] == phase).any():
        return f"the raw results of {PHASES[phase]} do not hold {model} in both frameworks"
    folder = {"train": "measurements_train", "infer": "measurements_inference"}[phase]
    return f"the raw results of {PHASES[phase]} are not given (folder {folder})"


def _count_note(values: Values) -> str:
    return "" if values.size == RUNS else f"{values.size} runs, {RUNS} in the paper"


SPEARMAN_COLUMNS = ["numbers", "framework", "values", "rho_pkg", "rho_ram", "rho_gpu", "reproduced", "printed"]
"""Columns of the variants: over which numbers rho was taken, how many `values` they are, and how many of the
framework's `printed` rho come out."""


def recount_correlations(printed: pd.DataFrame, raw: pd.DataFrame, resources: Path) -> Iterator[Recount]:
    """Table 4 from the means of training: as Table 2 prints them, and from the raw results.

    Args:
        printed: means, see framewatt.papers.georgiou2022.claims.MEANS_COLUMNS.
        raw: means of the raw results.
        resources: folder of the published tables.
    """
    for row in printed_rho(resources).to_dict("records"):
        for framework in FRAMEWORKS:
            for basis, means in (("printed means", printed), ("raw results", raw)):
                yield Recount(
                    "Table 4",
                    row["pair"],
                    f"{NAMES[framework]}, from the {basis}",
                    row[f"{framework}_rho"],
                    "rho",
                    _rho_of_training(means, framework, row["quantity"]),
                    "Spearman's rho over the training means of the six models",
                )


def spearman_variants(printed: pd.DataFrame, raw: pd.DataFrame, resources: Path) -> pd.DataFrame:
    """How many of the printed rho every choice of numbers gives.

    Args:
        printed: means, as above.
        raw: one row per run, see RAW_COLUMNS.
        resources: folder of the published tables.

    Returns:
        SPEARMAN_COLUMNS, one row per choice and framework; raw results that are not given have none.
    """
    table = printed_rho(resources)
    rows = []
    for framework in FRAMEWORKS:
        as_printed = dict(zip(table["quantity"], table[f"{framework}_rho"], strict=True))
        choices = {**_printed_choices(printed, framework), **_raw_choices(raw[raw["framework"] == framework])}
        for name, numbers in choices.items():
            rho = {quantity: spearman(numbers[quantity], numbers["run_time"])[0] for quantity in as_printed}
            hits = sum(judge(Answer(rho[quantity]), text)[0] == REPRODUCED for quantity, text in as_printed.items())
            rows.append([name, NAMES[framework], len(numbers), *rho.values(), hits, len(as_printed)])
    return pd.DataFrame(rows, columns=SPEARMAN_COLUMNS)


def printed_rho(resources: Path) -> pd.DataFrame:
    """Table 4 as it is printed: columns pair, pytorch_rho, tensorflow_rho (text), quantity."""
    table = read_table(resources / "georgiou2022_table4_spearman.csv")
    return table.assign(quantity=table["pair"].str.split().str[0].str.lower() + "_energy")


def _printed_choices(means: pd.DataFrame, framework: str) -> dict[str, pd.DataFrame]:
    """Printed means by model: of either phase, their sums, and both phases together."""
    training, inference = (means.xs(phase)[framework].unstack("quantity") for phase in PHASES)
    return {
        "printed means, training": training,
        "printed means, inference": inference,
        "printed means, training + inference": training + inference,
        "printed means, both phases": pd.concat([training, inference]),
    }


def _raw_choices(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Raw results of either phase: means and medians by model, and all runs."""
    choices = {}
    for phase, name in PHASES.items():
        given = runs[runs["phase"] == phase]
        if len(given):
            by_model = given.groupby("model")[list(QUANTITIES)]
            choices[f"raw results, {name}, means"] = by_model.mean()
            choices[f"raw results, {name}, medians"] = by_model.median()
            choices[f"raw results, {name}, all runs"] = given
    return choices


def _rho_of_training(means: pd.DataFrame, framework: str, quantity: str) -> Answer:
    try:
        require(means, means.loc[["train"]].index)
    except NotGivenError as missing:
        return Answer(None, str(missing))
    training = means.xs("train")[framework].unstack("quantity")
    rho, p = spearman(training[quantity], training["run_time"])
    return Answer(rho, f"n = {len(training)}, exact p = {p:.2g}" if p is not None else "no rho")


GPU = "gpu:0"

_DOMAINS = {"pkg_energy": "cpu:package", "ram_energy": "cpu:dram"}
_RUN = ["cell", "repetition"]
_READING_S = 1.0
"""Seconds that the authors let every reading of nvidia-smi stand for."""


def raw_results(runs: pd.DataFrame, watts: pd.DataFrame, models: Iterable[str]) -> pd.DataFrame:
    """The raw results as the paper's tables take them.

    Args:
        runs: the runs frame of the imported study, factors workload, framework and phase.
        watts: see `sums_of_watts`.
        models: names of the models in the paper's tables; a workload is the model with the same letters and digits.

    Returns:
        RAW_COLUMNS and gpu_integral, one row per run with what is known of it, in the order of the models.
    """
    by_letters = {_letters(model): model for model in models}
    ok = runs[runs["status"] == "ok"]
    energy = ok[ok["domain"] != TOTAL].pivot(index=_RUN, columns="domain", values="energy_gross_j")
    heads = ok[ok["domain"] == TOTAL].set_index(_RUN)
    raw = pd.DataFrame(
        {
            "phase": heads["phase"],
            "model": heads["workload"].map(lambda name: by_letters.get(_letters(name), name)),
            "framework": heads["framework"].str.lower(),
            **{name: energy.get(domain) for name, domain in _DOMAINS.items()},
            "gpu_energy": watts.set_index(_RUN)["gpu_energy"],
            "gpu_integral": energy.get(GPU),
            "run_time": heads["duration_s"],
        },
        index=heads.index,
    )
    raw = raw.reset_index("repetition").reset_index(drop=True)[[*RAW_COLUMNS, "gpu_integral"]]
    place = {model: number for number, model in enumerate(by_letters.values())}
    raw = raw.sort_values("model", kind="stable", ignore_index=True, key=lambda names: names.map(place))
    return raw.astype(dict.fromkeys(raw.columns[4:], "float64"))


def read_raw_results(sources: Sources) -> pd.DataFrame:
    """Return the raw results, one row for each run; no row where they are not given.

    Returns:
        RAW_COLUMNS and gpu_integral.
    """
    if sources.runs is None or sources.records is None:
        return no_raw_results()
    records = record_paths(str(sources.records))
    watts = sums_of_watts(map(read_run, records), [path.with_name("power.parquet") for path in records])
    return raw_results(pd.read_parquet(sources.runs), watts, printed_models(sources.resources))


def no_raw_results() -> pd.DataFrame:
    """The raw results where none are given."""
    return pd.DataFrame(columns=[*RAW_COLUMNS, "gpu_integral"])


def sums_of_watts(records: Iterable[Mapping[str, Any]], traces: Iterable[Path]) -> pd.DataFrame:
    """The authors' GPU joules of every run: the plain sum of its readings, each standing for one second.

    Args:
        records: run records.
        traces: their power.parquet, in the same order.

    Returns:
        Columns cell, repetition, gpu_energy (joules).
    """
    rows = []
    for record, path in zip(records, traces, strict=True):
        if record["status"] == "ok":
            trace = pq.read_table(path, columns=["domain", "quantity", "value"])
            gpu = (trace["domain"].to_numpy() == GPU) & (trace["quantity"].to_numpy() == "power_w")
            joules = float(np.nansum(trace["value"].to_numpy()[gpu])) * _READING_S
            rows.append((record["cell_id"], record["repetition"], joules if gpu.any() else None))
    return pd.DataFrame(rows, columns=[*_RUN, "gpu_energy"])


def _letters(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


STUDY = "georgiou2022"

_HOW_PROFILED = "cProfile dump: calls, own time, and own time in the sum of all own times"


def recount(resources: Path, raw: pd.DataFrame, profiles: pd.DataFrame) -> pd.DataFrame:
    """The verdicts of georgiou2022.

    A sentence that follows from the means is recounted twice: from the means as printed, and from the raw results.

    Args:
        resources: folder of the published tables and claims.
        raw: RAW_COLUMNS; without rows where nothing is given.
        profiles: framewatt.papers.georgiou2022.profiles.COMPARISON_COLUMNS; functions that the tables leave out have
            no published number, and no verdict.

    Returns:
        framewatt.papers.verdicts.VERDICTS_COLUMNS.
    """
    printed = printed_means(resources)
    recomputed = raw_means(raw, printed.index)
    claims = read_claims(resources / f"{STUDY}_claims.csv")
    of_profiles = read_claims(resources / f"{STUDY}_profile_claims.csv")
    recounts = [
        *recount_means("train", raw, resources),
        *recount_means("infer", raw, resources),
        *recount_correlations(printed, recomputed, resources),
        *from_frame(profiles[profiles["published"].notna()], _HOW_PROFILED),
        *recount_claims(claims, FUNCTIONS, printed, "from the printed means"),
        *recount_claims(claims, FUNCTIONS, recomputed, "from the raw results"),
        *recount_claims(of_profiles, PROFILE_FUNCTIONS, resources, "from the printed tables"),
    ]
    return verdicts(STUDY, recounts)
