"""A measured property of a meter, and the measured properties that replace the documented ones in later runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from framewatt.meters.contract import Channel


@dataclass(frozen=True)
class Measured:
    """One property of a meter.

    Attributes:
        value: in its unit, or None where it is not known.
        uncertainty: standard uncertainty of `value`, in the same unit, or None.
        at_most: a bound where the value itself is not known, or None.
        reason: why there is no value; empty where there is one.
    """

    value: float | None
    uncertainty: float | None = None
    at_most: float | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        assert (self.value is None) == bool(self.reason), "a value, or a reason why there is none"

    @property
    def bound(self) -> float | None:
        """Return the value, or its upper bound."""
        return self.at_most if self.value is None else self.value

    def within(self, share: float, least: float = 0.0) -> bool:
        """Return whether it is known to a share of itself, or to `least` in its unit, whichever is wider."""
        if self.value is None or self.uncertainty is None:
            return False
        return self.uncertainty <= max(share * abs(self.value), least)

    def words(self, unit: str) -> str:
        """Return the value with its uncertainty as text."""
        if self.value is not None and self.uncertainty is not None:
            digits = _decimals(self.uncertainty)
            return f"{self.value:.{digits}f} ± {self.uncertainty:.{digits}f} {unit}"
        if self.value is not None:
            return f"{self.value:.3g} {unit}"
        return f"at most {self.at_most:.3g} {unit}" if self.at_most is not None else "unknown"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return asdict(self)


def unknown(reason: str, at_most: float | None = None) -> Measured:
    """Return an unknown quantity, and why it is unknown."""
    return Measured(None, None, at_most, reason)


def _decimals(uncertainty: float) -> int:
    """Return the decimals that show an uncertainty by its first digit, six at the most."""
    return min(6, max(0, -math.floor(math.log10(uncertainty)))) if uncertainty > 0 else 3


MEASURED = ("update_period_s", "resolution", "average_s", "average_most_s", "fit_window_s", "late_s")
"""Fields of a channel that a characterisation may replace."""


def in_force(channels: Sequence[Channel], calibration: Mapping[str, Any]) -> tuple[Channel, ...]:
    """Return the channels, with measured values instead of documented ones.

    Args:
        channels: as documented by their meters.
        calibration: of this machine; if it has no characterisation, channels stay unchanged.
    """
    known = {
        _key(entry["as_measured"]): {
            name: entry["as_measured"][name] for name in MEASURED if name in entry["as_measured"]
        }
        for entry in (calibration.get("characterisation") or {}).get("channels", ())
    }
    return tuple(replace(channel, **known.get(_key(channel.to_dict()), {})) for channel in channels)


def _key(channel: Mapping[str, Any]) -> tuple[str, str, str]:
    return channel["instrument"], channel["domain"], channel["quantity"]
