"""What was measured, on what, with what, and by which code: rows of name and value for the report's lists."""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from framewatt.frames.factor_words import label, phrase
from framewatt.host.machine import any_session_recorded, facts_of, measured_by, session_of
from framewatt.report.imported import Facts, files_read, how_sampled
from framewatt.report.material import Material
from framewatt.report.numbers import UNKNOWN, known, plural, si, significant
from framewatt.report.tables import Table
from framewatt.runs.batches import PASSES
from framewatt.study.factors import shared
from framewatt.study.statistical_tests import NAMES
from framewatt.study.training import FINE_TUNED, TRAINED, training_of, weights_of

_OPTIMIZERS = {"sgd": "SGD", "adam": "Adam", "lamb": "LAMB"}

_DRIFT_SPREADS = 3.0
"""Threshold, in combined standard deviations, above which the report mentions a change of idle power."""


def measured(material: Material) -> Facts:
    """The study: cells, what was run or read, tests."""
    settings = material.plan["settings"]
    statistics = settings["statistics"]
    return [
        ("Study", material.plan["study"]),
        ("Cells", "; ".join(_crosses(material))),
        *(files_read(material) if material.imported else _blocks_and_windows(material)),
        ("Compared", ", ".join(material.compared).replace("_", " ")),
        (
            "Test of pairs",
            f"{NAMES[statistics['test']]}, correction {statistics['correction']}, alpha {statistics['alpha']:g}",
        ),
    ]


def _blocks_and_windows(material: Material) -> Facts:
    """How often cells were measured, in which order, and what was timed."""
    plan, settings = material.plan, material.plan["settings"]
    window = settings["window"]
    facts = [
        (
            "Blocks",
            f"{_blocks(plan)} of every one of {plural(len(plan['cells']), 'cell')}, "
            f"shuffled anew from seed {plan['seed']}; {plural(material.planned, 'run')} in all",
        ),
    ]
    if any(cell["phase"] == "infer" for cell in plan["cells"]):
        facts.append(
            (
                "Timed in inference",
                f"{_passes(window)} over the test set, then on until {window['minimum_s']:g} s are over, "
                f"after {plural(window['warm_up_batches'], 'warm-up batch').replace('batchs', 'batches')}",
            )
        )
        inferred = {cell["workload"]: None for cell in plan["cells"] if cell["phase"] == "infer"}
        taught = [name for name in inferred if weights_of(settings, name) in (TRAINED, FINE_TUNED)]
        if taught:
            facts.append(("Weights are trained in", _by_model(settings, taught, _made)))
    trained = list({cell["workload"]: None for cell in plan["cells"] if cell["phase"] == "train"})
    if trained:
        facts.append(("Timed in training", _by_model(settings, trained, _timed)))
    return [*facts, ("Rest before a run", _rest(settings["cool_down"]))]


def _blocks(plan: Mapping[str, Any]) -> str:
    """How many blocks there are; of a merged study, on which machine."""
    if "blocks" in plan:
        return ", ".join(f"{plural(count, 'block')} on {machine}" for machine, count in plan["blocks"].items())
    return plural(plan["repetitions"], "block")


def _passes(window: Mapping[str, Any]) -> str:
    count = window.get("passes", PASSES)
    return "one whole pass" if count == PASSES else f"{count} whole passes"


def _by_model(settings: Mapping[str, Any], models: Sequence[str], words: Callable[[Mapping[str, Any]], str]) -> str:
    """How models are trained: once where that is the same of all of them, else model by model."""
    told = {name: words(training_of(settings, name)) for name in models}
    each = [f"{name}: {text}" for name, text in told.items()]
    return ". ".join(each) if len(set(told.values())) > 1 else told[models[0]]


def _made(training: Mapping[str, Any]) -> str:
    """How weights are made."""
    return (
        f"{plural(training['epochs'], 'epoch')} of {_OPTIMIZERS[training['optimizer']]} at learning rate "
        f"{training['learning_rate']:g}, in batches of {training['batch_size']}{_tuned(training)}"
    )


def _timed(training: Mapping[str, Any]) -> str:
    """What a measured training is."""
    return f"{plural(training['epochs'], 'epoch')} from random weights, without evaluation{_tuned(training)}"


def _tuned(training: Mapping[str, Any]) -> str:
    """Schedule, clipping and weight decay in words; empty where the study has none of them."""
    parts = []
    if schedule := training.get("schedule"):
        parts.append(f"{schedule['kind']} schedule after {plural(schedule['warm_up_steps'], 'warm-up step')}")
    if training.get("clip_norm"):
        parts.append(f"gradients clipped to a norm of {training['clip_norm']:g}")
    if training.get("weight_decay"):
        parts.append(f"weight decay {training['weight_decay']:g}")
    return "".join(f"; {part}" for part in parts)


def _rest(cool_down: Mapping[str, Any]) -> str:
    rest = f"{cool_down['rest_s']:g} s"
    if cool_down["idle_band"] is None:
        return rest
    return (
        f"{rest}, then until power is within {100 * cool_down['idle_band']:g} % of idle, "
        f"{cool_down['timeout_s']:g} s at most"
    )


def _crosses(material: Material) -> list[str]:
    """The crosses of compared factors, one phrase each."""
    groups: dict[str, list[str]] = {}
    for cell in material.plan["cells"]:
        levels = {name: level for name, level in cell.items() if name != "id"}
        group = phrase(levels, shared(levels, material.compared))
        groups.setdefault(group, []).append(label(levels, material.compared))
    return [f"{group}: {', '.join(labels)}" if group else ", ".join(labels) for group, labels in groups.items()]


def machines(material: Material) -> list[Facts]:
    """The machines that measured, each once however often it booted; the reader should know if there are several."""
    booted = sessions(material)
    told: dict[str, list[Mapping[str, Any]]] = {}  # what the records of each say of it
    nodes: dict[str, str | None] = {}
    for record in material.records:
        if record["machine"]:
            name = _key(record, booted)
            told.setdefault(name, []).append(record["machine"])
            nodes.setdefault(name, record.get("node"))
    if not told and material.idle.get("machine"):
        told, nodes = {"idle": [material.idle["machine"]]}, {"idle": material.idle.get("node")}
    runs = _runs_of if booted > 1 else lambda every: []
    found = []
    for name, every in told.items():
        node = nodes[name]
        heading = [("Node", node)] if node else [("Machine", name)] if material.merged else []
        found.append(heading + _of_machine(every) + runs(every))
    return found


def sessions(material: Material) -> int:
    """Number of sessions (boots of a machine) in which the runs were measured; 0 where every record is older than 4."""
    if not any_session_recorded(material.records):
        return 0
    return len({session_of(record["machine"]) for record in material.records if record["machine"]})


def compared_machines(material: Material) -> str:
    """What holds of numbers of several machines."""
    if not sessions(material):
        return "Their numbers do not compare."
    if material.merged:
        return (
            "Each is a level of the factor machine: no cell, mean or comparison mixes them, and what all of them say "
            "together stands apart (table of machines)."
        )
    return (
        "Means over all runs mix them. Within a block that one of them measured as a whole cells compare as on one "
        "machine; flags of comparisons and answers name the blocks of several."
    )


def _key(record: Mapping[str, Any], sessions: int) -> str:
    """What tells machines apart: hardware and node, or all that was said of them before records told sessions."""
    machine = record["machine"]
    return str(measured_by(machine, record.get("node"))) if sessions else json.dumps(facts_of(machine), sort_keys=True)


def _of_machine(every: Sequence[Mapping[str, Any]]) -> Facts:
    """What the records of a machine say of it; what differs between its sessions is named with every value."""
    names = dict.fromkeys(name for machine in every for name in facts_of(machine))
    values = {name: dict.fromkeys(_value(name, machine.get(name)) for machine in every) for name in names}
    return [(_words(name), " or ".join(found)) for name, found in values.items()]


def _runs_of(every: Sequence[Mapping[str, Any]]) -> Facts:
    """How many runs a machine has in each of its sessions."""
    told = [plural(count, "run") for count in Counter(map(session_of, every)).values()]
    return [("Sessions (boots)", f"{len(told)}, with {', '.join(told)}")]


def instruments(material: Material) -> Table:
    """One row per domain: its meter, sampling period, and idle power."""
    seen: dict[tuple[str, str, str, bool], None] = {}
    for record in material.records:
        for window in record["windows"].values():
            for domain, energy in window["domains"].items():
                seen[domain, energy["instrument"], energy["source"], energy["estimated"]] = None
    rows = []
    for domain, instrument, source, estimated in sorted(seen):
        for node, calibrations in material.calibrations.items():
            told = [idle.get("domains", {}).get(domain, {}) for idle in calibrations]
            powers = [si(power.get(name), "W") for power in told for name in ("mean_power_w", "sd_power_w")]
            where = f"{domain} of node {node}" if node else domain
            rows.append([where, instrument, source, "estimated" if estimated else "measured", *powers])
    header = ["domain", "instrument", "quantity read", "measured or estimated"]
    if material.imported:
        return Table("instruments", "Domains, and what read them", header, [row[: len(header)] for row in rows])
    header += ["idle power before", "standard deviation before", "idle power after", "standard deviation after"]
    return Table("instruments", "Domains, what reads them, and their power at rest", header, rows)


def sampling(material: Material) -> Facts:
    """Performance of the sampler, and how long idle power was measured."""
    if material.imported:
        return how_sampled(material)
    summaries = [record["sampler"] for record in material.records if record["sampler"]]
    rates = [summary["rate_per_s"] for summary in summaries if known(summary.get("rate_per_s"))]
    facts = [("Sampling asked for", f"every {si(material.plan['settings']['instruments']['period_s'], 's')}")]
    if rates:
        missed = sum(summary.get("missed_reads") or 0 for summary in summaries)
        reads = sum(summary.get("reads") or 0 for summary in summaries)
        low, high = significant(min(rates)), significant(max(rates))
        facts.append(
            ("Sampling achieved", f"{low} to {high} reads per second; {missed} of {reads + missed} reads missed")
        )
    parts = material.totals["parts"].dropna().unique()
    if len(parts):
        facts.append(("Energy is", "; in other runs ".join(f"that of {part}" for part in parts)))
    if known(material.idle.get("duration_s")):
        after = (
            "and after them"
            if all(after for _, after in material.calibrations.values())
            else ("and not after them: the uncertainty of net energy holds no drift of idle power")
        )
        facts.append(("Idle power", f"measured for {material.idle['duration_s']:.0f} s before the runs {after}"))
    if disturbed := _idle_disturbed(material):
        facts.append(("Idle power was disturbed", "; ".join(disturbed)))
    drifted = _idle_drift(material)
    if drifted:
        facts.append(("Idle power changed", f"{'; '.join(drifted)}: the uncertainty of net energy holds it"))
    return facts


def _idle_disturbed(material: Material) -> list[str]:
    """What other processes did while idle power was measured."""
    return [
        f"{when}{_on(node)}, {cause}"
        for node, calibrations in material.calibrations.items()
        for when, idle in zip(("before the runs", "after them"), calibrations, strict=True)
        for cause in (idle.get("witness") or {}).get("disturbed") or []
    ]


def _on(node: str) -> str:
    """A node in words, after others; nothing where the study has none."""
    return f" on node {node}" if node else ""


def _idle_drift(material: Material) -> list[str]:
    """Domains whose idle power changed between before and after the runs by more than both spreads explain."""
    return [line for node, pair in material.calibrations.items() for line in _drift_of(*pair, _on(node))]


def _drift_of(idle: Mapping[str, Any], idle_after: Mapping[str, Any], where: str) -> list[str]:
    """The same of one node, which `where` names."""
    found = []
    for domain, before in idle.get("domains", {}).items():
        after = idle_after.get("domains", {}).get(domain, {})
        values = [power.get(name) for name in ("mean_power_w", "sd_power_w") for power in (before, after)]
        if not all(known(value) for value in values):
            continue
        mean_before, mean_after, *spreads = values
        if abs(mean_after - mean_before) > _DRIFT_SPREADS * math.hypot(*spreads):
            found.append(f"{domain}{where} from {si(mean_before, 'W')} to {si(mean_after, 'W')}")
    return found


def identity(material: Material) -> Facts:
    """Hashes of code, data, weights and the like; where runs may rightly differ, the number of values."""
    values: dict[str, set[str]] = {}
    for record in material.records:
        identity = {name: value for name, value in record["identity"].items() if not isinstance(value, Mapping)}
        code = {f"code_{name}": value for name, value in (record["identity"].get("code") or {}).items()}
        for name, value in (code | identity).items():
            if value is not None:
                values.setdefault(name, set()).add(_value(name, value))
    facts: Facts = []
    for name, found in values.items():
        ordered = sorted(found)
        facts.append((_words(name), ordered[0] if len(found) == 1 else f"{len(found)} different: {', '.join(ordered)}"))
    return facts


def _words(name: str) -> str:
    return name.replace("_", " ").removesuffix(" b")


def _value(name: str, value: Any) -> str:
    if value is None or value in ([], ""):
        return UNKNOWN if value is None else "none"
    if name.endswith("_b"):
        return f"{value / 2**30:.1f} GiB"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(_value("", item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(key)} {_value(key, item)}" for key, item in value.items())
    return str(value)
