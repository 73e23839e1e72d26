"""Error, coverage and power of what stands beside the head: each row calls what a study calls."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from frames_factory import training_study

from framewatt.statistics.accuracies import independent_equivalence, paired_equivalence
from framewatt.statistics.assumptions import doubts, drift_of
from framewatt.statistics.best_set import best_set, level_of, p_of_equal
from framewatt.statistics.comparisons import FEWEST_FOR_A_WORD
from framewatt.statistics.effect_size import a12, magnitude, mean_interval, ratio_of_means_interval
from framewatt.statistics.hypothesis_tests import compare_pair, correct
from framewatt.statistics.log_ratios import all_pairs, log_ratio, outlying, residuals, scatter_percent
from framewatt.statistics.power import POWER, detectable_ratio
from framewatt.statistics.trends import fit_trends
from simulated.heads import ALPHA, judge
from simulated.studies import BROKEN, NOISES, RUN_NOISE, logs, truths

ALL = NOISES | BROKEN
AT_MOST, AT_LEAST, ABOUT = "at most", "at least", "about"


@dataclass(frozen=True)
class Row:
    """A share of studies beside its target.

    Attributes:
        what: was asked.
        study: of which kind of study.
        found: the share (or ratio).
        kind: how `found` is to lie to `target`: AT_MOST, AT_LEAST or ABOUT.
        target: the share aimed at.
        studies: how many were drawn; a target is met where `found` misses it by no more than two standard errors.
    """

    what: str
    study: str
    found: float
    kind: str
    target: float
    studies: int

    @property
    def met(self) -> bool:
        """Whether the target is met, but for what so many studies may be off by chance."""
        share = min(max(self.target, 0.01), 0.99)
        chance = 2 * float(np.sqrt(share * (1 - share) / self.studies))
        if self.kind == ABOUT:
            return abs(self.found - self.target) <= max(chance, 0.02)
        over = self.found - self.target if self.kind == AT_MOST else self.target - self.found
        return over <= chance


_DISTURBED, _ALONE = "5 % of runs disturbed", "no blocks (Welch)"
_NOISES = (("normal noise", True), ("skewed noise", True), (_DISTURBED, True), (_ALONE, False))


def rows(scale: int) -> Iterator[Row]:
    """Every row.

    Args:
        scale: studies of a quick procedure; slow ones are drawn in parts of it.
    """
    for part in (_pairs, _at_once, _planned, _intervals, _equal, _accuracies, _odd, _drifts, _trends, _broken):
        yield from part(scale)


def _draw(noise: str, truth: np.ndarray, blocks: int, studies: int, seed: int = 1) -> np.ndarray:
    return logs(NOISES[noise], truth, blocks, studies, np.random.default_rng(seed))


def _pairs(scale: int) -> Iterator[Row]:
    """All pairs of a group, corrected by Holm: any that is called apart where none is; the wrong way round; words."""
    studies = max(50, scale // 5)
    what = "any of 21 pairs is called apart, none is"
    for noise, paired in (("normal noise", True), (_DISTURBED, True), (_ALONE, False)):
        found = all_pairs(_draw(noise, np.ones(7), 8, studies), paired=paired).p_two_sided()
        above = np.triu_indices(7, 1)
        false = [min(p for p in correct(list(one[above]), "holm") if p is not None) <= ALPHA for one in found]
        yield Row(what, f"{noise}, 8 blocks", float(np.mean(false)), AT_MOST, ALPHA, studies)
    wrong = 0
    for cheap, dear in np.exp(_draw(_DISTURBED, np.array([1.0, 1.1]), 12, studies, 2)):
        p = compare_pair("t", cheap, dear).p
        wrong += p is not None and p <= ALPHA and np.log(cheap).mean() > np.log(dear).mean()
    study = f"{_DISTURBED}, 10 % apart, 12 blocks"
    yield Row("the cheaper of two is called dearer", study, wrong / studies, AT_MOST, ALPHA / 2, studies)
    alike = _draw(_ALONE, np.ones(2), FEWEST_FOR_A_WORD, studies)
    large = float(np.mean([magnitude(a12(*one)) == "large" for one in alike]))
    study = f"{FEWEST_FOR_A_WORD} runs, the fewest that have a word"
    yield Row("A12 of cells that do not differ is called large", study, large, AT_MOST, ALPHA, studies)


def _at_once(scale: int) -> Iterator[Row]:
    """All intervals of a group that the answers print, each of which holds by itself."""
    for cells in (2, 7, 20):
        found = best_set(_draw("normal noise", np.ones(cells), 8, scale), ALPHA, paired=True)
        studies = np.arange(scale)
        low, high = (ends[studies, :, found.reference] for ends in found.pairs.within(found.level))
        own = np.arange(cells) == found.reference[:, None]
        held = ((low <= 1) & (high >= 1) | own).all(axis=1)
        yield Row(
            "all intervals of a group hold at once, no cell differs",
            f"{cells} cells, 8 blocks",
            float(held.mean()),
            AT_LEAST,
            0.0,
            scale,
        )


def _planned(scale: int) -> Iterator[Row]:
    """Power at the ratio that the plan names, and at 20 %."""
    for cells, blocks in ((2, 5), (7, 5), (7, 8)):
        ratio = detectable_ratio(blocks, cells, RUN_NOISE, ALPHA, paired=True)
        assert ratio is not None
        truth = np.r_[1.0, np.full(cells - 1, ratio)]
        studies = 4 * scale
        drawn = _draw("normal noise", truth, blocks, studies, cells + blocks)
        found = all_pairs(drawn, paired=True).p_more()[:, 1, 0] <= level_of(cells, ALPHA)
        what = f"the ratio that the plan names ({ratio:.2f}) is told"
        yield Row(what, f"{cells} cells, {blocks} blocks", float(found.mean()), ABOUT, POWER, studies)
    truth = np.r_[1.0, np.full(6, 1.2)]
    shown = judge(NOISES["normal noise"], truth, 5, scale, np.random.default_rng(1)).shown
    study = "7 cells, 20 % apart, 5 blocks"
    yield Row("other cells that are shown not to cost least", study, shown, AT_LEAST, 0.85, scale)


def _intervals(scale: int) -> Iterator[Row]:
    """Intervals of means and of ratios."""
    studies = max(100, scale // 5)
    for blocks in (3, 5, 10):
        for width in (0.05, 0.3):
            drawn = np.exp(np.random.default_rng(1).normal(0, width, (studies, blocks)))
            truth = float(np.exp(width**2 / 2))
            yield _covering(f"the mean of {blocks} runs", f"lognormal noise of {100 * width:g} %", drawn, truth)
        drawn = np.exp(_draw("normal noise", np.array([1.0, 1.3]), blocks, studies))
        held = []
        for first, second in drawn:
            one = ratio_of_means_interval(first, second, 0.95, paired=True)
            held.append(one.low is not None and one.high is not None and one.low <= 1.3 <= one.high)
        yield Row(
            "Fieller's interval holds the ratio of means",
            f"{blocks} blocks",
            float(np.mean(held)),
            AT_LEAST,
            0.94,
            studies,
        )
        for noise, paired in _NOISES:
            pairs = _draw(noise, np.array([1.0, 1.3]), blocks, scale)
            low, high = log_ratio(pairs[:, 1], pairs[:, 0], paired=paired).within(0.025)
            covered = float(np.mean((low <= 1.3) & (high >= 1.3)))
            yield Row(
                "the interval holds the geometric mean of ratios",
                f"{noise}, {blocks} blocks",
                covered,
                AT_LEAST,
                0.94,
                scale,
            )


def _covering(what: str, study: str, drawn: np.ndarray, truth: float) -> Row:
    found = [mean_interval(values, 0.95) for values in drawn]
    held = [one.low is not None and one.high is not None and one.low <= truth <= one.high for one in found]
    return Row(f"the interval holds {what}", study, float(np.mean(held)), AT_LEAST, 0.94, len(drawn))


def _equal(scale: int) -> Iterator[Row]:
    """Equal costs: called where they differ by the margin, and where they do not differ."""
    for blocks in (5, 12):
        for ratio, kind, target in ((1.05, AT_MOST, ALPHA), (1.0, AT_LEAST, 0.0)):
            pairs = _draw("normal noise", np.array([1.0, ratio]), blocks, scale)
            p = p_of_equal(log_ratio(pairs[:, 1], pairs[:, 0], paired=True), 0.05)
            what = "costs 5 % apart are called equal within 5 %" if kind == AT_MOST else "equal costs are called so"
            yield Row(what, f"{blocks} blocks", float(np.mean(p <= ALPHA)), kind, target, scale)


def _accuracies(scale: int) -> Iterator[Row]:
    """Equal accuracy on 360 and 10,000 samples, 90 % right, of models a margin apart or the same."""
    studies, margin = max(100, scale // 5), 0.01
    rng = np.random.default_rng(1)
    for samples in (360, 10_000):
        for apart, agree in ((margin, 0.9), (margin, 0.0), (0.0, 1.0)):
            called = {"paired": 0, "size": 0}
            for _ in range(studies):
                first = rng.random(samples) < 0.9
                # The other model is right where the first is but in `apart`, for a share of samples by chance anew.
                again = rng.random(samples) >= agree
                second = np.where(again, rng.random(samples) < 0.9, first)
                second &= ~(rng.random(samples) < apart / 0.9)
                called["paired"] += paired_equivalence(first, second, margin) <= ALPHA
                called["size"] += independent_equivalence(first.mean(), second.mean(), samples, margin) <= ALPHA
            kind, target = (AT_MOST, ALPHA) if apart else (AT_LEAST, 0.0)
            common = "the same model" if agree == 1 else f"{100 * agree:g} % of answers in common"
            study = f"{samples} samples, {common}"
            what = "accuracies 1 point apart are called equal" if apart else "equal accuracy is called so"
            yield Row(f"{what}: Tango", study, called["paired"] / studies, kind, target, studies)
            yield Row(f"{what}: by the size alone", study, called["size"] / studies, kind, target, studies)


def _odd(scale: int) -> Iterator[Row]:
    """Runs that are flagged, and scatter after blocks."""
    studies = max(20, scale // 20)
    for cells in (2, 7):
        for blocks in (5, 12):
            drawn = np.exp(_draw("normal noise", truths(7)["spread out"][:cells], blocks, studies))
            healthy, found, scatter = [], [], []
            for one in drawn:
                values = pd.DataFrame(one.T)
                healthy.append(outlying(residuals(values, paired=True)).any().mean())
                scatter.append(scatter_percent(values, paired=True).mean() / 100 / RUN_NOISE)
                values.iloc[1, 0] *= 3
                found.append(bool(outlying(residuals(values, paired=True)).iloc[1, 0]))
            study = f"{cells} cells, {blocks} blocks"
            yield Row("healthy cells with an odd run", study, float(np.mean(healthy)), AT_MOST, ALPHA, studies * cells)
            yield Row("a run three times as long is found odd", study, float(np.mean(found)), AT_LEAST, 0.95, studies)
            yield Row(
                "scatter after blocks over the true one",
                study,
                float(np.mean(scatter)),
                ABOUT,
                1.0,
                max(1, studies // 10),
            )


def _drifts(scale: int) -> Iterator[Row]:
    """Drift of a study."""
    studies = max(20, scale // 8)
    for blocks in (5, 12, 30):
        for noise, kind, target in (("normal noise", AT_MOST, ALPHA), ("drift of 35 %", AT_LEAST, 0.5)):
            ps = [drift_of(pd.DataFrame(one.T))[2] for one in np.exp(_draw(noise, np.ones(7), blocks, studies))]
            found = float(np.mean([p is not None and p <= ALPHA for p in ps]))
            what = "a study without drift is said to drift" if kind == AT_MOST else "a drift of 35 % is found"
            yield Row(what, f"7 cells, {blocks} blocks", found, kind, target, studies)


def _broken(scale: int) -> Iterator[Row]:
    """What breaks the tests' assumptions: how often answers are wrong, and how often the report has a sign of it."""
    studies = max(50, scale // 5)
    for noise, blocks in itertools.product(("normal noise", *BROKEN), (5, 12, 30)):
        drawn = logs(ALL[noise], np.ones(2), blocks, scale, np.random.default_rng(1))
        false = float((best_set(drawn, ALPHA, paired=True).inside.sum(axis=1) == 1).mean())
        signs = [any(True for _ in doubts(pd.DataFrame(one.T), paired=True)) for one in np.exp(drawn[:studies])]
        study = f"{noise}, 2 cells, {blocks} blocks"
        fine = noise not in BROKEN
        kind, target = (AT_MOST, ALPHA) if fine else (AT_LEAST, 0.0)
        yield Row("one of two equal cells is named", study, false, kind, target, scale)
        yield Row("the report has a sign that it may be so", study, float(np.mean(signs)), kind, target, studies)
    for blocks in (5, 12, 30):
        drawn = np.exp(logs(BROKEN["noise goes on from block to block (0.6)"], np.ones(7), blocks, studies, _rng()))
        ps = [drift_of(pd.DataFrame(one.T))[2] for one in drawn]
        found = float(np.mean([p is not None and p <= ALPHA for p in ps]))
        study = f"noise goes on from block to block (0.6), 7 cells, {blocks} blocks"
        yield Row("a study without drift is said to drift", study, found, AT_LEAST, 0.0, studies)
        drawn = np.exp(logs(BROKEN["heavy tails (t of 3)"], np.ones(7), blocks, studies, _rng()))
        odd = [outlying(residuals(pd.DataFrame(one.T), paired=True)).any().mean() for one in drawn]
        study = f"heavy tails (t of 3), 7 cells, {blocks} blocks"
        yield Row("healthy cells with an odd run", study, float(np.mean(odd)), AT_LEAST, 0.0, studies)


def _rng() -> np.random.Generator:
    return np.random.default_rng(1)


def _trends(scale: int) -> Iterator[Row]:
    """The interval of a power law's exponent, where what a level is takes cells off the line."""
    studies = max(20, scale // 15)
    rng = np.random.default_rng(1)
    for levels in ((32, 64), (32, 64, 128), (32, 64, 128, 256)):
        off = 0.1 if len(levels) > 2 else 0.0
        epochs, runs = training_study(("torch",), ("resnet50",), levels, repetitions=5, scatter=0.05)
        held = []
        for _ in range(studies):
            level = epochs["batch_size"].map({size: np.exp(off * rng.normal()) for size in levels})
            run = epochs.groupby(["cell", "repetition"]).ngroup()
            noise = np.exp(0.05 * rng.normal(size=run.max() + 1))
            base = 1000 * (epochs["batch_size"] / 32) ** -0.5
            drawn = epochs.assign(energy_gross_j=base * level * noise[run])
            line = fit_trends(drawn, runs, {"compare": ["runtime"], "confidence": 0.95}).iloc[0]
            held.append(line["exponent_low"] <= -0.5 <= line["exponent_high"])
        study = f"{len(levels)} levels of 5 runs" + (", each 10 % off the line" if off else "")
        yield Row("the interval holds the exponent of a trend", study, float(np.mean(held)), AT_LEAST, 0.94, studies)
