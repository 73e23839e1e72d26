"""The answers in words, with their numbers."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pandas as pd

from framewatt.report import disturbed
from framewatt.report.material import Material
from framewatt.report.numbers import interval, known, p_value, plural, si, significant
from framewatt.report.ranking import Ranking, against, rankings, sentence

_LEAD_GROUPS = 3
_MUCH_CV_PERCENT = 10.0


@dataclass(frozen=True)
class Answer:
    """A question of the reader and what the study says to it, a sentence a group or fact."""

    question: str
    sentences: list[str]


def lead(material: Material) -> str:
    """The study's answer in one paragraph."""
    head, planned = material.headline, material.plan["cells"]
    ranked = [r for r in rankings(material.cells, head.energy, material.compared, planned) if len(r.cells) > 1]
    count = f"{material.counted} of {material.planned} planned runs count."
    if not ranked:
        none = "No two comparable cells have an energy that counts, so the study has no answer."
        return " ".join(filter(None, [none, disturbed.in_all(material), count]))
    if len(ranked) <= _LEAD_GROUPS:
        parts = [_short(ranking, material) for ranking in ranked]
    else:
        wins = Counter(ranking.label(ranking.least) for ranking in ranked)
        winners = ", ".join(f"{name} in {n}" for name, n in wins.most_common())
        spreads = [ranking.most["mean"] / ranking.least["mean"] for ranking in ranked]
        parts = [
            f"Of {len(ranked)} groups of comparable cells, least energy a {head.per} went to {winners}; the "
            f"most expensive took {significant(min(spreads))} to {significant(max(spreads))} times as much as the "
            "most frugal."
        ]
        unranked = sum(len(ranking.without) for ranking in ranked)
        parts += [f"Of {plural(unranked, 'cell')} in these groups no run counts."] if unranked else []
    return " ".join(
        filter(None, [*parts, material.estimate and f"{material.estimate}.", disturbed.in_all(material), count])
    )


def _short(ranking: Ranking, material: Material) -> str:
    least, most = ranking.least, ranking.most
    found = against(material.comparisons, material.headline.energy, least["cell"], most["cell"], material.alpha)
    ratio = found.ratio if found else most["mean"] / least["mean"]
    bounds = interval(found.ratio_low, found.ratio_high) if found else ""
    told = (
        f"{ranking.name}: {ranking.label(least)} took the least energy, {si(least['mean'], 'J')} a "
        f"{material.headline.per}; {ranking.label(most)} took the most, {significant(ratio)} times as much{bounds}."
        f"{ranking.remark}"
    )
    return " ".join(filter(None, [told, disturbed.of_cells(material, {least["cell"], most["cell"]})]))


def answers(material: Material) -> list[Answer]:
    """Every question that the study has something to say to, in the order of interest."""
    head = material.headline
    what = " and ".join(material.compared[:1]).replace("_", " ")
    ranked = {
        quantity: [
            sentence(ranking, material.comparisons, unit, head.per, material.alpha)
            for ranking in rankings(material.cells, quantity, material.compared, material.plan["cells"])
        ]
        for quantity, unit in ((head.energy, "J"), (head.time, "s"))
    }
    found = [
        Answer(f"Which {what} takes the least energy?", ranked[head.energy] + _omnibus(material)),
        Answer(f"Which {what} takes the least time?", ranked[head.time]),
        Answer("Is a model the same after export?", _exports(material)),
        Answer("Does energy follow time?", _correlation(material)),
        Answer("How well do runs repeat?", _repeatability(material)),
        Answer("Did measuring disturb what was measured?", _sampler(material)),
        Answer("Did others disturb what was measured?", disturbed.sentences(material)),
    ]
    return [answer for answer in found if answer.sentences]


def _omnibus(material: Material) -> list[str]:
    """Whether any cell of a group differs, by the test over the whole group."""
    omnibus = material.omnibus
    whole = omnibus[(omnibus["quantity"] == material.headline.energy) & omnibus["cell_a"].isna() & omnibus["p"].notna()]
    return [
        f"{row.test} over {'the ' if not row.flags else ''}{row.n_cells} cells"
        f"{f' of {row.group}' if isinstance(row.group, str) else ''}: {p_value(row.p)}"
        f"{f' ({row.flags})' if row.flags else ''}."
        for row in whole.assign(flags=whole["flags"].fillna("")).itertuples()
    ]


def _exports(material: Material) -> list[str]:
    checked = [export for export in material.exports if known(export.get("max_abs_difference"))]
    if not material.exports:
        return []
    equal = [export for export in checked if export["status"] == "ok"]
    words = f"{len(equal)} of {plural(len(material.exports), 'export')} give the scores of their source"
    if checked:
        worst = max(checked, key=lambda export: export["max_abs_difference"])
        words += f"; the largest difference is {significant(worst['max_abs_difference'], 2)}, for {name_of(worst)}"
        words += f" (allowed: {worst['tolerance']:g})" if known(worst.get("tolerance")) else ""
    return [words + "."]


def name_of(record: Any) -> str:
    """What an export or environment is called."""
    return str(record.get("model") or record.get("name") or record.get("framework") or "unnamed")


def _correlation(material: Material) -> list[str]:
    correlations = material.correlations
    rows = correlations[(correlations["level"] == "cell means") & correlations["rho"].notna()]
    phases = {"train": "In training", "infer": "In inference", "all": "Over all"}
    sentences = []
    for row in rows.itertuples():
        words = (
            f"{phases.get(row.phase, row.phase)}, Spearman's rho of energy and time per {material.headline.per} "
            f"over {row.n} cells is "
        )
        words += f"{row.rho:.2f}{interval(row.rho_low, row.rho_high)}, {p_value(row.p)}"
        sentences.append(words + ("; estimated energy follows time by construction." if row.estimated else "."))
    return sentences


def _repeatability(material: Material) -> list[str]:
    cells, head = material.cells, material.headline
    rows = cells[cells["quantity"].isin(head.quantities) & cells["cv_percent"].notna()]
    if rows.empty:
        return []
    worst = rows.loc[rows["cv_percent"].idxmax()]
    what = {head.energy: "energy", head.time: "time"}[worst["quantity"]]
    words = f"The largest coefficient of variation is {significant(worst['cv_percent'])} %: {what} per {head.per} of "
    words += f"{worst['cell']}, over {plural(int(worst['n']), 'run')}."
    much = rows.loc[rows["cv_percent"] > _MUCH_CV_PERCENT, "cell"].nunique()
    over = f"{much} of {plural(rows['cell'].nunique(), 'cell')} vary by more than {_MUCH_CV_PERCENT:g} %."
    return [words, over if much else f"No cell varies by more than {_MUCH_CV_PERCENT:g} %."]


def _sampler(material: Material) -> list[str]:
    summaries = [record["sampler"] for record in material.records if record["sampler"]]
    shares = [summary["core_share"] for summary in summaries if known(summary.get("core_share"))]
    if not shares:
        return []
    late = max((summary.get("lateness_p99_s") or 0.0 for summary in summaries), default=0.0)
    middle = float(pd.Series(shares).median())
    return [
        f"The sampling process took {significant(100 * middle, 2)} % of one core in the median run, "
        f"{significant(100 * max(shares), 2)} % at most; "
        f"at worst, 1 % of a run's samples were over {si(late, 's')} late."
    ]
