"""Channels of a run as they were characterised on this machine before the runs.

It runs in the images of frameworks, where the characterisation itself does not (it needs scipy).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from framewatt.meters.contract import Channel

MEASURED = ("update_period_s", "resolution", "average_s", "average_most_s", "fit_window_s", "late_s")
"""Fields of a channel that a characterisation may tell."""


def in_force(channels: Sequence[Channel], calibration: Mapping[str, Any]) -> tuple[Channel, ...]:
    """The channels, with what was measured of them in place of their documentation.

    Args:
        channels: as their meters tell them.
        calibration: of this node; where it holds no characterisation, channels stay as they are.
    """
    known = {
        _key(one["as_measured"]): {name: one["as_measured"][name] for name in MEASURED if name in one["as_measured"]}
        for one in (calibration.get("characterisation") or {}).get("channels", ())
    }
    return tuple(replace(channel, **known.get(_key(channel.to_dict()), {})) for channel in channels)


def _key(channel: Mapping[str, Any]) -> tuple[str, str, str]:
    return channel["instrument"], channel["domain"], channel["quantity"]
