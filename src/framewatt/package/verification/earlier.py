"""Packages of an earlier code: records from before schema 3, and studies from before there were answers.

The energies of such records were interpolated between readings and not between a meter's updates.
"""

from collections.abc import Mapping
from typing import Any

from framewatt.imports.file_study import is_file_study
from framewatt.study.statistical_tests import RANK_SUM, SIGNED_RANK

SINCE = 3
"""The schema version of records whose windows are this code's, to the last digit."""

_RECOUNTED = ("energy_gross_j", "energy_net_j", "mean_power_w")
_NOT_RECOUNTED = ("energy_uncertainty_j", "energy_net_uncertainty_j", "cross_checks", "valid", "reasons", "flags")


def as_read_then(content: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """A study file as it was read when its plan was made: before there were answers, tests were those of ranks.

    Args:
        content: what the study file says.
        plan: the package's, of which `settings` are the study's with the defaults of then.
    """
    statistics = (plan.get("settings") or {}).get("statistics")
    if not isinstance(statistics, Mapping) or "noise" in statistics:
        return dict(content)
    usual = RANK_SUM if is_file_study(content) else SIGNED_RANK
    return {**content, "statistics": {"test": usual, **(content.get("statistics") or {})}}


def as_told_then(told: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Windows as they are found now, with what an earlier code may tell otherwise as it told it.

    Energies are as told where they are no further from those found than two uncertainties; uncertainties, reasons and
    flags, whose rules have changed, always.

    Args:
        told: windows of a record.
        found: windows from its trace and events, by this code.
    """
    return {
        name: {**window, "domains": _domains((told.get(name) or {}).get("domains") or {}, window["domains"])}
        for name, window in found.items()
    }


def _domains(told: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {**domain, **_of_one(told.get(name), domain)} for name, domain in found.items()}


def _of_one(told: Any, found: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(told, Mapping):
        return {}
    kept = {key: told[key] for key in _NOT_RECOUNTED if key in told}
    then_j, now_j = told.get("energy_gross_j"), found["energy_gross_j"]
    unsure_j = max(told.get("energy_uncertainty_j") or 0.0, found["energy_uncertainty_j"] or 0.0)
    if then_j is None or now_j is None or abs(then_j - now_j) <= 2 * unsure_j:
        kept |= {key: told[key] for key in _RECOUNTED if key in told}
    return kept
