"""What to deploy, by workload and data set: choices of equal quality, the best by objective, the Pareto front."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from framewatt.frames.factor_words import factors_of, in_words, label, sorted_by
from framewatt.frames.headline import counts
from framewatt.frames.quality import is_share, title_of, unit_of, words_of
from framewatt.report.material import Material
from framewatt.report.numbers import known_or_none, listed, p_value, si, significant
from framewatt.report.tables import Table
from framewatt.statistics.accuracies import BEST, NOT_APART, OBJECTIVES, ON_THE_SAME, WORSE, samples_needed
from framewatt.statistics.best_set import mixing
from framewatt.statistics.deploy import BEST_QUALITY, TOO_SLOW
from framewatt.study.factors import GIVEN, given_in, rate_of
from framewatt.study.statistical_tests import is_paired
from framewatt.tables.columns import ESTIMATED
from framewatt.tables.deploy import INFERENCES, with_costs
from framewatt.tables.ratios import ratio_range

CHOICES = "deploy"
"""Name of the table of choices, which is in the section of what to deploy."""

_OBJECTIVE_WORDS = {
    "energy": ("Least energy a {unit}", "J"),
    "latency": ("Lowest latency of a {batch} (95th percentile)", "s"),
    "throughput": ("Highest throughput, by time a {unit}", "s"),
}


@dataclass(frozen=True)
class Standing:
    """How a choice compares in an objective.

    Attributes:
        verdict: of framewatt.statistics.accuracies: BEST, NOT_APART, NOT_LESS or WORSE.
        value: mean of the objective's quantity, in its unit; None where unknown.
        ratio: to the choice of least geometric mean in the confidence set of the best; None where not compared.
        low: lower end of the ratio's interval; None where unknown.
        high: upper end.
    """

    verdict: str
    value: float | None
    ratio: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Choice:
    """A cell that could be deployed: it has runs that count and keeps up with its load.

    Attributes:
        name: as short as keeps it distinct: `torch2onnx/cpu batch 32`.
        energy_j: joules of a unit of work; None where unknown, as all numbers.
        latency_s: 95th percentile of a batch, or of a request.
        estimated: whether energy is estimated.
        metric: name of the metric of its quality.
        quality: value of the metric.
        as_good: whether it is as good as the choice of best quality.
        quality_p: corrected p of "it is not".
        quality_note: what was tested, or why nothing was.
        on_front: whether it is on the Pareto front.
        standings: by objective; only of choices that are as good as the best.
        kwh: of INFERENCES inferences.
        co2e_g: of the same.
        price: of the same, in `currency`.
        currency: empty where the study has no price.
    """

    name: str
    energy_j: float | None
    latency_s: float | None
    estimated: bool
    metric: str
    quality: float | None
    as_good: bool
    quality_p: float | None
    quality_note: str
    on_front: bool
    standings: Mapping[str, Standing]
    kwh: float | None
    co2e_g: float | None
    price: float | None
    currency: str


@dataclass(frozen=True)
class Deployment:
    """The choices for a workload and data set.

    Attributes:
        task: what is given, as a heading: `resnet50 on digits, load 20/s`.
        choices: in the order of the table.
        overloaded: names of cells that do not keep up with the rate of requests.
        without: names of cells without a run that counts.
        by_rate: whether requests arrive at a rate.
        mixed: machines or sessions that comparisons of these choices mix.
        margin: largest difference of quality that counts as none.
        samples_needed: size of a test set that would show equal accuracy of all, if all answered every sample alike;
            0 where the test set of the study is large enough, or another reason keeps them apart.
    """

    task: str
    choices: Sequence[Choice]
    overloaded: Sequence[str]
    without: Sequence[str]
    by_rate: bool
    mixed: Sequence[str]
    margin: float
    samples_needed: int


@dataclass(frozen=True)
class Recommendation:
    """What the page states on a deployment.

    Attributes:
        task: its heading.
        sentences: on quality, each objective, costs and the Pareto front.
        in_time: choices with energy and latency in numbers and in words, for the page's deadline.
    """

    task: str
    sentences: Sequence[str]
    in_time: Sequence[Mapping[str, str | float]]


@dataclass(frozen=True)
class DeploySection:
    """What to deploy: the table of choices, and a recommendation for each workload and data set."""

    tables: Sequence[Table]
    recommendations: Sequence[Recommendation]


def deployments_of(material: Material) -> list[Deployment]:
    """Collect the choices of every workload and data set that has inference runs that count."""
    cells = with_costs(material.choices, material.plan["settings"].get("costs", {}))
    if not (cells["n"] > 0).any():
        return []
    given = given_in(factors_of(cells))
    groups = sorted_by(cells, given).groupby(given, sort=False)
    return [
        _deployment(material, dict(zip(given, levels, strict=True)), part)
        for levels, part in groups
        if (part["n"] > 0).any()
    ]


def _deployment(material: Material, levels: Mapping[str, Any], cells: pd.DataFrame) -> Deployment:
    names = _names(cells, material.compared)
    rows = cells[cells["n"] > 0]
    late = rows["quality_note"] == TOO_SLOW
    used = rows[~late].to_dict("records")
    choices = [_choice(row, names[row["cell"]]) for row in used]
    settings = material.plan["settings"]["statistics"]
    runs = material.totals[counts(material.totals) & material.totals["cell"].isin(list(names))]
    others = [in_words(name, level) for name, level in levels.items() if name not in ("workload", "dataset")]
    return Deployment(
        task=", ".join([f"{levels['workload']} on {levels['dataset']}", *others]),
        choices=choices,
        overloaded=[names[cell] for cell in rows["cell"][late]],
        without=[names[cell] for cell in cells["cell"][cells["n"] == 0]],
        by_rate=bool(used) and rate_of(used[0].get("load")) is not None,
        mixed=mixing(runs.set_index("repetition"), paired=is_paired(settings)),
        margin=settings["accuracy_margin"],
        samples_needed=_samples_needed(choices, settings),
    )


def _samples_needed(choices: Sequence[Choice], settings: Mapping[str, Any]) -> int:
    best = next((choice.quality for choice in choices if choice.quality_note == BEST_QUALITY), None)
    unproved = [choice for choice in choices if not choice.as_good and choice.quality_p is not None]
    if not any(choice.quality == best and ON_THE_SAME in choice.quality_note for choice in unproved):
        return 0
    return samples_needed(len(choices) - 1, settings["accuracy_margin"], settings["alpha"])


def _names(cells: pd.DataFrame, compared: Sequence[str]) -> dict[str, str]:
    """Return names of cells, by cell: only as long as keeps them distinct."""
    others = [name for name in factors_of(cells) if name not in (*compared, *GIVEN, "phase")]
    varied = [name for name in others if cells[name].nunique() > 1]
    return {
        row["cell"]: " ".join([label(row, compared), *(in_words(name, row[name]) for name in varied)]).strip()
        or row["cell"]
        for row in cells.to_dict("records")
    }


def _choice(row: Mapping[Any, Any], name: str) -> Choice:
    standings = {
        objective: Standing(
            row[f"{objective}_verdict"],
            known_or_none(row[quantity]),
            *(known_or_none(row[f"{objective}_ratio{end}"]) for end in ("", "_low", "_high")),
        )
        for objective, quantity in OBJECTIVES.items()
        if isinstance(row[f"{objective}_verdict"], str)
    }
    return Choice(
        name=name,
        energy_j=known_or_none(row["energy_per_sample_j"]),
        latency_s=known_or_none(row["latency_p95_s"]),
        estimated=bool(row["estimated"]),
        metric=row["metric"],
        quality=known_or_none(row["quality"]),
        as_good=_is_set(row["as_good"]),
        quality_p=known_or_none(row["quality_p"]),
        quality_note=str(row["quality_note"]),
        on_front=_is_set(row["on_front"]),
        standings=standings,
        **{cost: known_or_none(row[cost]) for cost in ("kwh", "co2e_g", "price")},
        currency=row["currency"],
    )


def _is_set(value: Any) -> bool:
    return value is True or value == 1


def deploy_section(deployments: Sequence[Deployment], tables: Sequence[Table]) -> DeploySection | None:
    """Lay out what to deploy; None without inference runs that count.

    Args:
        deployments: from `deployments_of`.
        tables: of the study.
    """
    if not deployments:
        return None
    return DeploySection([table for table in tables if table.name == CHOICES], [*map(recommend, deployments)])


def recommend(deployment: Deployment) -> Recommendation:
    """Put a deployment in words."""
    choices, late = deployment.choices, ""
    if deployment.overloaded:
        late = f"Overloaded at this rate, and so no choice: {listed(deployment.overloaded)}."
    if not choices:
        return Recommendation(deployment.task, [late], [])
    sentences = [
        _quality(deployment),
        late,
        f"Of {listed(deployment.without)} no run counts." if deployment.without else "",
        *(_objective(objective, deployment) for objective in OBJECTIVES),
        _costs(choices),
        _front(choices),
        f"These choices are compared over {'; '.join(deployment.mixed)}." if deployment.mixed else "",
    ]
    in_time: list[Mapping[str, str | float]] = [
        {
            "name": choice.name,
            "energy_j": choice.energy_j,
            "energy": si(choice.energy_j, "J") + (ESTIMATED if choice.estimated else ""),
            "latency_s": choice.latency_s,
            "latency": si(choice.latency_s, "s"),
        }
        for choice in choices
        if choice.as_good and choice.energy_j is not None and choice.latency_s is not None
    ]
    return Recommendation(deployment.task, [sentence for sentence in sentences if sentence], in_time)


def _quality(deployment: Deployment) -> str:
    choices = deployment.choices
    metrics = [choice.metric for choice in choices]
    if all(choice.quality is None for choice in choices):
        return f"{title_of(metrics)} is unknown of every choice, so that choices are compared without it."
    best = next(choice for choice in choices if choice.quality_note == BEST_QUALITY)
    equal = [choice for choice in choices if choice.as_good and choice is not best]
    others = [choice for choice in choices if not choice.as_good]
    margin = f"{deployment.margin:g}" + ("" if is_share(best.metric) else " of it")
    words = f"{best.name} has the best {words_of(metrics)}, {significant(best.quality)}"
    if equal:
        words += f"; equal to it within {margin}: {_each(equal, _how_equal)}"
    if others:
        words += f"; not shown to be equal, and left out below: {_each(others, _how_equal)}"
    if deployment.samples_needed:
        needed = f"{deployment.samples_needed:,}"
        words += f"; a test set of {needed} samples, all of them answered alike, would show that they are equal"
    return f"{words}."


def _how_equal(choice: Choice) -> str:
    if choice.quality is None:
        return choice.quality_note
    p = p_value(choice.quality_p) if choice.quality_p is not None else ""
    return f"{significant(choice.quality)}, {', '.join(filter(None, [p, choice.quality_note]))}"


def _objective(objective: str, deployment: Deployment) -> str:
    """State the choices that may be the best in an objective, no more surely than the confidence set allows."""
    words, unit = _OBJECTIVE_WORDS[objective]
    choices = deployment.choices
    words = words.format(
        unit=unit_of(choice.metric for choice in choices), batch="request" if deployment.by_rate else "batch"
    )
    judged = [(choice, choice.standings[objective]) for choice in choices if objective in choice.standings]
    inside = [(choice, standing) for choice, standing in judged if standing.verdict in (BEST, NOT_APART)]
    if not inside:
        return ""
    inside.sort(key=lambda one: math.inf if one[1].ratio is None else one[1].ratio)
    first, standing = inside[0]
    mark = ESTIMATED if objective == "energy" and first.estimated else ""
    amount = f"{first.name}, {si(standing.value, unit)}{mark}"
    if len(judged) == 1:
        if any(choice.quality_note == BEST_QUALITY for choice in choices) and len(choices) > 1:
            return f"{words}: {amount}; no other choice is known to be as good in {words_of([first.metric])}."
        return f"{words}: {amount}; there is no other choice."

    def ratio_words(choice: Choice) -> str:
        one = choice.standings[objective]
        return "not compared" if one.ratio is None else ratio_range(one.ratio, one.low, one.high)

    others = [one for one in judged if one not in inside]
    others.sort(key=lambda one: math.inf if one[1].ratio is None else one[1].ratio)
    if len(inside) == 1:
        nearest = others[0][0]
        return (
            f"{words}: {amount}; {'the next, ' if len(others) > 1 else ''}{nearest.name} takes {ratio_words(nearest)}."
        )
    sentence = f"{words}: not settled; {amount}, and "
    sentence += f"{_each([choice for choice, _ in inside[1:]], ratio_words)} may be the best"
    if others:
        which = others[0][0].name if len(others) == 1 else f"the {len(others)} others"
        more = all(one.verdict == WORSE for _, one in others)
        sentence += (
            f"; {which} {'takes' if len(others) == 1 else 'take'} more"
            if more
            else f"; one of these takes no more than {which}"
        )
    return f"{sentence}."


def _costs(choices: Sequence[Choice]) -> str:
    """State what many inferences take, with the choice of least energy and with that of most."""
    costed = sorted((choice for choice in choices if choice.kwh is not None), key=lambda choice: choice.kwh or 0)
    if not costed:
        return ""
    ends = costed if len(costed) == 1 else [costed[0], costed[-1]]
    taken = "; ".join(f"{_amounts(choice)} by {choice.name}" for choice in ends)
    return f"{INFERENCES:,} inferences take {taken}."


def _amounts(choice: Choice) -> str:
    amounts = [si(1000 * (choice.kwh or 0), "Wh")]
    amounts += [] if choice.co2e_g is None else [f"{significant(choice.co2e_g)} gCO2e"]
    amounts += [] if choice.price is None else [f"{significant(choice.price)} {choice.currency}"]
    return ", ".join(amounts) + (ESTIMATED if choice.estimated else "")


def _front(choices: Sequence[Choice]) -> str:
    """Name the Pareto front of means; their differences may not be significant."""
    front = [choice.name for choice in choices if choice.on_front]
    metrics = [choice.metric for choice in choices]
    quality = "" if any(choice.quality is None for choice in choices) else f" and {words_of(metrics)}"
    return f"On the Pareto front of mean energy, latency{quality}: {', '.join(front)}." if front else ""


def _each(choices: Sequence[Choice], words: Callable[[Choice], str]) -> str:
    return ", ".join(f"{choice.name} ({words(choice)})" for choice in choices)
