"""Why a GPU was throttled, decoded from NVML's bits (pure).

Source: NVIDIA Management Library API reference, nvmlClocksEventReasons.
"""

from typing import Any

import numpy as np

THROTTLE_REASONS = "throttle_reasons_bits"
"""The quantity whose readings are these bits."""

_NAMES = {
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}
"""The reasons that disturb a measurement. Left out: idle, clocks set by the user, sync boost and the display."""


def throttled_shares(bits: Any) -> dict[str, float]:
    """Share of readings in which each reason was set, for reasons that were set at all.

    Args:
        bits: shape (n,), readings.
    """
    whole = np.asarray(bits, dtype=np.float64).astype(np.int64)
    shares = {name: float(np.mean(whole & bit > 0)) if len(whole) else 0.0 for bit, name in _NAMES.items()}
    return {name: share for name, share in shares.items() if share}
