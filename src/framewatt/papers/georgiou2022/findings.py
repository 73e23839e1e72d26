"""Verdicts on georgiou2022's claims: own runs go through the functions that recount the claims from its raw results.

A verdict needs a difference that is shown: of every model that a claim is about, p is at most 0.05 after Holm's
correction over the models of its phase and quantity. Where nothing differs, at most one study in twenty has a verdict
other than "not decidable here" by chance, a phase and quantity.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from framewatt.figures.beside_paper import NAMES
from framewatt.papers.georgiou2022 import claims
from framewatt.papers.georgiou2022.claims import ENERGIES, FRAMEWORKS, MEANS_COLUMNS, PHASES, QUANTITIES
from framewatt.papers.georgiou2022.own_runs import ENERGY, RUNTIMES, model_of
from framewatt.papers.printed import Answer, Claim, NotGivenError, read_claims, read_printed
from framewatt.papers.replication import OPPOSITE, PARTLY, SAME, UNDECIDED, Finding, Measured
from framewatt.runs.verdict import counts
from framewatt.tables.columns import Show, number, table_of, text_of
from framewatt.tables.table import Table, significant
from framewatt.tasks import METRICS as ALL_METRICS
from framewatt.tasks.contract import LOWER

ALPHA = 0.05

_SETTINGS = "3.5 Experimental Settings"
"""The section with the claim on how long the authors' measurements took."""

_COUNTS = (claims.significant.__name__, claims.cheaper.__name__)
"""Functions of claims that count cases, here always by their number."""

_RATIOS = (claims.ratio.__name__, claims.mean_ratio.__name__)
"""Functions of claims that give a ratio, which holds where every model's points the claimed way."""


def findings(measured: Measured, tests: pd.DataFrame) -> Iterator[Finding]:
    """One finding per claim of abstract, introduction, results and answers.

    Args:
        measured: own runs; their accuracies are those of whole trainings.
        tests: from `own_runs.tested`.
    """
    for claim in read_claims(measured.resources / "georgiou2022_claims.csv"):
        if claim.how == claims.accuracy.__name__:
            yield _finding_on_accuracy(claim, measured)
        elif claim.where != _SETTINGS:
            yield _finding_on_costs(claim, tests)


def cheaper(test: pd.Series) -> str | None:
    """The framework that is shown to take less; None where no difference is shown.

    Args:
        test: a row of `own_runs.tested`.
    """
    if pd.isna(test["p"]) or test["p"] > ALPHA:
        return None
    return FRAMEWORKS[1] if test["ratio"] > 1 else FRAMEWORKS[0]


def _finding_on_costs(claim: Claim, tests: pd.DataFrame) -> Finding:
    cases = _cases(claim, tests)
    # What a claim is not about may be unknown.
    quantities = {"run_time": ["run_time"], ENERGY: list(ENERGIES)}.get(
        claim.arguments.get("quantity", ""), list(QUANTITIES)
    )
    means = tests.loc[tests.index.get_level_values("quantity").isin(quantities), MEANS_COLUMNS]
    try:
        _check_measured(cases)
        counted = {"give": "count"} if claim.how in _COUNTS else {}
        answer = claims.FUNCTIONS[claim.how](means, **{**claim.arguments, **counted})
    except NotGivenError as missing:
        return _undecided(claim, f"not measured here: {missing}")
    p = float(cases["p"].max()) if cases["p"].notna().all() else None
    verdict, why = _verdict(claim, cases, answer)
    here = float(answer.value) if isinstance(answer.value, int | float) else None
    why = "; ".join(filter(None, [why, *_notes(cases, set(tests.index.unique("quantity")))]))
    return _finding(claim, here=here, out_of=answer.out_of, verdict=verdict, p=p, why=why)


def _cases(claim: Claim, tests: pd.DataFrame) -> pd.DataFrame:
    """The rows of the tests that a claim is about."""
    arguments = claim.arguments
    phases = (arguments.get("phases") or arguments["phase"]).split()
    models = (arguments.get("models") or arguments.get("model") or "").split()
    quantities = [arguments["quantity"]] if "quantity" in arguments else list(QUANTITIES)
    index = tests.index.to_frame(index=False)
    is_case = index["phase"].isin(phases) & index["quantity"].isin(quantities)
    if models:
        is_case &= index["model"].str.replace(" ", "").isin(models)
    return tests[is_case.to_numpy()]


def _check_measured(cases: pd.DataFrame) -> None:
    """Check that both frameworks ran every model that a claim is about.

    Raises:
        NotGivenError: they did not, or nothing of what the claim is about was metered.
    """
    if cases.empty:
        raise NotGivenError("energy")
    differing = list(dict.fromkeys(cases["why"].dropna()))
    if differing:
        raise NotGivenError("; ".join(differing))
    missing = cases.index[cases[list(FRAMEWORKS)].isna().any(axis=1)].droplevel("quantity").unique()
    if len(missing):
        raise NotGivenError(", ".join(f"{model} ({PHASES[phase]})" for phase, model in missing))


def _verdict(claim: Claim, cases: pd.DataFrame, answer: Answer) -> tuple[str, str]:
    """The verdict, and what speaks against it."""
    shown = cases.apply(cheaper, axis=1)
    equal = _named(cases.index[shown.isna()])
    undecided = f"no difference is shown: {equal}" if equal else ""
    if claim.how == claims.significant.__name__:
        if not answer.value:
            return UNDECIDED, undecided or "no effect is large"
        return (SAME if _holds(claim, answer) else PARTLY), undecided
    claimed = claim.arguments.get("framework") or claim.arguments["cheaper"]
    other = FRAMEWORKS[1 - FRAMEWORKS.index(claimed)]
    so, against = int((shown == claimed).sum()), int((shown == other).sum())
    why = "; ".join(filter(None, [f"not so: {_named(cases.index[shown == other])}" if against else "", undecided]))
    if so + against == 0:
        return UNDECIDED, why
    total = so + against if claim.arguments.get("of") == "significant" else len(cases)
    if claim.how in _RATIOS or _is_all(claim):
        return (SAME if so == total else OPPOSITE if against == total else PARTLY), why
    return (SAME if so > total / 2 else OPPOSITE if against > total / 2 else PARTLY), why


def _holds(claim: Claim, answer: Answer) -> bool:
    """Return whether all cases are as claimed, or most cases if the paper claims most."""
    assert answer.out_of is not None
    return answer.value == answer.out_of if _is_all(claim) else float(answer.value or 0) > answer.out_of / 2


def _is_all(claim: Claim) -> bool:
    """Return whether the paper claims all cases, as in 100 % of cases or 24 of 24 cases, and not most of them."""
    printed = read_printed(claim.value)
    assert printed is not None
    return printed.value == (100 if claim.unit.startswith("%") else float(claim.unit.split()[1]))


def _named(cases: pd.Index) -> str:
    """Cases in words: models with their quantities."""
    by_model: dict[str, list[str]] = {}
    for phase, model, quantity in cases:
        name = QUANTITIES.get(quantity, ENERGY)
        by_model.setdefault(f"{model} ({PHASES[phase]}, ", []).append(name)
    return "; ".join(f"{model}{', '.join(names)})" for model, names in by_model.items())


def _notes(cases: pd.DataFrame, metered: set[str]) -> list[str]:
    """What a reader should know of a number that a claim has here."""
    notes: list[str] = []
    if set(cases.index.unique("quantity")) == {"run_time"}:
        return notes
    if cases["estimated"].eq(True).any():
        notes.append("energy is estimated from processor time, so that it follows time")
    absent = [words for name, words in ENERGIES.items() if name not in metered]
    return [*notes, *([f"not metered: {', '.join(absent)}"] if absent else [])]


def _finding_on_accuracy(claim: Claim, measured: Measured) -> Finding:
    """The finding on one claim about accuracies, from the trainings of both frameworks."""
    model, better = claim.arguments["model"], claim.arguments["better"]
    other = FRAMEWORKS[1 - FRAMEWORKS.index(better)]
    measured_by = {framework: (way, values) for of, framework, _, way, values in accuracies(measured) if of == model}
    if set(measured_by) != set(FRAMEWORKS):
        return _undecided(claim, f"not measured here: the accuracy of {model} in both frameworks")
    way = measured_by[better][0]
    means = {name: float(np.mean(values)) for name, (_, values) in measured_by.items()}
    high, low = (means[other], means[better]) if way == LOWER else (means[better], means[other])
    p = p_of_accuracies(measured_by[better][1], measured_by[other][1])
    metric = ALL_METRICS[METRICS[model]].words
    numbers = ", ".join(f"{name} {means[name]:.4g} of {len(measured_by[name][1])}" for name in FRAMEWORKS)
    why = f"{metric}, mean of trainings: {numbers}"
    if p is None or p > ALPHA:
        verdict, why = UNDECIDED, f"the difference could be that of weights at the beginning; {why}"
    else:
        verdict = SAME if high > low else OPPOSITE
    return _finding(claim, here=high / low if low else None, out_of=None, verdict=verdict, p=p, why=why)


def _undecided(claim: Claim, why: str) -> Finding:
    return _finding(claim, here=None, out_of=None, verdict=UNDECIDED, p=None, why=why)


def _finding(
    claim: Claim, *, here: float | None, out_of: int | None, verdict: str, p: float | None, why: str
) -> Finding:
    own = {"id": claim.id, "where": claim.where, "claim": claim.claim, "published": claim.value, "unit": claim.unit}
    return Finding(**own, here=here, out_of=out_of, verdict=verdict, p=p, why=why)


def answers(tests: pd.DataFrame, phase: str) -> Mapping[str, str]:
    """The models in which a framework is shown to take less energy in a phase, in words, and those in which none is.

    Returns:
        Keys: FRAMEWORKS and an empty one; a framework without any has an empty text.
    """
    energy = tests.xs(phase, level="phase").xs(ENERGY, level="quantity")
    known = energy[energy[list(FRAMEWORKS)].notna().all(axis=1)]
    shown = known.apply(cheaper, axis=1) if len(known) else pd.Series(dtype=object)
    return {key: ", ".join(known.index[shown.isna() if not key else shown == key]) for key in (*FRAMEWORKS, "")}


METRICS = {
    "NCF": "hit_rate_10",
    "Transformer-xl": "perplexity",
    "GNMT": "bleu",
    "ResNet-50": "top5_error",
    "Mask R-CNN": "mask_box_ap",
    "SSD": "box_ap",
}
"""By model, the metric of the paper (3.4, RQ2): hit rate, perplexity, BLEU, top-5 error, average precision of boxes."""


def accuracies(measured: Measured) -> Iterator[tuple[str, str, str, str, list[float]]]:
    """Model, framework, metric, which values of it are better, and its values, of all trainings that count.

    Every training begins from other weights, so the values show how much an accuracy depends on chance; the paper
    has one run of each. The metric is the one that the paper names, see METRICS.
    """
    by_place: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in measured.records:
        model, framework = model_of(record["cell"]["workload"]), RUNTIMES.get(record["cell"]["runtime"])
        if model and framework and record["cell"]["phase"] == "train" and counts(record):
            by_place.setdefault((model, framework), []).append(record["quality"])
    for (model, framework), qualities in by_place.items():
        name = METRICS[model]
        known = [quality[name] for quality in qualities if name in quality]
        values = [float(value["value"]) for value in known if value["value"] is not None]
        if values:
            yield model, framework, name, str(known[0]["better"]), values


def by_model(measured: Measured) -> dict[str, dict[str, tuple[str, list[float]]]]:
    """Models with accuracies in both frameworks: by framework, which values are better, and the values."""
    models: dict[str, dict[str, tuple[str, list[float]]]] = {}
    for model, framework, _, way, values in accuracies(measured):
        models.setdefault(model, {})[framework] = way, values
    return {model: models[model] for model in METRICS if set(models.get(model, ())) == set(FRAMEWORKS)}


def p_of_accuracies(a: list[float], b: list[float]) -> float | None:
    """Welch's two-sided p of two frameworks' accuracies; None where it cannot be known."""
    if min(len(a), len(b)) < 2 or (np.ptp(a) == 0 and np.ptp(b) == 0):
        return None
    p = float(stats.ttest_ind(a, b, equal_var=False).pvalue)
    return p if np.isfinite(p) else None


def accuracies_of_trainings(measured: Measured) -> Table:
    """The accuracies of both frameworks' trainings, model by model, in the metric that the paper names."""
    rows = []
    for model, by_framework in by_model(measured).items():
        row: dict[str, Any] = {"model": model, "metric": METRICS[model], "better": by_framework[FRAMEWORKS[0]][0]}
        for name in FRAMEWORKS:
            values = by_framework[name][1]
            row |= {name: float(np.mean(values)), f"{name}_low": min(values), f"{name}_high": max(values)}
            row |= {f"{name}_runs": len(values)}
        rows.append({**row, "p": p_of_accuracies(*(by_framework[name][1] for name in FRAMEWORKS))})
    ends = [f"{name}{end}" for name in FRAMEWORKS for end in ("", "_low", "_high", "_runs")]
    data = pd.DataFrame(rows, columns=["model", "metric", "better", *ends, "p"]).astype({"p": "float64"})
    shown: dict[str, Show] = {
        "Model": text_of("model"),
        "Metric": lambda r: ALL_METRICS[r["metric"]].words,
        "Better": text_of("better"),
        **{f"{NAMES[name]}, mean": number(name) for name in FRAMEWORKS},
        **{f"{NAMES[name]}, from": number(f"{name}_low") for name in FRAMEWORKS},
        **{f"{NAMES[name]}, to": number(f"{name}_high") for name in FRAMEWORKS},
        "Trainings": text_of("pytorch_runs"),
        "p": lambda r: significant(r["p"], 2),
    }
    caption = "Accuracies of the measured trainings, each from other weights at the beginning; p: Welch's t"
    return table_of("accuracies", caption, data, shown)
