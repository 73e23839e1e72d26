"""Parses times as other tools write them."""

from datetime import UTC, datetime

_LARGEST_NS = 2**62
"""The year 2116: no clock shows a later time, and twice the number would overflow an int64 array."""


def utc_ns(text: str) -> int:
    """Return a time as nanoseconds since 1970.

    Args:
        text: seconds since 1970, or ISO 8601 (also with slashes in the date, as nvidia-smi writes it); UTC if it names
            no zone.

    Raises:
        ValueError: it is neither, or a time that no clock can show.
    """
    text = text.strip()
    try:
        nanoseconds = float(text) * 1e9
    except ValueError:
        nanoseconds = None
    if nanoseconds is not None:
        # NaN is rejected, too.
        if not abs(nanoseconds) < _LARGEST_NS:
            raise ValueError(f"{text} is not a time that a clock can show")
        return round(nanoseconds)
    moment = datetime.fromisoformat(text.replace("/", "-"))
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    # Integer microseconds, so that no digit is lost to floating point.
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1000
