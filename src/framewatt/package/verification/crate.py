"""What the crate says, and how the package is cited, as both follow from study and records."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.package.bag import INFO
from framewatt.package.citation import citation_cff, zenodo_json
from framewatt.package.crate import METADATA, crate_metadata, span_utc
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.manifests import labels
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.package.write import description_of

_AGENT = "framewatt "


def problems(package: Opened) -> Iterator[str]:
    """Where the crate, the citation or the bag's own words are not those of the study and its records."""
    records = package.as_planned.sorted(lambda record: record["position"]).values()
    info = labels(package.folder)
    agent = info.get("Bag-Software-Agent", "")
    version = agent.removeprefix(_AGENT)
    if not agent.startswith(_AGENT) or any(record["framewatt_version"] != version for record in records):
        yield f"{INFO}: Bag-Software-Agent: it says {agent or 'nothing'}, the records say otherwise"
    settings = dict(package.settings)
    released = (span_utc(records)[1] or "1980-01-01")[:10]
    for label, found in (("Bagging-Date", released), ("External-Description", " ".join(settings["title"].split()))):
        if info.get(label) != found:
            yield f"{INFO}: {label}: it says {info.get(label) or 'nothing'}, study and records give {found}"
    for name, write in (("CITATION.cff", citation_cff), (".zenodo.json", zenodo_json)):
        path = package.data / name
        if not path.is_file() or path.read_text(encoding="utf-8") != write(settings, version, released):
            yield f"{name}: is not what study and records give"
    if len(records) == len(package.runs):
        yield from _crate(package, records, settings, version)


def _crate(
    package: Opened, records: Collection[dict[str, Any]], settings: dict[str, Any], version: str
) -> Iterator[str]:
    names = [path.relative_to(package.data).as_posix() for path in package.data.rglob("*") if path.is_file()]
    names.remove(METADATA) if METADATA in names else None
    try:
        text = crate_metadata(names, records, description_of(settings, version))
        told_of = package.data / METADATA
        if told_of.is_file() and told_of.read_bytes() == text.encode(errors="surrogatepass"):
            return  # of 10,000 runs, 70,000 entities need not be read twice
        told, found = _entities(mapping_in(told_of)), _entities(json.loads(text))
    except (KeyError, TypeError) as error:
        raise FramewattError(f"{METADATA}: not the metadata of a crate: {error!r}") from error
    for name in sorted(found.keys() - told.keys()):
        yield f"{name}: {METADATA} does not describe it"
    for name in sorted(told.keys() - found.keys()):
        yield f"{name}: {METADATA} describes it, and it is not there"
    for name in sorted(told.keys() & found.keys()):
        lines = differences(told[name], found[name], by="it says", why="study, records and files give")
        yield from some(lines, f"{METADATA}: {name}")


def _entities(crate: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The entities of a crate by their names."""
    entities = {entity["@id"]: entity for entity in crate["@graph"]}
    if len(entities) != len(crate["@graph"]):
        raise FramewattError(f"{METADATA}: found an entity twice; allowed: each once")
    return entities
