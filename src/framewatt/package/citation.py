"""Citation metadata of a package: CITATION.cff and .zenodo.json, from the study file."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

_NOBODY = "Authors not named in the study file"


def authors_of(settings: Mapping[str, Any]) -> Sequence[str]:
    """The names in the study's `archive.authors`, or one placeholder where there are none.

    Args:
        settings: the study's, with defaults filled in.
    """
    return settings["archive"]["authors"] or [_NOBODY]


def citation_cff(settings: Mapping[str, Any], version: str, released: str) -> str:
    """CITATION.cff of a study's data set.

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
    """.zenodo.json of a study's data set, the metadata of its deposit.

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
