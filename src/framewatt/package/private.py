"""Finds personal data of the owner in a package: file, place in it, and kind of secret."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from framewatt.base.encoded import as_text
from framewatt.base.privacy import Secrets
from framewatt.package.readable import UnreadableError, is_packed, parts_of

_LOCKED = re.compile(r"==(\d+(?:\.\d+){3})\b")
_WORD = re.compile(r"[^\s<>()\[\],;:\"']+")
_LOCKS = ("requirements.txt", "environment.json")


def secrets_in(secrets: Secrets, payload: Mapping[str, bytes | Path]) -> Iterator[str]:
    """One line for each kind of secret in each file, with its first place; never the secret itself.

    Args:
        secrets: what to look for.
        payload: content of every file, or its path, by its name in the package.
    """
    told = secrets.told | versions_in(_content(entry) for name, entry in payload.items() if name.endswith(_LOCKS))
    secrets = replace(secrets, told=told)
    for name, entry in payload.items():
        yield from (f"a file's name: {kind}" for _, kind in secrets.lines(name))
        found: dict[str, str] = {}
        try:
            for place, kind in _found(secrets, _content(entry)):
                # A secret found in plain text is not reported again in another encoding.
                if kind.split(" in ")[0] not in found:
                    found.setdefault(kind, place)
        except UnreadableError as error:
            yield f"{name} cannot be looked into ({error})"
        yield from (f"{name}{place}: {kind}" for kind, place in found.items())


def told_by(settings: Mapping[str, Any]) -> set[str]:
    """Words that a study publishes on purpose: those of its authors, title and description, and `harmless`.

    Args:
        settings: the study's, with defaults filled in.
    """
    stated = (*settings["archive"]["authors"], settings["title"], settings["description"] or "")
    words = {word.strip(".").lower() for text in stated for word in _WORD.findall(text)}
    return {*settings["archive"]["harmless"], *(words - {"host", "user"})}


def versions_in(locks: Iterable[bytes]) -> frozenset[str]:
    """Versions of four numbers in locks and environment records, which look like IP addresses (cuDNN has one)."""
    return frozenset(version for lock in locks for version in _versions(lock))


def _versions(lock: bytes) -> Iterable[str]:
    try:
        return map(str, json.loads(lock)["packages"].values())
    except (ValueError, TypeError, KeyError, AttributeError):
        return _LOCKED.findall(as_text(lock))


def _found(secrets: Secrets, content: bytes) -> Iterator[tuple[str, str]]:
    for place, text in parts_of(content):
        for line, kind in secrets.lines(text):
            yield f", {place}" if place else f", line {line}", kind
    if is_packed(content):
        yield from ((", its bytes", kind) for kind in secrets.among(content))


def _content(entry: bytes | Path) -> bytes:
    return entry if isinstance(entry, bytes) else entry.read_bytes()
