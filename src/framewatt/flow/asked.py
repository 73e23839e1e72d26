"""Targets and options of the present Snakemake call, available while its rules are read."""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snakemake.settings.types import DAGSettings


def settings_of(workflow: Any) -> "DAGSettings | None":
    """Targets, forced and allowed rules of this call; None where Snakemake only lists or checks its rules.

    Snakemake gives them to the workflow only after its rules are read. Until then a calling frame on the stack holds
    them.

    Args:
        workflow: Snakemake's.
    """
    from snakemake.settings.types import DAGSettings

    frame = sys._getframe()
    holders = [workflow]
    while frame.f_back:
        frame = frame.f_back
        holders.append(frame.f_locals.get("self"))
    found = (getattr(holder, "dag_settings", None) for holder in holders)
    return next((settings for settings in found if isinstance(settings, DAGSettings)), None)
