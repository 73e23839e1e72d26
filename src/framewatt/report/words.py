"""The study's answers as sentences, with their numbers."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from framewatt.prepare.parity_sheet import DIFFERENT, ROUNDING, SAME
from framewatt.report import disturbed, over_machines
from framewatt.report.answered import answered, doubts_of
from framewatt.report.groups import groups_of
from framewatt.report.material import Material
from framewatt.report.numbers import known, p_value, plural, si, significant

_MUCH_CV_PERCENT = 10.0

_GRANTED = (
    "That what differs between blocks (without blocks, between runs) is noise: independent of what came before, and of "
    "one kind. Where it goes on from block to block, or where a cell is much slower in a few of its runs, answers are "
    "wrong more often than they say: of two equal cells one is named in up to 45 % of simulated studies, not in 5 %."
)
_NO_SIGN = "There is no sign of either, which few blocks would not show."


@dataclass(frozen=True)
class Answer:
    """A question of the reader and the study's answer, one sentence per group or fact."""

    question: str
    sentences: list[str]


def answers(material: Material) -> list[Answer]:
    """Every question that the study can answer, most interesting first."""
    head = material.headline
    what = " and ".join(material.compared[:1]).replace("_", " ")
    ranked = {
        quantity: _costs(material, quantity, spent, unit)
        for quantity, spent, unit in ((head.energy, "energy", "J"), (head.time, "time", "s"))
    }
    found = [
        Answer("Do the machines agree?", _machines(material)),
        Answer(f"Which {what} takes the least energy?", ranked[head.energy] + _omnibus(material)),
        Answer(f"Which {what} takes the least time?", ranked[head.time]),
        Answer("What do these answers take for granted?", _taken_for_granted(material)),
        Answer("Is a model the same in every framework?", _parity(material)),
        Answer("Is a model the same after export?", _exports(material)),
        Answer("Does energy follow time?", _correlation(material)),
        Answer("How well do runs repeat?", _repeatability(material)),
        Answer("Did measuring disturb what was measured?", _sampler(material)),
        Answer("Did others disturb what was measured?", disturbed.sentences(material)),
    ]
    return [answer for answer in found if answer.sentences]


def _machines(material: Material) -> list[str]:
    """What all machines say together, by energy and then by time."""
    head = material.headline
    each = [over_machines.sentences(material, *one) for one in ((head.energy, "energy"), (head.time, "time"))]
    return [sentence for some in each for sentence in some]


def _costs(material: Material, quantity: str, spent: str, unit: str) -> list[str]:
    """The answer of every group that has runs, for one quantity."""
    cells = material.cells[material.cells["quantity"] == quantity]
    means = {str(row["cell"]): row for row in cells.to_dict("records") if known(row["mean"])}
    return [one.in_full(unit, means) for one in answered(material, quantity, spent) if one.best]


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


def _taken_for_granted(material: Material) -> list[str]:
    """The assumptions of the tests, and signs that runs do not keep them."""
    head, found = material.headline, []
    for quantity, spent in ((head.energy, "energy"), (head.time, "time")):
        for one in answered(material, quantity, spent):
            found += [f"{one.group.name}, {spent}: {sign}" for sign in doubts_of(material, one, quantity)]
    compared = any(one.compared for one in answered(material, head.energy, "energy"))
    return [_GRANTED, *(found or [_NO_SIGN])] if compared else []


def _exports(material: Material) -> list[str]:
    # The user's own file has no source.
    compared = ("max_abs_difference", "equal_answers_share")
    found = {name: [export for export in material.exports if known(export.get(name))] for name in compared}
    checked = found["max_abs_difference"]
    both = [*checked, *found["equal_answers_share"]]
    exports = [export for export in material.exports if export["status"] != "ok" or export in both]
    if not exports:
        return []
    equal = [export for export in both if export["status"] == "ok"]
    words = f"{len(equal)} of {plural(len(exports), 'export')} give the answers of their source"
    if checked:
        worst = max(checked, key=lambda export: export["max_abs_difference"])
        words += f"; the largest difference is {significant(worst['max_abs_difference'], 2)}, for {name_of(worst)}"
        words += f" (allowed: {worst['tolerance']:g})" if known(worst.get("tolerance")) else ""
    return [words + "."]


def _parity(material: Material) -> list[str]:
    """How many models are the same ones with the same weights, and a sentence for each that is not."""
    sheets = material.parity
    if not sheets:
        return []
    same = sum(sheet.get("verdict") == SAME for sheet in sheets)
    found = [
        f"{same} of {plural(len(sheets), 'model')} give the same outputs, losses and gradients as the same model in "
        "another framework, with the same weights, within the tolerances of fp32."
    ]
    for sheet in sheets:
        if sheet.get("verdict") == DIFFERENT:
            order = ", or has its layers in another order" if sheet.get("matched_by") == "order" else ""
            found.append(f"{name_of(sheet)} is another model{order}: beyond tolerance: {', '.join(sheet['beyond'])}.")
        elif sheet.get("verdict") == ROUNDING:
            found.append(
                f"{name_of(sheet)} is not told from rounding: its {', '.join(sheet['rounding'])} are no further apart "
                "than the reference's own are, with weights that differ by rounding."
            )
        elif sheet.get("verdict") != SAME:
            found.append(f"{name_of(sheet)} could not be compared: {sheet.get('not_carried') or sheet.get('reason')}.")
    return found


def name_of(record: Any) -> str:
    """Name of an export or environment."""
    return str(record.get("model") or record.get("name") or record.get("framework") or "unnamed")


def _correlation(material: Material) -> list[str]:
    """Rho within groups; neither a rho over all groups nor a p, since the cells were chosen and are no sample."""
    names = groups_of(material.plan)
    rows = material.correlations[material.correlations["rho"].notna()].assign(
        group=lambda frame: frame["group"].fillna("")
    )
    by_group = {row["group"]: row for row in rows.to_dict("records")}
    return [
        f"{group.name}: Spearman's rho of the energy and time of its {by_group[name]['n_cells']} cells is "
        f"{by_group[name]['rho']:.2f}"
        f"{'; estimated energy follows time by construction.' if by_group[name]['estimated'] else '.'}"
        for name, group in names.items()
        if name in by_group
    ]


def _repeatability(material: Material) -> list[str]:
    cells, head = material.cells, material.headline
    rows = cells[cells["quantity"].isin(head.quantities) & cells["cv_percent"].notna()]
    if rows.empty:
        return []
    worst = rows.loc[rows["cv_percent"].idxmax()]
    what = {head.energy: "energy", head.time: "time"}[worst["quantity"]]
    words = f"The largest coefficient of variation is {significant(worst['cv_percent'])} %: {what} per {head.per} of "
    words += f"{worst['cell']}, over {plural(int(worst['n']), 'run')}"
    if known(worst["cv_after_blocks_percent"]):
        words += f"; {significant(worst['cv_after_blocks_percent'])} % less what whole blocks have in common"
    much = rows.loc[rows["cv_percent"] > _MUCH_CV_PERCENT, "cell"].nunique()
    over = f"{much} of {plural(rows['cell'].nunique(), 'cell')} vary by more than {_MUCH_CV_PERCENT:g} %."
    told = [f"{words}.", over if much else f"No cell varies by more than {_MUCH_CV_PERCENT:g} %."]
    usual = rows.loc[rows["quantity"] == head.energy, "cv_after_blocks_percent"].median()
    if known(usual):
        told.append(
            f"Less what whole blocks have in common, runs of a cell vary in energy by {significant(usual, 2)} % in "
            f"the median cell: what a plan for more of them may reckon with (statistics.noise: {usual / 100:.2g})."
        )
    return told + _drift(material)


def _drift(material: Material) -> list[str]:
    """Whether the study as a whole drifted, in words; empty where it did not, or where that is unknown."""
    spent = {material.headline.energy: "energy", material.headline.time: "time"}
    return [
        f"Over the study {spent[row.quantity]} drifted: the last runs took {significant(abs(row.change_percent), 2)} % "
        f"{'more' if row.change_percent > 0 else 'less'} than the first (r = {row.r:.2f} over "
        f"{row.n} {row.over})."
        for row in material.drift.itertuples()
        if row.quantity in spent and str(row.drifts) == "True"
    ]


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
