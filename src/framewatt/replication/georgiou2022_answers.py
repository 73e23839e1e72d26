"""georgiou2022's questions 1 and 2, answered in words from own runs."""

import numpy as np
import pandas as pd

from framewatt.figures.published.frameworks import NAMES
from framewatt.published.georgiou2022_claims import FRAMEWORKS, PHASES
from framewatt.replication.contract import Measured
from framewatt.replication.georgiou2022_accuracies import METRICS, by_model, p_of_accuracies
from framewatt.replication.georgiou2022_findings import ALPHA, answers, cheaper
from framewatt.replication.georgiou2022_runs import ENERGY, PAPER, PROGRAM
from framewatt.replication.georgiou2022_tests import tests_of
from framewatt.tables.columns import Show, table_of, text_of
from framewatt.tables.table import Table, significant
from framewatt.tasks import METRICS as ALL_METRICS
from framewatt.tasks.contract import LOWER


def answers_to_questions(measured: Measured) -> Table:
    """The paper's questions 1 and 2: its answers, and those of these runs, in words."""
    tests = tests_of(measured, PROGRAM)
    estimated = bool(tests["estimated"].eq(True).any())
    rows = [
        ("RQ1", "In training, which framework takes least energy?", _RQ1["train"], _least(tests, "train", estimated)),
        ("RQ1", "In inference, which framework takes least energy?", _RQ1["infer"], _least(tests, "infer", estimated)),
        ("RQ2", "Which framework is more accurate?", _RQ2[0], _more_accurate(measured)),
        ("RQ2", "Does what takes less give more accurate answers?", _RQ2[1], _accuracy_and_energy(measured, tests)),
    ]
    data = pd.DataFrame(rows, columns=["question", "asked", "published", "here"])
    shown: dict[str, Show] = {
        "Question": text_of("question"),
        "Asked": text_of("asked"),
        "Answer of the paper": text_of("published"),
        "Answer here": text_of("here"),
    }
    return table_of("answers", f"The questions of {PAPER}: the paper's answers, and those of these runs", data, shown)


_RQ1 = {
    "train": "TensorFlow for recommender systems and vision (NCF, ResNet-50, Mask R-CNN, SSD), PyTorch for language "
    "models (Transformer-XL, GNMT); over all, TensorFlow",
    "infer": "TensorFlow for NCF and ResNet-50, PyTorch for the others; over all, PyTorch",
}
_RQ2 = (
    "TensorFlow is about as accurate as PyTorch",
    "In most cases: less energy and time go with better accuracy",
)


def _least(tests: pd.DataFrame, phase: str, estimated: bool) -> str:
    """Which framework takes least energy in a phase, by what is shown."""
    found = answers(tests, phase)
    parts = [f"{NAMES[name]} for {found[name]}" for name in FRAMEWORKS if found[name]]
    if found[""]:
        parts.append(f"no difference is shown for {found['']}")
    if not parts:
        return f"not decidable here: no {PHASES[phase]} was measured in both frameworks"
    text = "; ".join(parts)
    return text + (" (energy is estimated from processor time)" if estimated else "")


def _more_accurate(measured: Measured) -> str:
    """The accuracies of both frameworks' trainings, model by model."""
    parts = []
    for model, found in by_model(measured).items():
        means = {name: float(np.mean(values)) for name, (_, values) in found.items()}
        p = p_of_accuracies(*(found[name][1] for name in FRAMEWORKS))
        told = "not told apart" if p is None or p > ALPHA else f"told apart (p = {p:.2g})"
        metric = ALL_METRICS[METRICS[model]].words
        numbers = ", ".join(f"{NAMES[name]} {significant(means[name], 3)}" for name in FRAMEWORKS)
        parts.append(f"{model}, {metric}: {numbers}, {told}")
    return ". ".join(parts) or "not decidable here: no accuracy is known in both frameworks"


def _accuracy_and_energy(measured: Measured, tests: pd.DataFrame) -> str:
    """In how many models the framework that takes less to train is the more accurate one, where both are shown."""
    agree: list[str] = []
    against: list[str] = []
    energy = tests.xs("train").xs(ENERGY, level="quantity")
    for model, found in by_model(measured).items():
        p, less = p_of_accuracies(*(found[name][1] for name in FRAMEWORKS)), cheaper(energy.loc[model])
        if p is not None and p <= ALPHA and less:
            (way, one), (_, other) = (found[name] for name in FRAMEWORKS)
            better = FRAMEWORKS[0] if (np.mean(one) < np.mean(other)) == (way == LOWER) else FRAMEWORKS[1]
            (agree if better == less else against).append(model)
    if not agree and not against:
        return "not decidable here: of no model are both a difference of energy and one of accuracy shown"
    told = [f"so for {', '.join(agree)}" if agree else "", f"the other way for {', '.join(against)}" if against else ""]
    return "; ".join(filter(None, told))
