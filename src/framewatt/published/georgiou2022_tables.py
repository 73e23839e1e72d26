"""Tables 2 and 3 of georgiou2022: printed, and recounted from the raw results."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from framewatt.figures.published.frameworks import NAMES
from framewatt.published.georgiou2022_claims import FRAMEWORKS, MEANS_COLUMNS, PHASES, QUANTITIES
from framewatt.published.printed import Answer, read_printed
from framewatt.published.rank_tests import rank_sum_p
from framewatt.published.resources import read_table
from framewatt.published.verdicts import Recount
from framewatt.statistics.effect_size import Values, a12

RAW_COLUMNS = ["phase", "model", "framework", "repetition", *QUANTITIES]
"""Columns of the raw results: one row per run; joules and seconds, with GPU joules as the sum of watts read once a
second."""

RUNS = 10
"""Repetitions of everything, says the paper."""

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
    """Tables 2 and 3 as means, see framewatt.published.georgiou2022_claims.MEANS_COLUMNS."""
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
