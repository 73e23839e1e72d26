"""Facts of a study of files: its logs instead of windows, machines and samplers."""

from collections import Counter
from typing import Any

from framewatt.report.material import Material
from framewatt.report.numbers import plural

Facts = list[tuple[str, str]]


def files_read(material: Material) -> Facts:
    """Runs and the logs that they were read from."""
    files = material.plan["settings"]["files"]
    read: Counter[tuple[str, str]] = Counter()
    for record in material.records:
        read.update({(file["reader"], _folder(file["path"])) for file in record["files"]})
    logs = [f"{reader} in {folder} of {plural(count, 'run')}" for (reader, folder), count in sorted(read.items())]
    left_out = material.plan.get("left_out", [])
    without = f"; {plural(len(left_out), 'run')} left out by the study" if left_out else ""
    return [
        (
            "Runs",
            f"{plural(material.planned, 'run')} of {plural(len(material.plan['cells']), 'cell')}, not measured "
            f"here{without}",
        ),
        ("Logs", "; ".join(logs) or "none"),
        ("Patterns", "; ".join(log["pattern"] for log in files["logs"])),
    ]


def how_sampled(material: Material) -> Facts:
    """Facts of the sampling, as far as the logs tell."""
    parts = material.totals["parts"].dropna().unique()
    facts = [("Energy is", "; in other runs ".join(f"that of {part}" for part in parts))] if len(parts) else []
    baseline = material.plan["settings"]["files"]["baseline"]
    rest = "; ".join(f"{domain} {_watts(power)}" for domain, power in baseline.items())
    facts.append(("Power at rest", rest or "unknown, so that net energy is unknown"))
    unknown: Counter[tuple[str, str]] = Counter()
    for record in material.records:
        unknown.update(record.get("unknown", {}).items())
    told = [f"{_words(name)} ({reason})" for name, reason in sorted(unknown)]
    return [*facts, ("Unknown", "; ".join(told) or "nothing")]


def _watts(power: dict[str, Any]) -> str:
    spread = power["sd_power_w"]
    return f"{power['mean_power_w']:g} W" + ("" if spread is None else f" ± {spread:g} W") + ", stated by the study"


def _words(field: str) -> str:
    """A field of a record in words, without its unit."""
    return field.removesuffix("_per_s").removesuffix("_s").replace("_", " ")


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "the root"
