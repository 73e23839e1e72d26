"""Applies this machine's characterisation to the channels of a run.

It runs in the images of frameworks, where the characterisation itself does not (it needs scipy).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from framewatt.meters.contract import Channel

MEASURED = ("update_period_s", "resolution", "average_s", "average_most_s", "fit_window_s", "late_s")
"""Fields of a channel that a characterisation may replace."""


def in_force(channels: Sequence[Channel], calibration: Mapping[str, Any]) -> tuple[Channel, ...]:
    """The channels, with measured values instead of documented ones.

    Args:
        channels: as documented by their meters.
        calibration: of this machine; if it has no characterisation, channels stay unchanged.
    """
    known = {
        _key(one["as_measured"]): {name: one["as_measured"][name] for name in MEASURED if name in one["as_measured"]}
        for one in (calibration.get("characterisation") or {}).get("channels", ())
    }
    return tuple(replace(channel, **known.get(_key(channel.to_dict()), {})) for channel in channels)


def _key(channel: Mapping[str, Any]) -> tuple[str, str, str]:
    return channel["instrument"], channel["domain"], channel["quantity"]
