"""The fairness sheet: similarities and differences of models with the same name in different frameworks."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from framewatt.tables.columns import Show, table_of, text_of, times, whole
from framewatt.tables.table import Table, significant

_KEYS = [
    *("model", "framework", "status", "reason", "parameters", "flops", "flops_source", "input_shape", "input_layout"),
    *("weights", "weights_source", "weights_sha256", "convolutions", "biased_convolutions", "strided_convolutions"),
    *("strided_padding", "epsilons", "activations", "weights_among_inputs"),
]
_WHOLE = ("parameters", "flops", "convolutions", "biased_convolutions", "weights_among_inputs")
_SOURCES = {
    "trained": "trained in this workflow",
    "given": "as the user's factory gives them",
    "pretrained": "the zoo's official ones, by the checksum that it names",
    "fine-tuned": "trained in this workflow, from published ones",
    "seeded": "random, by the framework's own initialiser from the study's seed",
    "measured": "trained in measured runs alone, from random ones",
}
_GIGA = 1e-9


def fairness(models: Iterable[Mapping[str, Any]], exports: Iterable[Mapping[str, Any]]) -> Table:
    """Return a row for each model and framework: size, work, input, weights and the parts by which zoos differ.

    Facts of structure are read from the built model (see `framewatt.workloads.inspection`), operations are counted in
    its export (see `framewatt.prepare.exporters.check`), or by the framework itself where there is none that runs.

    Args:
        models: records of the rule train, each with `model`, the name of its folder, and of `models_of_runs`.
        exports: records of the rule check_export.
    """
    checked = {record["model"]: record for record in exports}
    rows = [_row(record, checked.get(record["model"], {})) for record in models]
    data = pd.DataFrame(rows, columns=_KEYS).sort_values(["model", "framework"], ignore_index=True)
    data = data.astype(dict.fromkeys(_WHOLE, "Int64"))
    shown: dict[str, Show] = {
        "Model": text_of("model"),
        "Framework": text_of("framework"),
        "Parameters": lambda r: whole(r["parameters"]),
        "Operations of a sample (GFLOP)": lambda r: significant(times(r["flops"], _GIGA)),
        "Counted in": text_of("flops_source"),
        "Input": text_of("input_shape"),
        "Layout": text_of("input_layout"),
        "Weights": text_of("weights"),
        "Convolutions": lambda r: whole(r["convolutions"]),
        "Convolutions with a bias": lambda r: whole(r["biased_convolutions"]),
        "Strided convolutions": text_of("strided_convolutions"),
        "Their padding": text_of("strided_padding"),
        "Epsilon": text_of("epsilons"),
        "Activations": text_of("activations"),
        "Weights among the export's inputs": lambda r: whole(r["weights_among_inputs"]),
    }
    return table_of("fairness", "Fairness sheet: the models as they were built, framework by framework", data, shown)


def models_of_runs(records: Iterable[Mapping[str, Any]], models: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return models that only measured runs trained, as records like those of the rule train.

    Args:
        records: run records.
        models: records of the rule train, each with `model`.
    """
    by_model: dict[str, dict[str, Any]] = {record["model"]: {} for record in models}
    known = len(by_model)
    for record in records:
        cell = record["cell"]
        if cell.get("phase") == "train" and record["status"] == "ok" and record["workload"]:
            name = f"{cell['workload']}-{cell['dataset']}-{cell['runtime']}"
            facts = {"status": "ok", "reason": None, "weights": "measured", "workload": record["workload"]}
            by_model.setdefault(name, {"model": name, **facts})
    return list(by_model.values())[known:]


def _row(record: Mapping[str, Any], check: Mapping[str, Any]) -> dict[str, Any]:
    """Return one model; a failed one has its row, with the reason."""
    facts = record.get("workload") or {}
    structure = facts.get("structure") or {}
    model, framework = record["model"].rsplit("-", 1)
    flops, source = _flops(framework, facts, check)
    return {
        "model": model,
        "framework": framework,
        "status": record["status"],
        "reason": record["reason"],
        "parameters": facts.get("parameters"),
        "flops": flops,
        "flops_source": source,
        "input_shape": _joined(facts.get("input_shape"), " x "),
        "input_layout": facts.get("input_layout"),
        "weights": record.get("weights"),
        "weights_source": _SOURCES.get(record.get("weights", "")),
        "weights_sha256": record.get("weights_sha256"),
        "convolutions": structure.get("convolutions"),
        "biased_convolutions": structure.get("biased_convolutions"),
        "strided_convolutions": _counted(structure.get("strided_convolutions")),
        "strided_padding": _joined(structure.get("strided_padding"), "; "),
        "epsilons": _joined(structure.get("epsilons"), ", "),
        "activations": _joined(structure.get("activations"), ", "),
        "weights_among_inputs": check.get("weights_among_inputs"),
    }


def _flops(framework: str, facts: Mapping[str, Any], check: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """Operations of a sample and where they were counted, or None and why they are unknown."""
    if check.get("flops") is not None:
        return check["flops"], "export"
    if facts.get("flops") is not None:
        return facts["flops"], framework
    return None, check.get("flops_reason") or facts.get("flops_reason")


def _joined(values: Iterable[Any] | None, between: str) -> str | None:
    return between.join(map(str, values)) or None if values is not None else None


def _counted(counts: Mapping[str, int] | None) -> str | None:
    return _joined([f"{count} of {kernel}" for kernel, count in counts.items()], ", ") if counts is not None else None
