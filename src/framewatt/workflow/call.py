"""Targets and options of the present Snakemake call, available while its rules are read."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from snakemake.settings.types import DAGSettings

_ABOUT_THE_STUDY = {"all", "report", "archive"}
"""Targets that stand for the results of the study that the configuration names."""


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


@dataclass(frozen=True)
class Call:
    """The targets and options of a call of Snakemake.

    Attributes:
        targets: rules and paths; empty stands for the rule `all`.
        forced: rules and paths that are made again, whatever lies there.
        everything: whether everything is made again.
        allowed: the only rules that may run; empty where any may.
    """

    targets: frozenset[str] = frozenset()
    forced: frozenset[str] = frozenset()
    everything: bool = False
    allowed: frozenset[str] = frozenset()

    @classmethod
    def from_settings(cls, settings: Any) -> "Call":
        """Return the targets and options of a call.

        Args:
            settings: Snakemake's DAGSettings, or None.
        """
        if not settings:
            return cls()
        targets = frozenset(settings.targets or ())
        return cls(
            targets,
            frozenset(settings.forcerun or ()) | (targets if settings.forcetargets else frozenset()),
            settings.forceall,
            frozenset(settings.allowed_rules or ()),
        )

    def makes(self, rules: tuple[str, ...]) -> bool:
        """Whether any of some rules may run. A package is rebuilt without those that measure or prepare."""
        return not self.allowed or not self.allowed.isdisjoint(rules)

    def again(self, study: str) -> Callable[[str, str], bool]:
        """Whether something of a study is forced to be made again, by its rule and its path below results/<study>."""
        forced = {os.path.normpath(name) for name in self.forced}
        return lambda rule, path: self.everything or rule in forced or f"results/{study}/{path}" in forced

    def about(self, study: str) -> bool:
        """Whether a target is about the results of the study that the configuration names."""
        below = f"results/{study}/"
        return not self.targets or any(name in _ABOUT_THE_STUDY or name.startswith(below) for name in self.targets)
