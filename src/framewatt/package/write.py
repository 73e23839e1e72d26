"""Writes the package of a study: a bag with a crate, without personal data of its owner."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from framewatt import __version__
from framewatt.base.errors import FramewattError
from framewatt.package.bag import write_bag
from framewatt.package.citation import authors_of, citation_cff, zenodo_json
from framewatt.package.crate import METADATA, Description, crate_metadata, span_utc
from framewatt.package.private import secrets_in
from framewatt.privacy.secrets import Secrets

_TOLD = 8


def write_package(
    path: Path,
    files: Mapping[str, Path],
    texts: Mapping[str, str],
    records: Collection[Mapping[str, Any]],
    settings: Mapping[str, Any],
    secrets: Secrets,
) -> int:
    """Write a package, atomically; the same results give the same bytes.

    Args:
        path: the zip file.
        files: files by their name in the package.
        texts: further entries by name, as text.
        records: run records, schema-checked, in measured order.
        settings: the study's, with defaults filled in.
        secrets: texts that must not be in it.

    Returns:
        number of files in it.

    Raises:
        FramewattError: some file names its owner; nothing is written then.
    """
    released = (span_utc(records)[1] or "1980-01-01")[:10]
    payload: dict[str, bytes | Path] = {**files, **{name: text.encode() for name, text in texts.items()}}
    payload["CITATION.cff"] = citation_cff(settings, __version__, released).encode()
    payload[".zenodo.json"] = zenodo_json(settings, __version__, released).encode()
    payload[METADATA] = crate_metadata(payload, records, description_of(settings, __version__)).encode()
    if held := list(secrets_in(secrets, payload)):
        more = f" and {len(held) - _TOLD} more" if len(held) > _TOLD else ""
        raise FramewattError(
            f"{path}: found what names its owner: {'; '.join(held[:_TOLD])}{more}; allowed: none of that; what may be "
            "told stands in the study under archive.harmless: host or user where that name is a common word, or an "
            "address as it is"
        )
    info = {
        "Bag-Software-Agent": f"framewatt {__version__}",
        "Bagging-Date": released,
        "External-Description": settings["title"],
        "External-Identifier": path.stem,
    }
    return write_bag(path, payload, info)


def description_of(settings: Mapping[str, Any], version: str) -> Description:
    """Title, licence and authors of a study's package.

    Args:
        settings: the study's, with defaults filled in.
        version: framewatt's.
    """
    return Description(
        name=settings["title"],
        text=settings["description"] or settings["title"],
        license=settings["archive"]["license"],
        authors=authors_of(settings),
        version=version,
    )
