"""The tables, questions and claims of georgiou2022 from own runs, compared with the printed ones."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from framewatt.figures.beside_paper import NAMES
from framewatt.papers.georgiou2022.claims import FRAMEWORKS, PHASES, QUANTITIES
from framewatt.papers.georgiou2022.findings import (
    ALPHA,
    METRICS,
    accuracies,
    accuracies_of_trainings,
    answers,
    by_model,
    cheaper,
    findings,
    p_of_accuracies,
)
from framewatt.papers.georgiou2022.own_runs import (
    ENERGY,
    PAPER,
    PROGRAM,
    WINDOW,
    Place,
    own_runs,
    places_of,
    tested,
    tests_of,
)
from framewatt.papers.georgiou2022.recount import printed_means, printed_rho
from framewatt.papers.replication import Measured, claims_table
from framewatt.statistics.trends import spearman
from framewatt.study.records import primary_window
from framewatt.tables.columns import ESTIMATED, Show, number, table_of, text_of
from framewatt.tables.table import MISSING, Table, significant, with_ends
from framewatt.tasks import METRICS as ALL_METRICS
from framewatt.tasks.contract import LOWER

_WORDS = {**QUANTITIES, ENERGY: "energy, all that is metered"}
_UNIT_OF = {PROGRAM: "of a whole program", WINDOW: "of a unit of work, in the window alone"}


def table2(measured: Measured) -> Table:
    """Table 2: training."""
    return _costs(measured, "train", "table2", "Table 2")


def table3(measured: Measured) -> Table:
    """Table 3: inference."""
    return _costs(measured, "infer", "table3", "Table 3")


def table4(measured: Measured) -> Table:
    """Table 4: whether energy follows run time over the models, in training and, beyond the paper, in inference."""
    printed = printed_rho(measured.resources).set_index("quantity")
    tests = tests_of(measured, PROGRAM)
    rows = []
    for phase, words in PHASES.items():
        for quantity in [name for name in tests.index.unique("quantity") if name != "run_time"]:
            for framework in FRAMEWORKS:
                means = tests.xs(phase)[framework].unstack("quantity").dropna()
                rho, p = spearman(means[quantity], means["run_time"])
                paper = printed[f"{framework}_rho"].get(quantity, "") if phase == "train" else ""
                estimated = bool(tests.xs(phase).xs(quantity, level="quantity")["estimated"].eq(True).any())
                rows.append((words, quantity, framework, len(means), rho, p, paper, estimated))
    columns = ["phase", "quantity", "framework", "models", "rho", "p", "published", "estimated"]
    data = pd.DataFrame(rows, columns=columns).astype({"rho": "float64", "p": "float64"})
    shown: dict[str, Show] = {
        "Phase": text_of("phase"),
        "Quantity": lambda r: _WORDS[r["quantity"]],
        "Framework": lambda r: NAMES[r["framework"]],
        "Models": text_of("models"),
        "rho with run time": lambda r: significant(r["rho"], 2) + (ESTIMATED if r["estimated"] else ""),
        "p": lambda r: significant(r["p"], 2),
        "Published": text_of("published"),
    }
    caption = f"Table 4 of {PAPER} from these runs: Spearman's rho of energy and run time over the means of the models"
    if data["estimated"].any():
        caption += "; an estimate is made from processor time, so that it follows time whatever the models are"
    return table_of("table4", caption, data, shown)


def _costs(measured: Measured, phase: str, name: str, title: str) -> Table:
    """Table 2 or 3: whole programs, then the same runs by their windows."""
    places = places_of(measured)
    by_place = {(place.phase, place.model): place for place in places}
    printed = printed_means(measured.resources)
    parts = []
    for of in (PROGRAM, WINDOW):
        own = own_runs(measured, places, of)
        idle = own.groupby(["phase", "model", "framework"])["idle_share"].mean()
        for (at, model, quantity), row in tested(own).iterrows():
            place = by_place.get((at, model))
            if at == phase and place and (pd.notna(row["pytorch"]) or pd.notna(row["why"])):
                parts.append(
                    {
                        **_row(place, of, quantity, row),
                        **_printed(printed, at, model, quantity, of),
                        **_at_rest(idle, at, model),
                    }
                )
    data = pd.DataFrame(parts, columns=_COSTS_COLUMNS)
    shown: dict[str, Show] = {
        "Model": text_of("model"),
        "Of": lambda r: "program" if r["of"] == PROGRAM else "unit of work",
        "Quantity": lambda r: _WORDS[r["quantity"]],
        **{f"{NAMES[f]}, mean": _own(f) for f in FRAMEWORKS},
        **{f"{NAMES[f]}, median": _own(f"{f}_median") for f in FRAMEWORKS},
        **{f"{NAMES[f]}, at rest (%)": _percent(f"{f}_idle_share") for f in FRAMEWORKS},
        "Blocks": text_of("blocks"),
        "PyTorch over TensorFlow": lambda r: with_ends(r["ratio"], r["ratio_low"], r["ratio_high"]),
        "p": lambda r: significant(r["p"], 2),
        "A12": lambda r: significant(r["a12"], 2),
        "Takes less": lambda r: NAMES.get(r["takes_less"], "not told"),
        "To the smaller": lambda r: significant(r["to_smaller"], 3),
        "PyTorch over TensorFlow, published": lambda r: significant(r["published_ratio"], 3),
        "Cells": lambda r: r["levels"] + ("" if pd.isna(r["why"]) else f"; {r['why']}"),
    }
    caption = (
        f"{title} of {PAPER} from these runs ({PHASES[phase]}): joules and seconds, gross, {_UNIT_OF[PROGRAM]}, and "
        f"{_UNIT_OF[WINDOW]}. Ratio: geometric mean over blocks with its 95 % interval; p: Student's t on logarithms, "
        f"after Holm over the models; A12 of the framework that takes more; at rest: what the machine takes anyway"
    )
    return table_of(name, caption, data, shown)


_COSTS_COLUMNS = [
    *("model", "of", "quantity", "pytorch", "tensorflow", "pytorch_median", "tensorflow_median"),
    *("pytorch_idle_share", "tensorflow_idle_share", "blocks", "ratio", "ratio_low", "ratio_high", "p", "p_single"),
    *("a12", "takes_less", "to_smaller", "published_ratio", "estimated", "levels", "why"),
]


def _row(place: Place, of: str, quantity: str, row: pd.Series) -> dict[str, Any]:
    known = row["ratio"]
    return {
        **{name: row[name] for name in _COSTS_COLUMNS if name in row.index},
        "model": place.model,
        "of": of,
        "quantity": quantity,
        "blocks": 0 if pd.isna(row["blocks"]) else int(row["blocks"]),
        "estimated": row["estimated"] is True,
        "takes_less": cheaper(row),
        "to_smaller": None if pd.isna(known) else max(known, 1 / known),
        "levels": place.levels + (f" (and {place.others} more, not here)" if place.others else ""),
        "why": None if pd.isna(row["why"]) else row["why"],
    }


def _printed(printed: pd.DataFrame, phase: str, model: str, quantity: str, of: str) -> dict[str, float | None]:
    """The paper's ratio, of whole programs."""
    if of != PROGRAM or (phase, model, quantity) not in printed.index:
        return {"published_ratio": None}
    row = printed.loc[(phase, model, quantity)]
    return {"published_ratio": float(row["pytorch"] / row["tensorflow"])}


def _at_rest(idle: pd.Series, phase: str, model: str) -> dict[str, float | None]:
    return {f"{name}_idle_share": idle.get((phase, model, name)) for name in FRAMEWORKS}


def _own(name: str) -> Show:
    """An own number, marked where it was not measured."""

    def show(row: Mapping[str, Any]) -> str:
        text = significant(row[name])
        return text + ESTIMATED if row["estimated"] and text != MISSING else text

    return show


def _percent(name: str) -> Show:
    return lambda row: significant(None if pd.isna(row[name]) else 100 * row[name], 3)


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
    models = answers(tests, phase)
    parts = [f"{NAMES[name]} for {models[name]}" for name in FRAMEWORKS if models[name]]
    if models[""]:
        parts.append(f"no difference is shown for {models['']}")
    if not parts:
        return f"not decidable here: no {PHASES[phase]} was measured in both frameworks"
    text = "; ".join(parts)
    return text + (" (energy is estimated from processor time)" if estimated else "")


def _more_accurate(measured: Measured) -> str:
    """The accuracies of both frameworks' trainings, model by model."""
    parts = []
    for model, by_framework in by_model(measured).items():
        means = {name: float(np.mean(values)) for name, (_, values) in by_framework.items()}
        p = p_of_accuracies(*(by_framework[name][1] for name in FRAMEWORKS))
        verdict = "not told apart" if p is None or p > ALPHA else f"told apart (p = {p:.2g})"
        metric = ALL_METRICS[METRICS[model]].words
        numbers = ", ".join(f"{NAMES[name]} {significant(means[name], 3)}" for name in FRAMEWORKS)
        parts.append(f"{model}, {metric}: {numbers}, {verdict}")
    return ". ".join(parts) or "not decidable here: no accuracy is known in both frameworks"


def _accuracy_and_energy(measured: Measured, tests: pd.DataFrame) -> str:
    """In how many models the framework that takes less to train is the more accurate one, where both are shown."""
    agree: list[str] = []
    against: list[str] = []
    energy = tests.xs("train").xs(ENERGY, level="quantity")
    for model, by_framework in by_model(measured).items():
        p, less = p_of_accuracies(*(by_framework[name][1] for name in FRAMEWORKS)), cheaper(energy.loc[model])
        if p is not None and p <= ALPHA and less:
            (way, one), (_, other) = (by_framework[name] for name in FRAMEWORKS)
            better = FRAMEWORKS[0] if (np.mean(one) < np.mean(other)) == (way == LOWER) else FRAMEWORKS[1]
            (agree if better == less else against).append(model)
    if not agree and not against:
        return "not decidable here: of no model are both a difference of energy and one of accuracy shown"
    parts = [
        f"so for {', '.join(agree)}" if agree else "",
        f"the other way for {', '.join(against)}" if against else "",
    ]
    return "; ".join(filter(None, parts))


def figure1(measured: Measured) -> Table:
    """What Figure 1 is drawn from: the paper's printed means, and whole programs here, mean and every run."""
    printed = printed_means(measured.resources).sort_index()
    own = own_runs(measured, places_of(measured), PROGRAM)
    qualities = {(model, framework): float(np.mean(values)) for model, framework, _, _, values in accuracies(measured)}
    rows = []
    for phase in PHASES:
        for model in METRICS:
            energies = printed.loc[(phase, model)]
            for framework in FRAMEWORKS:
                paper = energies[framework]
                head = {"phase": phase, "model": model, "framework": framework, "metric": METRICS[model]}
                rows.append(
                    {
                        **head,
                        "source": "published",
                        "energy_j": float(paper.drop("run_time").sum()),
                        "run_time_s": float(paper["run_time"]),
                        "estimated": False,
                    }
                )
                part = own[(own["phase"] == phase) & (own["model"] == model) & (own["framework"] == framework)]
                known = part.dropna(subset=[ENERGY])
                if len(known):
                    here = {**head, "source": "here", "estimated": bool(known["estimated"].any())}
                    means = {"energy_j": known[ENERGY].mean(), "run_time_s": known["run_time"].mean()}
                    rows.append({**here, **means, "quality": qualities.get((model, framework))})
                    rows += [
                        {**here, "repetition": run.repetition, "energy_j": run.energy, "run_time_s": run.run_time}
                        for run in known.itertuples()
                    ]
    columns = ["source", "phase", "model", "framework", "repetition", "energy_j", "run_time_s", "estimated"]
    data = pd.DataFrame(rows, columns=[*columns, "metric", "quality"])
    data = data.astype({"repetition": "Int64", "quality": "float64"})
    shown: dict[str, Show] = {
        "Of": text_of("source"),
        "Phase": lambda r: PHASES[r["phase"]],
        "Model": text_of("model"),
        "Framework": lambda r: NAMES[r["framework"]],
        "Run": lambda r: "mean" if pd.isna(r["repetition"]) else str(r["repetition"]),
        "Energy (J)": lambda r: significant(r["energy_j"]) + (ESTIMATED if r["estimated"] else ""),
        "Time (s)": number("run_time_s"),
        "Accuracy": number("quality"),
    }
    return table_of("figure1", f"Figure 1 of {PAPER}, in numbers: as printed, and here, whole programs", data, shown)


def caches(measured: Measured) -> Table:
    """Every cell with the state of its caches: whole programs in the order in which they ran."""
    rows = []
    for cell in measured.cells:
        runs = sorted(
            (record for record in measured.records if record["cell_id"] == cell["id"] and record["status"] == "ok"),
            key=lambda record: record["position"],
        )
        seconds = [float(record["windows"]["process"]["duration_s"]) for record in runs]
        inside = [float(window["duration_s"]) for record in runs if (window := primary_window(record))]
        # Without blocks that differ there is no trend to speak of.
        rho, p = spearman(range(len(seconds)), seconds)
        flagged = sum(any(flag.startswith("caches:") for flag in record["flags"]) for record in runs)
        rows.append(
            {
                "cell": cell["id"],
                "caches": cell.get("caches", "as_found"),
                "runs": len(runs),
                "first_s": seconds[0] if seconds else None,
                "last_s": seconds[-1] if seconds else None,
                "shortest_s": min(seconds, default=None),
                "longest_s": max(seconds, default=None),
                "window_share": sum(inside) / sum(seconds) if seconds else None,
                "drift_rho": rho,
                "drift_p": p,
                "flagged": flagged,
            }
        )
    data = pd.DataFrame(rows).astype(dict.fromkeys(["first_s", "last_s", "drift_rho", "drift_p"], "float64"))
    shown: dict[str, Show] = {
        "Cell": text_of("cell"),
        "Caches": lambda r: str(r["caches"]).replace("_", " "),
        "Runs": text_of("runs"),
        "First run (s)": number("first_s"),
        "Last run (s)": number("last_s"),
        "Shortest (s)": number("shortest_s"),
        "Longest (s)": number("longest_s"),
        "In the window (%)": lambda r: significant(None if pd.isna(r["window_share"]) else 100 * r["window_share"], 3),
        "Drift, rho": lambda r: significant(r["drift_rho"], 2),
        "Drift, p": lambda r: significant(r["drift_p"], 2),
        "Not in that state": text_of("flagged"),
    }
    caption = (
        "Whole programs by the state of their caches, in the order of runs; drift is Spearman's rho of time and order "
        f"(in {PAPER}, runs of NCF's inference in TensorFlow went from 336 s to 20 s)"
    )
    return table_of("caches", caption, data, shown)


def claims_of_runs(measured: Measured) -> Table:
    """Verdicts on the paper's claims, from whole programs, as in the paper."""
    return claims_table(PAPER, findings(measured, tests_of(measured, PROGRAM)))


def claims_of_window(measured: Measured) -> Table:
    """Verdicts on the same claims, from the windows alone."""
    caption = (
        f"Claims of {PAPER}, and what the windows of these runs say of them, without loading, preparing and judging"
    )
    return claims_table(PAPER, findings(measured, tests_of(measured, WINDOW)), "claims_of_window", caption)


TABLES = {
    "answers": answers_to_questions,
    "claims": claims_of_runs,
    "claims_of_window": claims_of_window,
    "table2": table2,
    "table3": table3,
    "table4": table4,
    "accuracies": accuracies_of_trainings,
    "figure1": figure1,
    "caches": caches,
}
