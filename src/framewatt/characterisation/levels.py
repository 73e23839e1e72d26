"""The power that a meter shows under each load, and whether it shows the load at all."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from framewatt.characterisation.schedule import Stretch, around, period_of
from framewatt.characterisation.series import Series

_SETTLED = 0.5
"""Share of a stretch after which slow meters, clocks and fans have mostly settled."""

_SEEN_P = 0.01
"""Significance level: a rise with at most this p-value counts as seen."""


@dataclass(frozen=True)
class Response:
    """A meter's response to a load.

    Attributes:
        load: its name.
        power_w: mean under the load, watts.
        rise_w: rise of power above the neighbouring idle stretches, watts.
        rise_uncertainty_w: standard uncertainty of that, or None from a single stretch.
        seen: whether it is more than chance.
        reason: why it was not seen; empty where it was.
    """

    load: str
    power_w: float | None
    rise_w: float | None
    rise_uncertainty_w: float | None
    seen: bool
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return asdict(self)


def response(series: Series, stretches: Sequence[Stretch], origin_ns: int, load: str) -> Response:
    """Return whether a meter shows a load: compare its stretches with their idle neighbours (paired t, one-sided).

    Idle stretches before and after cancel a drift; one number per stretch avoids the correlated noise within it.

    Args:
        series: the readings.
        stretches: the schedule.
        origin_ns: the series' second 0.
        load: which one.
    """
    powers, rises = [], []
    for stretch, idle in around(stretches, load):
        power = mean_power(series, stretch, origin_ns)
        neighbours = [mean_power(series, other, origin_ns) for other in idle]
        known = [value for value in neighbours if value is not None]
        if power is not None and known:
            powers.append(power)
            rises.append(power - float(np.mean(known)))
    if not rises:
        return Response(load, None, None, None, False, "too few readings in each stretch to know its power")
    power_w, rise_w = float(np.mean(powers)), float(np.mean(rises))
    if len(rises) < 2:
        return Response(load, power_w, rise_w, None, False, "a single step, which chance could have made")
    spread_w = float(np.std(rises, ddof=1) / np.sqrt(len(rises)))
    # Steps equal to the last digit have no spread, and cannot be tested.
    p = stats.ttest_1samp(rises, 0.0, alternative="greater").pvalue if spread_w else float(rise_w <= 0)
    seen = bool(p < _SEEN_P)
    why = "" if seen else f"{rise_w:+.3g} ± {spread_w:.2g} W compared with idle is no more than chance"
    return Response(load, power_w, rise_w, spread_w, seen, why)


@dataclass(frozen=True)
class Wave:
    """What a meter showed of a square wave.

    Attributes:
        period_s: its period in seconds.
        busy: share of the time in which the GPU computed, or None where that is not known.
        power_w: mean power that the meter showed in watts, or None.
    """

    period_s: float
    busy: float | None
    power_w: float | None

    def expected_w(self, idle_w: float, load_w: float) -> float | None:
        """Return the mean power in watts of a GPU that draws `load_w` while it computes and `idle_w` while it waits."""
        return None if self.busy is None else idle_w + self.busy * (load_w - idle_w)


def wave(series: Series, stretch: Stretch, origin_ns: int) -> Wave:
    """Return what a meter showed of a stretch of square waves.

    Args:
        series: the readings.
        stretch: of a square wave.
        origin_ns: the series' second 0.
    """
    period_s = period_of(stretch.load) or 0.0
    return Wave(period_s, stretch.busy, mean_power(series, stretch, origin_ns, period_s))


def mean_power(series: Series, stretch: Stretch, origin_ns: int, period_s: float = 0.0) -> float | None:
    """Return the watts in the settled part of a stretch, or None where there are fewer than two readings in it.

    Args:
        series: the readings.
        stretch: which one.
        origin_ns: the series' second 0.
        period_s: period of its power, only whole periods count; 0 where its power is steady.
    """
    end_s = (stretch.end_ns - origin_ns) * 1e-9
    settled_s = (1 - _SETTLED) * stretch.duration_s
    # Half a period more would be half a period of one power.
    whole_s = settled_s // period_s * period_s if period_s else settled_s
    part = series.between(end_s - (whole_s or settled_s), end_s)
    # A read that was held up has the middle of its time as its stamp. It may have come after the end, by as much as it
    # is late after the reading before it.
    late_s = np.diff(part.time_s, prepend=part.time_s[:1]) - series.reading_s
    sure = part.time_s + np.maximum(late_s, 0) < end_s
    time_s, value = part.time_s[sure], part.value[sure]
    if len(time_s) < 2:
        return None
    if series.counter:
        return float((value[-1] - value[0]) / (time_s[-1] - time_s[0]))
    return float(value.mean())
