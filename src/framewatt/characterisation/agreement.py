"""Whether all accounts of one domain's energy agree, and whether two domains show the same counter."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from framewatt.characterisation.schedule import IDLE, Stretch, period_of
from framewatt.characterisation.series import Series
from framewatt.energy.accounting import LARGEST_DEVIATION
from framewatt.energy.accounts import energies_of, energy_accounts
from framewatt.energy.windows import WindowEnergy
from framewatt.meters.contract import Channel
from framewatt.meters.trace import Readings

_SAME = 1e-4
"""Relative difference of two views of one counter over seconds, read one after the other."""


@dataclass(frozen=True)
class Agreement:
    """Two accounts of a domain over the schedule up to its first square wave.

    Attributes:
        domain: the domain.
        account: the better of the two, instrument and quantity.
        other: the other account, instrument and quantity.
        ratio: energy of `other` over energy of `account`, or None.
        uncertainty: standard uncertainty of the ratio, or None.
        by_load: the same ratio over the settled time of each load, free of effects at edges.
        reason: why there is no ratio; empty where there is one.
    """

    domain: str
    account: str
    other: str
    ratio: float | None
    uncertainty: float | None
    by_load: dict[str, float]
    reason: str = ""

    @property
    def parts(self) -> bool:
        """Return whether the two differ by more than is allowed and by more than their uncertainty explains."""
        if self.ratio is None or self.uncertainty is None:
            return False
        return abs(self.ratio - 1) > max(LARGEST_DEVIATION, 2 * self.uncertainty)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return asdict(self)


def agreements(trace: Readings, stretches: Sequence[Stretch]) -> list[Agreement]:
    """Compare every further account of a domain with its best account, computed as for windows.

    Args:
        trace: readings that span the schedule.
        stretches: the schedule.
    """
    before_waves = list(itertools.takewhile(lambda stretch: period_of(stretch.load) is None, stretches))
    whole = (before_waves[0].start_ns, before_waves[-1].end_ns)
    spans = [_settled(stretch) for stretch in stretches]
    compared = []
    for domain, indices in energy_accounts(trace.channels).items():
        # A domain with one account has nothing to compare.
        needed = indices if len(indices) > 1 else []
        energies = {
            index: energies_of(trace.channels[index], *trace.read_channel(index), [whole, *spans]) for index in needed
        }
        for other in indices[1:]:
            names = [f"{trace.channels[i].quantity} of {trace.channels[i].instrument}" for i in (indices[0], other)]
            (best, *parts), (second, *others) = energies[indices[0]], energies[other]
            ratio, uncertainty, reason = _ratio(best, second)
            by_load = _by_load(stretches, parts, others) if ratio is not None else {}
            compared.append(Agreement(domain, names[0], names[1], ratio, uncertainty, by_load, reason))
    return compared


def mirrors(pairs: Sequence[tuple[Channel, Series]]) -> list[tuple[str, str]]:
    """Return the pairs of domains of an instrument with counters that grew alike: one counter, shown twice.

    Args:
        pairs: channels and their readings.
    """
    gained = [(channel, float(series.value[-1])) for channel, series in pairs if series.counter and len(series.value)]
    return [
        (a.domain, b.domain)
        for (a, joules), (b, other) in itertools.combinations(gained, 2)
        if a.instrument == b.instrument
        and a.domain != b.domain
        and joules > 0
        and abs(other - joules) <= max(_SAME * joules, 2 * a.resolution)
    ]


def _ratio(best: WindowEnergy, other: WindowEnergy) -> tuple[float | None, float | None, str]:
    """Return the ratio of two energies and its uncertainty (relative ones add in quadrature), or why there is none."""
    reasons = [*best.reasons, *other.reasons]
    if reasons or not best.energy_j or not other.energy_j:
        return None, None, "; ".join(reasons) or "one of them shows no energy"
    ratio = other.energy_j / best.energy_j
    relative = math.hypot(*((energy.uncertainty_j or 0.0) / (energy.energy_j or 1.0) for energy in (best, other)))
    return ratio, ratio * relative, ""


def _settled(stretch: Stretch) -> tuple[int, int]:
    """Return the part of a stretch in which power is steady even for a slow meter."""
    width_ns = stretch.end_ns - stretch.start_ns
    return stretch.start_ns + width_ns * 5 // 10, stretch.start_ns + width_ns * 9 // 10


def _by_load(
    stretches: Sequence[Stretch], best: Sequence[WindowEnergy], other: Sequence[WindowEnergy]
) -> dict[str, float]:
    """Return the ratio over all stretches of each load together, where both accounts are valid."""
    ratios = {}
    for load in dict.fromkeys((IDLE, *(stretch.load for stretch in stretches))):
        sums = (
            np.array(
                [
                    (a.energy_j, b.energy_j)
                    for stretch, a, b in zip(stretches, best, other, strict=True)
                    if stretch.load == load and a.energy_j is not None and b.energy_j is not None
                ]
            )
            .reshape(-1, 2)
            .sum(0)
        )
        if sums[0] > 0:
            ratios[load] = float(sums[1] / sums[0])
    return ratios
