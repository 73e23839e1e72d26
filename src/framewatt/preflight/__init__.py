"""Checks of the machine for disturbances of measurements; most can be fixed before a study (design, section 5.9)."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from framewatt.preflight.checks import gpu_findings, host_findings

TOPICS = (
    "governor",
    "turbo",
    "SMT",
    "virtual machine",
    "load",
    "battery",
    "CPU temperature",
    "CPU throttling",
    "GPU processes",
    "GPU persistence",
    "GPU throttling",
    "GPU temperature",
)
"""Topics of findings."""


def check_machine(root: Path = Path("/"), observe_s: float = 0.2, library: Any = None) -> list[dict[str, str]]:
    """Return everything about the machine that disturbs a measurement.

    Args:
        root: the file system, or a copy of its /proc and /sys.
        observe_s: seconds for which the processors are watched for other work.
        library: a replacement for the pynvml module, for tests.
    """
    return [asdict(finding) for finding in (*host_findings(root, observe_s), *gpu_findings(library))]


def objections(findings: Sequence[dict[str, str]], settings: dict[str, Any]) -> list[str]:
    """Return the findings that a strict study does not accept, one line each; empty if the study is not strict.

    Args:
        findings: see check_machine.
        settings: the study's `preflight`: `strict`, and `accept`, the topics that it accepts.
    """
    if not settings["strict"]:
        return []
    return [
        f"preflight: {finding['topic']}: {finding['found']} ({finding['meaning']}; mend: {finding['remedy']})"
        for finding in findings
        if finding["topic"] not in settings["accept"]
    ]
