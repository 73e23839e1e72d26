"""Expectations of a domain: the load that it must show, and whether a total needs it."""

from framewatt.characterisation.schedule import ALL_CORES, GPU

_EXPECTED = {"cpu:package": ALL_CORES, "cpu:psys": ALL_CORES, "cpu:core": ALL_CORES, "external": ALL_CORES, "gpu": GPU}
"""DRAM and uncore may rightly show none of the loads."""

_INSIDE = ("cpu:core", "cpu:uncore")
"""Domains inside another one."""


def expected_load(domain: str) -> str | None:
    """The load that a domain must show, or None where there is no such load."""
    return next((load for prefix, load in _EXPECTED.items() if domain.startswith(prefix)), None)


def needed(domain: str) -> bool:
    """Whether a total of the machine needs this domain."""
    return not domain.startswith(_INSIDE)
