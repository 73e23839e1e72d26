"""Questions of a reader and the study's answers to them, with their numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framewatt.prepare.parity_sheet import DIFFERENT, ROUNDING, SAME
from framewatt.report.answers import StudyAnswers
from framewatt.report.evidence import MUCH_VARIATION_PERCENT, Evidence, SamplerLoad, name_of
from framewatt.report.material import ENERGY, TIME
from framewatt.report.numbers import p_value, plural, si, significant
from framewatt.report.sentences import (
    disturbances_sentence,
    full_sentence,
    machines_sentence,
    set_aside_sentence,
    was,
    with_all_sentence,
)

_ASSUMED = (
    "Differences between blocks (without blocks, between runs) are taken for noise that is independent of earlier "
    "blocks and of one kind. If noise goes on from block to block, or if a cell is much slower in a few of its runs, "
    "answers are wrong more often than stated: in up to 45 % of simulated studies one of two equal cells is named the "
    "cheapest, instead of in 5 %."
)
_NO_SIGN = "There is no sign of either. Few blocks would not show one."


@dataclass(frozen=True)
class Question:
    """A question of a reader and the study's answer, one sentence per group or fact."""

    question: str
    sentences: Sequence[str]


def questions_of(answers: StudyAnswers, parity: Sequence[Mapping[str, Any]]) -> list[Question]:
    """Return every question that the study can answer, most interesting first.

    Args:
        answers: of the study.
        parity: records of comparisons of a model with the same one in another framework.
    """
    what = " and ".join(answers.compared[:1]).replace("_", " ")
    evidence = answers.evidence
    machines = [machines_sentence(one) for quantity in (ENERGY, TIME) for one in answers.over_machines[quantity]]
    every = [
        Question("Do the machines agree?", machines),
        Question(f"Which {what} takes the least energy?", [*_costs(answers, ENERGY), *_tests(evidence)]),
        Question(f"Which {what} takes the least time?", _costs(answers, TIME)),
        Question("What do these answers assume?", _assumptions(answers)),
        Question("Is a model the same in every framework?", _parity(parity)),
        Question("Is a model the same after export?", _exports(evidence)),
        Question("Does energy follow time?", _correlations(evidence)),
        Question("How well do runs repeat?", _repeatability(answers)),
        Question("Did measuring disturb what was measured?", _sampler(evidence.sampler)),
        Question("Did others disturb what was measured?", _disturbances(answers)),
    ]
    return [one for one in every if one.sentences]


def _costs(answers: StudyAnswers, quantity: str) -> list[str]:
    """State the answer of every group that has runs, for one quantity."""
    cells, sentences = answers.evidence.cells, []
    for answer in answers.by_quantity[quantity]:
        if answer.best:
            numbers = cells.get(answer.reference)
            mean = None if numbers is None else numbers.energy_j if quantity == ENERGY else numbers.time_s
            sentences.append(full_sentence(answer, mean, "J" if quantity == ENERGY else "s"))
    return sentences


def _tests(evidence: Evidence) -> list[str]:
    return [
        f"{one.test} over {'' if one.flags else 'the '}{one.n_cells} cells{f' of {one.group}' if one.group else ''}: "
        f"{p_value(one.p)}{f' ({one.flags})' if one.flags else ''}."
        for one in evidence.tests
    ]


def _assumptions(answers: StudyAnswers) -> list[str]:
    """State the assumptions of the tests, and signs that runs do not meet them."""
    if not any(one.compared for one in answers.by_quantity[ENERGY]):
        return []
    signs = [
        f"{one.group.name}, {quantity}: {sign}"
        for quantity in (ENERGY, TIME)
        for one in answers.by_quantity[quantity]
        for sign in one.doubts
    ]
    return [_ASSUMED, *(signs or [_NO_SIGN])]


def _parity(sheets: Sequence[Mapping[str, Any]]) -> list[str]:
    """State how many models are the same ones with the same weights, and one sentence for each that is not."""
    if not sheets:
        return []
    same = sum(sheet.get("verdict") == SAME for sheet in sheets)
    sentences = [
        f"{same} of {plural(len(sheets), 'model')} give the same outputs, losses and gradients as the same model in "
        "another framework, with the same weights, within the tolerances of fp32."
    ]
    for sheet in sheets:
        if sheet.get("verdict") == DIFFERENT:
            order = ", or has its layers in another order" if sheet.get("matched_by") == "order" else ""
            beyond = ", ".join(sheet["beyond"])
            sentences.append(f"{name_of(sheet)} is another model{order}: beyond tolerance: {beyond}.")
        elif sheet.get("verdict") == ROUNDING:
            sentences.append(
                f"{name_of(sheet)} is not distinguishable from rounding: its {', '.join(sheet['rounding'])} differ "
                "no more than those of the reference do with weights that differ by rounding."
            )
        elif sheet.get("verdict") != SAME:
            why = sheet.get("not_carried") or sheet.get("reason")
            sentences.append(f"{name_of(sheet)} could not be compared: {why}.")
    return sentences


def _exports(evidence: Evidence) -> list[str]:
    checks = evidence.exports
    if checks is None:
        return []
    words = f"{checks.equal} of {plural(checks.exports, 'export')} give the answers of their source"
    if checks.worst:
        words += f"; the largest difference is {significant(checks.difference, 2)}, for {checks.worst}"
        words += "" if checks.tolerance is None else f" (allowed: {checks.tolerance:g})"
    return [f"{words}."]


def _correlations(evidence: Evidence) -> list[str]:
    """State rho within groups; neither a rho over all groups nor a p, since the cells were chosen and are no sample."""
    return [
        f"{one.group}: Spearman's rho of the energy and time of its {one.n_cells} cells is {one.rho:.2f}"
        f"{'; estimated energy follows time by construction.' if one.estimated else '.'}"
        for one in evidence.correlations
    ]


def _repeatability(answers: StudyAnswers) -> list[str]:
    variation = answers.evidence.repeatability
    if variation is None:
        return []
    words = f"The largest coefficient of variation is {significant(variation.cv_percent)} %: {variation.quantity} "
    words += f"per {answers.per} of {variation.cell}, over {plural(variation.runs, 'run')}"
    if variation.cv_after_blocks_percent is not None:
        words += f"; {significant(variation.cv_after_blocks_percent)} % without what whole blocks have in common"
    sentences = [f"{words}."]
    if variation.n_much:
        cells = f"{variation.n_much} of {plural(variation.n_cells, 'cell')}"
        sentences.append(f"{cells} vary by more than {MUCH_VARIATION_PERCENT:g} %.")
    else:
        sentences.append(f"No cell varies by more than {MUCH_VARIATION_PERCENT:g} %.")
    if variation.median_percent is not None:
        sentences.append(
            "Without what whole blocks have in common, the energy of a cell's runs varies by "
            f"{significant(variation.median_percent, 2)} % in the median cell. Use that to plan more runs "
            f"(statistics.noise: {variation.median_percent / 100:.2g})."
        )
    return sentences + [
        f"Over the study {drift.quantity} drifted: the last runs took "
        f"{significant(abs(drift.change_percent), 2)} % {'more' if drift.change_percent > 0 else 'less'} than the "
        f"first (r = {drift.r:.2f} over {drift.n} {drift.over})."
        for drift in answers.evidence.drifts
    ]


def _sampler(load: SamplerLoad | None) -> list[str]:
    if load is None:
        return []
    return [
        f"The sampling process took {significant(100 * load.median_share, 2)} % of one core in the median run, "
        f"{significant(100 * load.largest_share, 2)} % at most; "
        f"at worst, 1 % of a run's samples were over {si(load.late_s, 's')} late."
    ]


def _disturbances(answers: StudyAnswers) -> list[str]:
    """Summarise what others did during the runs; only what was set aside where no run has a witness."""
    disturbances, aside = answers.disturbances, answers.set_aside
    first, last = set_aside_sentence(aside, answers.planned), with_all_sentence(aside)
    if not disturbances.observed:
        return [sentence for sentence in (first, last) if sentence]
    judged = plural(disturbances.observed - disturbances.unknown, "run")
    none = f"Others disturbed none of the {judged} that could be judged."
    sentences = [first, disturbances_sentence(disturbances) or none]
    if disturbances.unknown:
        unknown = plural(disturbances.unknown, "run")
        sentences.append(f"For {unknown} this is unknown: the window was too short, or the kernel has no numbers.")
    sentences.append(last)
    if count := disturbances.repeated:
        sentences.append(f"{plural(count, 'run')} {was(count)} measured twice, since the first try was disturbed.")
    if waits_s := disturbances.waits_s:
        runs = plural(len(waits_s), "run")
        sentences.append(f"Before {runs} the machine was given {sum(waits_s):.0f} s to become quiet.")
    return [sentence for sentence in sentences if sentence]
