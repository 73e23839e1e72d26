"""What tests of meters ask of all of them alike."""

from framewatt.meters.contract import Polled


def values(meter: Polled) -> list[float]:
    """The values of one reading of every channel, in the order of the channels."""
    return meter.values()
