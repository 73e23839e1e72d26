"""Describe a package for machines: a Research Object Crate, CITATION.cff and Zenodo's metadata.

The crate is RO-Crate 1.1 with the profiles Workflow RO-Crate 1.0 and Workflow Run Crate 0.5
(https://w3id.org/ro/wfrun/workflow): every run is an action with its inputs, outputs, software and hardware.
"""

import itertools
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import yaml
from rocrate.model.computationalworkflow import ComputationalWorkflow
from rocrate.model.contextentity import ContextEntity
from rocrate.model.file import File
from rocrate.rocrate import ROCrate

from framewatt.host.machine import session_of
from framewatt.imports.merged_study import FOLDER

METADATA = "ro-crate-metadata.json"

_WORKFLOW = "workflow/Snakefile"
_PROFILES = (
    ("https://w3id.org/ro/wfrun/process/0.5", "Process Run Crate", "0.5"),
    ("https://w3id.org/ro/wfrun/workflow/0.5", "Workflow Run Crate", "0.5"),
    ("https://w3id.org/workflowhub/workflow-ro-crate/1.0", "Workflow RO-Crate", "1.0"),
)
_TYPES = {
    ".json": "application/json",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".tex": "text/x-tex",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".pdf": "application/pdf",
    ".parquet": "application/vnd.apache.parquet",
    ".yaml": "application/yaml",
    ".py": "text/x-python",
    ".txt": "text/plain",
    ".bits": "application/octet-stream",
}


@dataclass(frozen=True)
class Description:
    """Title, licence and authors of the package.

    Attributes:
        name: its title.
        text: what it holds.
        license: SPDX name of the licence of its data.
        authors: their names.
        version: framewatt's.
    """

    name: str
    text: str
    license: str
    authors: Sequence[str]
    version: str


_Below = Mapping[str, list[Any]]
"""By folder, the files in it and in those below, in the order of their names."""


def crate_metadata(names: Iterable[str], records: Collection[Mapping[str, Any]], about: Description) -> str:
    """Return the content of ro-crate-metadata.json; it is the same for the same records.

    Args:
        names: every file of the package except this one.
        records: run records, schema-checked, in measured order.
        about: title, licence and authors of the package.
    """
    crate = ROCrate(version="1.1")
    files: dict[str, Any] = {}
    below: dict[str, list[Any]] = {}
    for name in sorted(names):
        suffix = name[name.rfind(".") :]
        kind = ComputationalWorkflow if name == _WORKFLOW else File
        properties = {"encodingFormat": _TYPES.get(suffix, "text/plain")}
        files[name] = crate.add(kind(crate, dest_path=name, properties=properties))
        for folder in PurePosixPath(name).parents:
            below.setdefault(str(folder), []).append(files[name])
    started, ended = span_utc(records)
    crate.name, crate.description = about.name, about.text
    crate.license = f"https://spdx.org/licenses/{about.license}"
    _add(crate, crate.license, "CreativeWork", name=about.license)
    crate.datePublished = (ended or "1980-01-01T00:00:00+00:00")[:10]
    authors = [_add(crate, f"#author-{number}", "Person", name=name) for number, name in enumerate(about.authors, 1)]
    crate.root_dataset["author"] = authors
    for identifier, name, version in _PROFILES:
        _add(crate, identifier, "CreativeWork", name=name, version=version)
    crate.root_dataset["conformsTo"] = [{"@id": identifier} for identifier, _, _ in _PROFILES]
    workflow = _workflow(crate, files, about)
    actions = [
        _imported_run(crate, below, record) if record.get("source") == "files" else _run(crate, files, below, record)
        for record in records
    ]
    outputs = [file for name, file in files.items() if name.startswith("results/") and "/measure/" not in name]
    whole = _add(
        crate,
        "#study",
        "CreateAction",
        name=f"Execution of {about.name}",
        instrument=workflow,
        startTime=started,
        endTime=ended,
        object=[file for name, file in files.items() if name.startswith(("config/", "envs/"))],
        result=outputs,
        agent=authors[0],
    )
    crate.root_dataset["mentions"] = [whole, *actions]
    # To encode all at once with an indent takes 8.5 MB for 1,000 runs, while the text has 1.8 MB.
    words = json.JSONEncoder(indent=1, sort_keys=True, ensure_ascii=False).iterencode(crate.metadata.generate())
    return "".join(iter(lambda: "".join(itertools.islice(words, 1 << 14)), "")) + "\n"


def _workflow(crate: ROCrate, files: Mapping[str, Any], about: Description) -> Any:
    """Add the main workflow and the language that it is written in."""
    language = _add(
        crate,
        "https://w3id.org/workflowhub/workflow-ro-crate#snakemake",
        "ComputerLanguage",
        name="Snakemake",
        identifier={"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
        url={"@id": "https://snakemake.readthedocs.io"},
    )
    workflow = files[_WORKFLOW]
    workflow["name"], workflow["version"] = "framewatt", about.version
    workflow["programmingLanguage"] = language
    workflow["license"] = "https://spdx.org/licenses/MIT"
    crate.root_dataset["mainEntity"] = workflow
    return workflow


def _run(crate: ROCrate, files: Mapping[str, Any], below: _Below, record: Mapping[str, Any]) -> Any:
    """Return a measured run as an action of its framework on its machine."""
    cell = record["cell"]
    libraries = (record["workload"] or {}).get("libraries", {})
    engine = record["identity"]["environment"]["name"]
    known = ", ".join(f"{name} {version}" for name, version in sorted(libraries.items()))
    version = known or engine
    software_id = f"#software-{engine.replace('/', '-')}"
    software = _add(crate, software_id, "SoftwareApplication", name=engine, softwareVersion=version)
    machine = record["machine"]
    hardware = _add(
        crate,
        f"#machine-{session_of(machine)}",
        "Thing",
        name=machine["cpu_model"] or "unknown processor",
        description=json.dumps(machine, sort_keys=True),
    )
    folder = _folder_of(record, files)
    window = record["windows"]["process"]
    failed = record["status"] != "ok"
    locks = [files[name] for name in (f"envs/{engine}/requirements.txt",) if name in files]
    action: dict[str, Any] = {
        "name": f"{record['cell_id']}, repetition {record['repetition']}",
        "instrument": software,
        "startTime": window["start_utc"],
        "endTime": window["end_utc"],
        "actionStatus": {"@id": f"http://schema.org/{'FailedActionStatus' if failed else 'CompletedActionStatus'}"},
        "object": [*locks, hardware],
        "result": below.get(folder, []),
        "description": f"{cell['phase']} {cell['workload']} on {cell['dataset']}, batch size {cell['batch_size']}",
    }
    if failed:
        action["error"] = "; ".join(record["reasons"])
    return _add(crate, f"#{record['cell_id']}/{record['repetition']}", "CreateAction", **action)


def _folder_of(record: Mapping[str, Any], files: Mapping[str, Any]) -> str:
    """Return the folder of a run's files; in a merged package, it is in the package of its machine."""
    results, of = f"results/{record['study']}", record.get("of")
    if of is None:
        return f"{results}/measure/{record['cell_id']}/{record['repetition']}"
    end = f"/measure/{of['cell']}/{of['repetition']}/run.json"
    below = f"{results}/{FOLDER}/{of['machine']}/"
    return next(name for name in files if name.startswith(below) and name.endswith(end)).rpartition("/")[0]


def _imported_run(crate: ROCrate, below: _Below, record: Mapping[str, Any]) -> Any:
    """Return an imported run as an action of the tools that logged it, with the hashes of its files."""
    tools = [
        _add(crate, f"#tool-{tool}", "SoftwareApplication", name=tool, softwareVersion="unknown")
        for tool in record["meters"]
    ]
    window = record["windows"].get("process", {})
    failed = record["status"] != "ok"
    folder = f"results/{record['study']}/measure/{record['cell_id']}/{record['repetition']}"
    sources = "; ".join(f"{file['path']} (sha256 {file['sha256']})" for file in record["files"])
    action: dict[str, Any] = {
        "name": f"{record['cell_id']}, repetition {record['repetition']}",
        "instrument": tools,
        "startTime": window.get("start_utc"),
        "endTime": window.get("end_utc"),
        "actionStatus": {"@id": f"http://schema.org/{'FailedActionStatus' if failed else 'CompletedActionStatus'}"},
        "result": below.get(folder, []),
        "description": f"read from {sources}" if sources else "no file was there",
    }
    if failed:
        action["error"] = "; ".join(record["reasons"])
    return _add(crate, f"#{record['cell_id']}/{record['repetition']}", "CreateAction", **action)


def span_utc(records: Iterable[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """Return when the first run started and when the last ended; None if no run has a UTC timestamp."""
    windows = (record["windows"]["process"] for record in records if "process" in record["windows"])
    spans = [(window["start_utc"], window["end_utc"]) for window in windows]
    started, ended = [start for start, _ in spans if start], [end for _, end in spans if end]
    return min(started, default=None), max(ended, default=None)


def _add(crate: ROCrate, entity_id: str, kind: str, /, **properties: Any) -> Any:
    """Add an entity to the crate; an existing one is returned unchanged."""
    # To dereference an absent entity searches all entities for crates within the crate.
    if entity_id in crate:
        return crate.dereference(entity_id)
    entity = crate.add(ContextEntity(crate, entity_id, properties={"@type": kind}))
    for name, value in properties.items():
        if value is not None:
            entity[name] = value
    return entity


_NOBODY = "Authors not named in the study file"


def authors_of(settings: Mapping[str, Any]) -> Sequence[str]:
    """Return the names in the study's `archive.authors`, or a placeholder if there are none.

    Args:
        settings: the study's, with defaults filled in.
    """
    return settings["archive"]["authors"] or [_NOBODY]


def citation_cff(settings: Mapping[str, Any], version: str, released: str) -> str:
    """Return the CITATION.cff of a study's data set.

    Args:
        settings: the study's, with defaults filled in.
        version: framewatt's.
        released: day of the last run, ISO 8601.
    """
    content = {
        "cff-version": "1.2.0",
        "message": "If you use these measurements, please cite them, and framewatt, which made them.",
        "type": "dataset",
        "title": settings["title"],
        "abstract": settings["description"] or settings["title"],
        "authors": [{"name": name} for name in authors_of(settings)],
        "version": version,
        "date-released": released,
        "license": settings["archive"]["license"],
        "keywords": list(settings["archive"]["keywords"]),
    }
    return cff_text(content)


def zenodo_json(settings: Mapping[str, Any], version: str, released: str) -> str:
    """Return the .zenodo.json of a study's data set, the metadata of its deposit.

    Args:
        settings: the study's, with defaults filled in.
        version: framewatt's.
        released: day of the last run, ISO 8601.
    """
    content = {
        "title": settings["title"],
        "upload_type": "dataset",
        "description": settings["description"] or settings["title"],
        "creators": [{"name": name} for name in authors_of(settings)],
        "version": version,
        "publication_date": released,
        "license": settings["archive"]["license"].lower(),
        "keywords": list(settings["archive"]["keywords"]),
        "access_right": "open",
    }
    return zenodo_text(content)


def cff_text(content: Any) -> str:
    """Return the text of CITATION.cff with some content."""
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def zenodo_text(content: Any) -> str:
    """Return the text of .zenodo.json with some content."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
