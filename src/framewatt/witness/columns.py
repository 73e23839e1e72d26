"""The witness's findings on a window, as columns of a frame."""

from collections.abc import Mapping
from typing import Any

DISTURBED_BY = "disturbed_by"

_NUMBERS = (
    "run_cpu_s",
    "own_cpu_s",
    "others_cpu_s",
    "others_share",
    "steal_share",
    "cpu_stall_share",
    "memory_stall_share",
    "io_stall_share",
    "involuntary_switches",
    "minor_faults",
    "major_faults",
    "swapped_b",
    "disk_read_b",
    "run_read_b",
    "throttled",
)

WITNESSED = [*_NUMBERS, DISTURBED_BY]
"""Columns of a frame. `disturbed_by` lists causes joined with "; ": empty if undisturbed, missing if unknown."""


def witness_columns(window: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of WITNESSED for a window of a run record; empty where the run had no witness."""
    witness = window.get("witness")
    if witness is None:
        return {}
    disturbed = witness["disturbed"]
    by = None if disturbed is None else "; ".join(disturbed)
    return {name: witness[name] for name in _NUMBERS} | {DISTURBED_BY: by}
