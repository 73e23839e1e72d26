"""The study as a whole, for a reviewer: dates, versions, weights, hashes, how to cite it and how to reproduce it."""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from framewatt.frames.headline import counts
from framewatt.frames.quality import METRIC, QUALITY, with_quality, words_of
from framewatt.report.evidence import name_of
from framewatt.report.material import Material
from framewatt.report.numbers import Facts, field_value, field_words, known, listed, significant
from framewatt.report.tables import Table
from framewatt.study.runtimes import RUNTIMES
from framewatt.study.training import FINE_TUNED, TRAINED, weights_of

_UNKNOWN = "unknown"
_TO_THE_DAY, _TO_THE_MINUTE = 10, 16
_ORIGINS = {
    "trained": "trained in this workflow, unmeasured",
    "fine-tuned": "trained in this workflow, unmeasured, from published ones",
    "seeded": "random, so that accuracy means nothing and is not reported",
    "pretrained": "the framework's official ones",
    "given": "as they were given",
}
_TWO_TRAININGS = "each framework trained its own, so a difference between them is that of two trainings, not of speed"

_BIBTEX = {
    "\\": r"{\textbackslash}",
    "{": r"{\textbraceleft}",
    "}": r"{\textbraceright}",
    "~": r"{\textasciitilde}",
    "^": r"{\textasciicircum}",
    **{sign: f"\\{sign}" for sign in "%&#_$"},
}
"""What BibTeX reads as something else than text, as text."""


@dataclass(frozen=True)
class Citation:
    """How to cite a study.

    Attributes:
        text: as a sentence.
        bibtex: as an entry of BibTeX.
    """

    text: str
    bibtex: str


@dataclass(frozen=True)
class AboutSection:
    """Dates, versions and weights; how to cite the study; how to reproduce it."""

    facts: Facts
    citation: Citation
    commit: str | None
    study_file: str
    commands: Sequence[str]
    environments: Table
    identity: Facts


def about_section(material: Material) -> AboutSection:
    """Describe the study as a whole, how to cite it and how to reproduce it."""
    commit, study = commit_of(material), material.plan["study"]
    return AboutSection(
        about(material, commit),
        citation(material, commit),
        commit,
        f"config/studies/{study}.yaml",
        commands_of(material.plan, commit),
        _environments(material),
        _identity(material),
    )


def about(material: Material, commit: str | None) -> Facts:
    """Return dates, versions, threads, governor, watts of an estimate, weights, and the sources of code and data.

    Args:
        material: of the report.
        commit: the commit that made the records; None where they name none, or different ones.
    """
    first, last = _dates(material.records)
    return [
        ("First run started", _minute(first)),
        ("Last run ended", _minute(last)),
        ("framewatt", f"{_versions(material)}, {f'commit {commit}' if commit else 'commit unknown'}"),
        ("Frameworks", _libraries(material)),
        ("NVIDIA driver", _driver(material)),
        ("Threads", _either(str(record["threads"]) for record in material.records if known(record.get("threads")))),
        ("Governor", _governor(material)),
        *_estimate(material),
        *_weights(material),
        ("Repository of the code", "unknown: the records name none"),
        ("Licence of the data", _archive(material).get("license") or _UNKNOWN),
    ]


def citation(material: Material, commit: str | None) -> Citation:
    """Return how to cite the study, from its title, its `archive` settings, the dates of its runs and their version.

    Args:
        material: of the report.
        commit: as of `about`.
    """
    plan, archive = material.plan, _archive(material)
    authors, title = list(archive.get("authors") or []), " ".join(str(plan["title"]).split())
    last = _dates(material.records)[1]
    code = f"framewatt {_versions(material)}" + (f", commit {commit}" if commit else "")
    how = f"{'read' if material.imported else 'measured'} with {code}"
    licence = f"data under {archive['license']}" if archive.get("license") else "licence of the data unknown"
    note = f"Study {plan['study']}, {how}; {licence}"
    day = last[:_TO_THE_DAY] if last else "date unknown"
    end = "" if title.endswith((".", "?", "!")) else "."
    text = f"{listed(authors) or 'Authors not named'} ({day}). {title}{end} {note}."
    fields = {
        "title": f"{{{_escaped(title)}}}",
        "author": " and ".join(_author(name) for name in authors),
        "year": last[:4] if last else "",
        "note": _escaped(note),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    key = re.sub(r"[^A-Za-z0-9]+", "-", f"framewatt-{plan['study']}")
    return Citation(text, "\n".join([f"@misc{{{key},", ",\n".join(lines), "}"]))


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
    calls = [f"snakemake --cores 1 {target} --config {' '.join(config)}" for target in ("report", "archive")]
    return [*checkout, *calls]


def commit_of(material: Material) -> str | None:
    """Return the commit that measured, if every run names the same and it has the form of a commit; else None."""
    commits = {str((record["identity"].get("code") or {}).get("commit")) for record in material.records}
    commit = commits.pop() if len(commits) == 1 else ""
    return commit if re.fullmatch("[0-9a-f]{7,64}", commit) else None


def _environments(material: Material) -> Table:
    rows = [
        [
            name_of(environment),
            str(environment["status"]),
            str(environment.get("python_version") or "unknown"),
            str(environment.get("lock_sha256") or "none"),
        ]
        for environment in material.environments
    ]
    caption = "Environments and the hashes of their locks"
    return Table("environments", caption, ["name", "status", "python", "lock"], rows)


def _identity(material: Material) -> Facts:
    """Hashes of code, data, weights and the like; where runs may rightly differ, the number of values."""
    values: dict[str, set[str]] = {}
    for record in material.records:
        identity = {name: value for name, value in record["identity"].items() if not isinstance(value, Mapping)}
        code = {f"code_{name}": value for name, value in (record["identity"].get("code") or {}).items()}
        for name, value in (code | identity).items():
            if value is not None:
                values.setdefault(name, set()).add(field_value(name, value))
    facts: Facts = []
    for name, each in values.items():
        ordered = sorted(each)
        facts.append(
            (field_words(name), ordered[0] if len(each) == 1 else f"{len(each)} different: {', '.join(ordered)}")
        )
    return facts


def _dates(records: Collection[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """Return when the first run started and when the last ended, as ISO 8601; None where no record has a time."""

    def time_of(record: Mapping[str, Any], edge: str) -> str | None:
        process = (record.get("windows") or {}).get("process") or {}
        return process.get(edge) or (record.get("clock") or {}).get("utc")

    spans = [(time_of(record, "start_utc"), time_of(record, "end_utc")) for record in records]
    starts, ends = [start for start, _ in spans if start], [end for _, end in spans if end]
    return min(starts, default=None), max(ends, default=None)


def _minute(time: str | None) -> str:
    return f"{time[:_TO_THE_MINUTE].replace('T', ' ')} UTC" if time else _UNKNOWN


def _versions(material: Material) -> str:
    return _either(record["framewatt_version"] for record in material.records)


def _either(values: Iterable[str]) -> str:
    return " or ".join(sorted(set(values))) or _UNKNOWN


def _libraries(material: Material) -> str:
    versions: dict[str, set[str]] = {}
    for record in material.records:
        for name, version in ((record.get("workload") or {}).get("libraries") or {}).items():
            versions.setdefault(str(name), set()).add(str(version))
    return ", ".join(f"{name} {_either(versions[name])}" for name in sorted(versions)) or _UNKNOWN


def _driver(material: Material) -> str:
    machines = [record["machine"] for record in material.records if record["machine"]]
    gpus = [machine["gpus"] for machine in machines if machine.get("gpus") is not None]
    drivers = _either(str(gpu["driver"]) for each in gpus for gpu in each if gpu.get("driver"))
    return "none, since no NVIDIA GPU was seen" if gpus and not any(gpus) else drivers


def _governor(material: Material) -> str:
    """The governor of the processors' clock: what the study sets, else what the checks before the runs found."""
    if wanted := material.plan["settings"].get("preflight", {}).get("set_governor"):
        return f"{wanted}, set by the study"
    checks = [record["preflight"] for record in material.records if record.get("preflight") is not None]
    if material.imported or not checks:
        return _UNKNOWN
    # The check speaks up of every governor but `performance`.
    return _either(
        next((finding["found"] for finding in check if finding["topic"] == "governor"), "performance")
        for check in checks
    )


def _estimate(material: Material) -> Facts:
    """The watts of a processor from which joules are estimated, where they are."""
    settings = material.plan["settings"].get("instruments", {})
    idle_w, busy_w = (settings.get(f"estimate_{state}_w_per_core") for state in ("idle", "busy"))
    if not material.estimate:
        return []
    watts = f"{idle_w:g} W for an idle and {busy_w:g} W for a busy processor" if known(idle_w, busy_w) else _UNKNOWN
    return [("Watts behind the estimate", watts)]


def _weights(material: Material) -> Facts:
    """Where the weights of every model for inference come from, and what accuracy its runs have with them."""
    if material.imported:
        return [("Weights", "unknown: runs that were read from files do not record it")]
    settings = material.plan["settings"]
    inferred = [cell for cell in material.plan["cells"] if cell.get("phase") == "infer"]
    origins: Facts = []
    for model in dict.fromkeys(str(cell["workload"]) for cell in inferred):
        origin = weights_of(settings, model)
        cells = [cell for cell in inferred if cell["workload"] == model]
        makers = {RUNTIMES[cell["runtime"]].framework for cell in cells}
        words = [_ORIGINS[origin], _qualities(material, cells)]
        words += [_TWO_TRAININGS] if origin in (TRAINED, FINE_TUNED) and len(makers) > 1 else []
        origins.append((f"Weights of {model}", "; ".join(words)))
    return origins


def _qualities(material: Material, cells: Sequence[Mapping[str, Any]]) -> str:
    """The quality of these cells' runs by runtime, those that have the same together: `accuracy 0.970 (torch)`."""
    rows = with_quality(material.totals[counts(material.totals)])
    rows = rows[rows["cell"].isin([cell["id"] for cell in cells]) & rows[QUALITY].notna()]
    runtimes: dict[str, list[str]] = {}
    for runtime, values in rows.groupby("runtime", sort=True)[QUALITY]:
        runtimes.setdefault(_span(values), []).append(str(runtime))
    what = words_of(list(rows[METRIC])) if len(rows) else "accuracy"
    return f"{what} {', '.join(f'{span} ({listed(names)})' for span, names in runtimes.items()) or _UNKNOWN}"


def _span(values: "pd.Series[float]") -> str:
    low, high = significant(values.min()), significant(values.max())
    return low if low == high else f"{low} to {high}"


def _archive(material: Material) -> Mapping[str, Any]:
    return dict(material.plan["settings"].get("archive") or {})


def _author(name: str) -> str:
    """A name as BibTeX reads it: one without `Family, Given` is a name as a whole."""
    return _escaped(name) if "," in name else f"{{{_escaped(name)}}}"


def _escaped(text: str) -> str:
    return "".join(_BIBTEX.get(sign, sign) for sign in text)
