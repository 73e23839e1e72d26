"""The commands that a report prints for reproducing its study."""

import shlex
from collections.abc import Mapping
from typing import Any


def commands_of(plan: Mapping[str, Any], commit: str | None) -> list[str]:
    """Command lines, in order, for a clone of the code with the study file in config/studies.

    Targets come before `--config`, which takes everything after it as a setting.

    Args:
        plan: the study's.
        commit: the commit that made the records; None where they name different ones.
    """
    settings = plan["settings"]
    config = [shlex.quote(f"study={plan['study']}")]
    if key := settings.get("files", {}).get("root_config"):
        config.append(f"{shlex.quote(key)}=<folder>")
    if settings.get("device", "auto") not in ("auto", plan["device"]):
        config.append(shlex.quote(f"device={plan['device']}"))
    checkout = [f"git checkout {shlex.quote(commit)}"] if commit else []
    made = [f"snakemake --cores 1 {target} --config {' '.join(config)}" for target in ("report", "archive")]
    return [*checkout, *made]
