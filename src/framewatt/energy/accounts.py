"""The accounts of a domain's energy: the channels that measure it, and the joules of a window by each."""

from collections.abc import Sequence
from typing import Any

from framewatt.energy.counter_windows import counter_energies
from framewatt.energy.gauge_windows import gauge_energies
from framewatt.energy.windows import WindowEnergy
from framewatt.meters.contract import COUNTER, Channel

Spans = list[tuple[int, int]]
"""Start and end of each part of a window, CLOCK_MONOTONIC nanoseconds."""

POWER = ("power_instant_w", "power_average_w", "power_w")
"""The quantities that give energy by integration, best first."""


def energies_of(channel: Channel, time_ns: Any, value: Any, spans: Spans) -> list[WindowEnergy]:
    """Energy of every span from one channel, by the kind of the channel."""
    return (counter_energies if channel.kind == COUNTER else gauge_energies)(channel, time_ns, value, spans)


def energy_of(channel: Channel, time_ns: Any, value: Any, start_ns: int, end_ns: int) -> WindowEnergy:
    """Energy of one window from one channel."""
    return energies_of(channel, time_ns, value, [(start_ns, end_ns)])[0]


def energy_accounts(channels: Sequence[Channel]) -> dict[str, list[int]]:
    """The channels that measure a domain's energy, best first: its counter, instant power, averaged power.

    Of two instruments with the same quantity, the one that the study names first comes first.

    Returns:
        indices into `channels` by domain.
    """
    accounts: dict[str, list[int]] = {}
    for quantity in ("energy_j", *POWER):
        for index, channel in enumerate(channels):
            if channel.quantity == quantity:
                accounts.setdefault(channel.domain, []).append(index)
    return accounts


def energy_channels(channels: Sequence[Channel]) -> dict[str, int]:
    """The best of each domain's accounts, see `energy_accounts`."""
    return {domain: indices[0] for domain, indices in energy_accounts(channels).items()}
