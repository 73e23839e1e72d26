"""Instants as other tools write them."""

from datetime import UTC, datetime

_LARGEST_NS = 2**62
"""In the year 2116; what is beyond is no clock's, and twice as much is more than an array holds."""


def utc_ns(text: str) -> int:
    """Nanoseconds since 1970 of an instant.

    Args:
        text: seconds since 1970, or ISO 8601 (also with slashes in the date, as nvidia-smi has them); UTC where it
            names no zone.

    Raises:
        ValueError: it is neither, or no instant that a clock can show.
    """
    text = text.strip()
    try:
        nanoseconds = float(text) * 1e9
    except ValueError:
        nanoseconds = None
    if nanoseconds is not None:
        # Not a number is refused, too.
        if not abs(nanoseconds) < _LARGEST_NS:
            raise ValueError(f"{text} is no instant")
        return round(nanoseconds)
    moment = datetime.fromisoformat(text.replace("/", "-"))
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    # Whole microseconds, so that no digit is lost to floating point.
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1000
