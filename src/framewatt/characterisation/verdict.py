"""Whether a channel can be trusted, and if not, why."""

from collections.abc import Sequence

from framewatt.characterisation.agreement import Agreement
from framewatt.characterisation.channel import Character
from framewatt.characterisation.domains import expected_load
from framewatt.characterisation.schedule import Stretch

_MOST_FAILED = 0.01
"""Largest share of reads that may fail."""

MOST_OTHERS = 0.1
"""Processors that other work may keep busy during a step."""


def problems(found: Character, agreements: Sequence[Agreement], mirrors: Sequence[tuple[str, str]]) -> list[str]:
    """Why a channel cannot be trusted; empty if it can.

    Args:
        found: its behaviour.
        agreements: of all domains.
        mirrors: pairs of domains that show one counter.
    """
    channel = found.channel
    if not found.readings:
        return ["not one reading was good"]
    said = [found.still] if found.still else []
    if channel.estimated:
        said.append("an estimate, no measurement")
    reads = found.readings + found.failed + found.absurd
    if found.failed > _MOST_FAILED * reads:
        said.append(f"{found.failed} of {reads} reads failed")
    if found.absurd:
        said.append(f"{found.absurd} readings that no such domain can have: negative, or more than it can draw")
    if found.resets:
        said.append(f"went back or jumped {found.resets} times by other than a wrap")
    if not found.still:
        said += _unseen(found)
    name = f"{channel.quantity} of {channel.instrument}"
    said += [
        f"{100 * (other.ratio - 1):+.1f} % between {other.other} and {other.account}"
        for other in agreements
        if other.domain == channel.domain and name in (other.account, other.other) and other.parts and other.ratio
    ]
    said += [f"{a} and {b} show one counter" for a, b in mirrors if channel.domain in (a, b)]
    return said


def disturbances(stretches: Sequence[Stretch]) -> list[str]:
    """Stretches with more than a little other work, so that their steps of load are not as planned."""
    return [
        f"other work kept {stretch.others:.1f} processors busy in stretch {number} ({stretch.load})"
        for number, stretch in enumerate(stretches, 1)
        if stretch.others is not None and stretch.others > MOST_OTHERS
    ]


def _unseen(found: Character) -> list[str]:
    """Why it was not seen to show the load that it should."""
    load = expected_load(found.channel.domain)
    if load is None:
        return []
    own = next((one for one in found.responses if one.load == load), None)
    if own is None:
        return [f"was not seen under load: there was no load of {load}"]
    return [] if own.seen else [f"does not show a load of {load}: {own.reason}"]
