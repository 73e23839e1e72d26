"""Instants as other tools write them."""

from datetime import UTC, datetime


def utc_ns(text: str) -> int:
    """Nanoseconds since 1970 of an instant.

    Args:
        text: seconds since 1970, or ISO 8601 (also with slashes in the date, as nvidia-smi has them); UTC where it
            names no zone.

    Raises:
        ValueError: it is neither.
    """
    text = text.strip()
    try:
        return round(float(text) * 1e9)
    except ValueError:
        moment = datetime.fromisoformat(text.replace("/", "-"))
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    # Whole microseconds, so that no digit is lost to floating point.
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1000
