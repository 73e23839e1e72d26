"""The script that characterises meters, from end to end, on hardware that follows its loads in real time.

Counters that freeze or wrap are played on simulated time alone, in tests/characterisation: they are no matter of time.
"""

import pytest
from hardware.characterised import LEADS_S, assert_trusted, play_plan
from hardware.namespaces import namespaces_allowed

LONGEST_HOLD_S = 0.08
"""Hardware that was itself held up for longer was not what it was to be, and is played again: after 0.1 s without a
change, a counter that is read every 10 ms is said to stand still."""

needs_namespaces = pytest.mark.skipif(
    not namespaces_allowed(), reason="this machine does not let a user make namespaces (unshare --map-root-user)"
)


def played(change: dict) -> dict:
    """Return what the script made of scripted hardware that went on throughout, as did the programs that read it."""
    for lead_s in LEADS_S:
        found = play_plan(change, lead_s)
        if found["record"] and found["delayed_s"] <= LONGEST_HOLD_S and not kept_waiting(found):
            return found
    raise AssertionError(f"this machine is too busy to play hardware: {found}")


def kept_waiting(found: dict) -> list[str]:
    """Return why accounts could not be compared where nothing read them for a while."""
    return [one["reason"] for one in found["record"]["agreements"] if "gaps are" in one["reason"]]


@needs_namespaces
@pytest.mark.measured(
    twin="tests/characterisation/test_characterised_simulated.py::test_a_machine_with_right_meters_is_trusted"
)
def test_a_machine_with_right_meters_is_trusted() -> None:
    # Counters that are held up at an edge of a settled time lack power, which is no fault of the meters.
    found = played({})
    assert_trusted(found, found["delayed_s"])
