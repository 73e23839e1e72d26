"""The parity sheet: how far models of one name are apart, framework by framework, with the same weights."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from framewatt.tables.columns import Show, table_of, text_of, whole
from framewatt.tables.table import Table, significant

_DIFFERENCES = ("outputs", "first_loss", "losses", "gradients", "statistics", "after")
_COUNTS = ("parameters", "tensors", "flops")
_KEYS = [
    *("model", "framework", "reference", "verdict", "beyond", "reason"),
    *(name for count in _COUNTS for name in (count, f"{count}_of_reference")),
    *(f"{name}_difference" for name in _DIFFERENCES),
    *(
        "gradients_where",
        "gradients_largest",
        "statistics_where",
        "equal_answers_share",
        "matched_by",
        "quality",
        "quality_of_reference",
        "differs_in",
    ),
]
_NOT_STRUCTURE = ("activations",)
"""What frameworks call differently where it is the same."""


def parity(sheets: Iterable[Mapping[str, Any]]) -> Table:
    """Return a row for each model and framework except the first framework, with which the others are compared.

    Differences are relative, in fp32 on the CPU: of outputs to the largest of them, of losses to the loss, of gradients
    to the largest of their tensor (framewatt.prepare.parity_sheet defines what counts as the same).

    Args:
        sheets: records of the rule parity.
    """
    data = pd.DataFrame([_row(sheet) for sheet in sheets], columns=_KEYS)
    data = data.sort_values(["model", "framework"], ignore_index=True)
    data = data.astype({name: "Int64" for count in _COUNTS for name in (count, f"{count}_of_reference")})
    shown: dict[str, Show] = {
        "Model": text_of("model"),
        "Framework": text_of("framework"),
        "Reference": text_of("reference"),
        "Parameters": lambda r: whole(r["parameters"]),
        "Of reference": lambda r: whole(r["parameters_of_reference"]),
        "Outputs": lambda r: significant(r["outputs_difference"], 2),
        "First loss": lambda r: significant(r["first_loss_difference"], 2),
        "Ten losses": lambda r: significant(r["losses_difference"], 2),
        "Gradients": lambda r: significant(r["gradients_difference"], 2),
        "In any batch": lambda r: significant(r["gradients_largest"], 2),
        "Statistics": lambda r: significant(r["statistics_difference"], 2),
        "Outputs after": lambda r: significant(r["after_difference"], 2),
        "Equal answers": lambda r: significant(r["equal_answers_share"], 3),
        "Metric": text_of("quality"),
        "Metric of reference": text_of("quality_of_reference"),
        "Weights by": text_of("matched_by"),
        "Differs in": text_of("differs_in"),
        "Reason": text_of("reason"),
        "Verdict": text_of("verdict"),
    }
    caption = "Parity sheet: the same weights and batches in two frameworks, relative differences"
    return table_of("parity", caption, data, shown)


def _row(sheet: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a comparison; one that failed, or has weights that cannot be carried over, has the reason."""
    model, framework = sheet["model"].rsplit("-", 1)
    reference = sheet.get("reference") or {}
    return {
        "model": model,
        "framework": framework,
        "reference": reference.get("framework"),
        "verdict": sheet.get("verdict") or "not compared",
        "beyond": ", ".join(sheet.get("beyond") or []) or None,
        "reason": _reason(sheet),
        **{count: sheet.get(count) for count in _COUNTS},
        **{f"{count}_of_reference": reference.get(count) for count in _COUNTS},
        **{f"{name}_difference": sheet.get(f"{name}_difference") for name in _DIFFERENCES},
        "gradients_where": sheet.get("gradients_where"),
        "gradients_largest": sheet.get("gradients_largest"),
        "statistics_where": sheet.get("statistics_where"),
        "equal_answers_share": sheet.get("equal_answers_share"),
        "matched_by": sheet.get("matched_by"),
        "quality": _primary(sheet),
        "quality_of_reference": _primary(reference),
        "differs_in": _differing(_facts(sheet), _facts(reference)),
    }


def _reason(sheet: Mapping[str, Any]) -> str | None:
    """Return why there is no comparison, or what of it is beyond its tolerance."""
    beyond = ", ".join(sheet.get("beyond") or [])
    rounding = ", ".join(sheet.get("rounding") or [])
    whys = [sheet.get("reason"), sheet.get("not_carried"), f"beyond tolerance: {beyond}" if beyond else None]
    whys.append(f"no further apart than the reference from itself by rounding: {rounding}" if rounding else None)
    return "; ".join(filter(None, [*whys, sheet.get("steps_reason")])) or None


def _primary(of: Mapping[str, Any]) -> str | None:
    """Return the first metric of the answers with its value; None where some of the test set was not answered."""
    for name, metric in (of.get("quality") or {}).items():
        return f"{name} {significant(metric['value'], 4)}"
    return None


def _facts(of: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a model is made of; None where it was not built."""
    return {**of["structure"], "dropout": of["dropout"]} if of.get("structure") else None


def _differing(ours: Mapping[str, Any] | None, theirs: Mapping[str, Any] | None) -> str | None:
    """Return facts of structure that differ: what of the difference is by design."""
    if not ours or not theirs:
        return None
    names = [name for name in ours if name not in _NOT_STRUCTURE and ours[name] != theirs.get(name)]
    return "; ".join(f"{name.replace('_', ' ')}: {ours[name]}, not {theirs.get(name)}" for name in names) or None
