"""Upload a package to Zenodo, into a draft that its owner publishes by hand.

The REST interface is Zenodo's deposit API (https://developers.zenodo.org). The number of the draft is written next to
the package, and the hash of the package into the draft, so that a broken upload resumes in the same draft, even if the
connection broke before the server could confirm it, and without a file that is already uploaded.
"""

import hashlib
import json
import re
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, write_json
from framewatt.package.confined import Limits, check
from framewatt.package.deposit_server import Server, UnknownOutcomeError

_LARGEST_METADATA_B = 1 << 20
_TOLD = 3


@dataclass(frozen=True)
class Package:
    """A package that was verified.

    Attributes:
        path: the zip file.
        md5: the checksum that Zenodo reports for files; it detects accidents only, not tampering, unlike SHA-256.
        sha256: identifies its draft.
        metadata: content of its .zenodo.json.
    """

    path: Path
    md5: str
    sha256: str
    metadata: dict[str, Any]

    @property
    def mark(self) -> str:
        """Text in a draft that identifies its package."""
        return f"framewatt package, SHA-256 {self.sha256}"


def verified(path: Path, limits: Limits | None = None) -> Package:
    """Verify a package as `make verify` does; its checksums are taken before, so that later changes show.

    Raises:
        FramewattError: it is no package, or something in it is wrong.
    """
    try:
        with path.open("rb") as file:
            md5 = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FramewattError(f"{path}: found nothing to read ({error.strerror}); allowed: a package") from error
    with scratch_folder() as scratch:
        problems = check(path, scratch, limits or Limits(), rebuild=False)["problems"]
    if problems:
        raise FramewattError(
            f"{path}: found {problems[-1]}: {'; '.join(problems[:-1][:_TOLD])}; allowed: a package that `make verify` "
            "finds nothing wrong with; nothing was sent"
        )
    return Package(path, md5, sha256, metadata_of(path))


def metadata_of(package: Path) -> dict[str, Any]:
    """Content of the package's .zenodo.json, which becomes the draft's metadata.

    Raises:
        FramewattError: the file is no package.
    """
    try:
        with zipfile.ZipFile(package) as archive:
            name = next(name for name in archive.namelist() if re.fullmatch(r"[^/]+/data/\.zenodo\.json", name))
            with archive.open(name) as file:
                metadata = dict(json.loads(file.read(_LARGEST_METADATA_B)))
            return {**metadata, "title": str(metadata["title"])}
    except (OSError, StopIteration, ValueError, TypeError, KeyError, RecursionError, zipfile.BadZipFile) as error:
        raise FramewattError(f"{package}: found no .zenodo.json in it; allowed: a package of framewatt's") from error


_DRAFTS = "/api/deposit/depositions"


@dataclass(frozen=True)
class Draft:
    """A draft as the server describes it.

    Attributes:
        number: its id on the server.
        bucket: path to upload its files to.
        page: address where it is published by hand.
        files: checksum (MD5, hexadecimal) of each uploaded file, by name.
        published: whether it is already published.
    """

    number: str
    bucket: str
    page: str
    files: dict[str, str]
    published: bool


class Deposit:
    """A draft on a server, and the upload of one package into it.

    Args:
        package: verified.
        server: where to upload it.
    """

    def __init__(self, package: Package, server: Server) -> None:
        self.package = package
        self.server = server
        self.note = package.path.with_name(f"{package.path.name}.deposit.json")

    def upload(self) -> str:
        """Create the draft, or find an earlier one, and upload the package and its metadata.

        Returns:
            the page on which the draft is published by hand.

        Raises:
            FramewattError: the server refuses, or cannot be reached after several attempts.
        """
        name, draft = self.package.path.name, self._draft()
        path = f"{_DRAFTS}/{draft.number}"
        if draft.files.get(name) != self.package.md5:
            self.server.ask("PUT", f"{draft.bucket}/{quote(name, safe='')}", file=self.package.path)
            draft = self._requested_draft(draft.number) or draft
        if draft.files.get(name) != self.package.md5:
            found = "another checksum" if name in draft.files else "no file"
            raise FramewattError(
                f"deposit: found {found} of {name} in the draft on {self.server.address} after sending it; run it "
                "again to send it anew, and leave the package alone meanwhile"
            )
        if self.server.ask("PUT", path, content={"metadata": self._metadata()}) is None:
            raise FramewattError(f"deposit: found draft {draft.number} gone from {self.server.address}; run it again")
        return self.server.cut(draft.page)

    def _draft(self) -> Draft:
        """The draft of an earlier upload, from here or from a copy of this package; else a new one."""
        draft = self._noted() or self._marked()
        if draft is None:
            try:
                draft = self._draft_of(self.server.ask("POST", _DRAFTS, {"metadata": self._metadata()}, once=True))
            except UnknownOutcomeError as error:
                draft = self._marked_by_now(error)
        write_json(self.note, {**self._notes(), self.server.address: draft.number})
        return draft

    def _noted(self) -> Draft | None:
        """The draft that the note beside the package names, if it still exists."""
        number = self._notes().get(self.server.address)
        draft = self._requested_draft(number)
        if draft and draft.published:
            raise FramewattError(
                f"deposit: found that {self.package.path.name} is published already, as {number} on "
                f"{self.server.address}; to deposit it once more delete {self.note}"
            )
        return draft

    def _marked(self) -> Draft | None:
        """The draft whose metadata name this package's hash, if any."""
        listed = self.server.ask("GET", f"{_DRAFTS}?size=100&sort=mostrecent")
        if not isinstance(listed, list):
            raise FramewattError(f"deposit: found no list of drafts on {self.server.address}; allowed: one")
        for entry in listed:
            metadata = entry.get("metadata") if isinstance(entry, dict) else None
            notes = metadata.get("notes") if isinstance(metadata, dict) else None
            if isinstance(notes, str) and self.package.mark in notes:
                draft = self._requested_draft(_number_of(entry))
                if draft and not draft.published:
                    return draft
        return None

    def _marked_by_now(self, error: FramewattError) -> Draft:
        """The draft that the server made although the connection broke; the server may take a while to list it."""
        for attempt in range(1, self.server.attempts + 1):
            time.sleep(self.server.pause_s * attempt)
            if draft := self._marked():
                return draft
        raise FramewattError(
            f"{error} when it was asked for a draft, and no draft for it on the list; run it again in a minute: if one "
            "was made it is found then, and no second one is made"
        ) from error

    def _requested_draft(self, number: str | None) -> Draft | None:
        if number is None:
            return None
        said = self.server.ask("GET", f"{_DRAFTS}/{number}")
        return None if said is None else self._draft_of(said)

    def _draft_of(self, said: Any) -> Draft:
        """Parse an answer as a draft.

        Raises:
            FramewattError: it is no draft, or points to another server.
        """
        number = _number_of(said)
        links = said.get("links") if isinstance(said, dict) else None
        files = said.get("files", []) if isinstance(said, dict) else None
        if not number or not isinstance(links, dict) or not isinstance(files, list):
            raise FramewattError(
                f"deposit: found {self.server.cut(json.dumps(said))[:80]!r} for a draft on {self.server.address}; "
                "allowed: one with id, links and files, as Zenodo's interface has it"
            )
        there = [(file.get("filename"), file.get("checksum")) for file in files if isinstance(file, dict)]
        return Draft(
            number=number,
            bucket=self.server.own_path(links.get("bucket"), "links.bucket").rstrip("/"),
            page=self.server.address + self.server.own_path(links.get("html"), "links.html"),
            files={str(name): str(checksum).removeprefix("md5:") for name, checksum in there},
            published=said.get("submitted") is True,
        )

    def _metadata(self) -> dict[str, Any]:
        """The metadata in the form of the interface."""
        told = {key: value for key, value in self.package.metadata.items() if value not in (None, [], "")}
        notes = " ".join(filter(None, [str(told.get("notes", "")), self.package.mark]))
        return {**told, "notes": notes, "prereserve_doi": True}

    def _notes(self) -> dict[str, str]:
        """The number of the draft on each server, from the note beside the package."""
        if not self.note.exists():
            return {}
        try:
            content = read_json(self.note)
            notes = {address: _number_of({"id": number}) for address, number in content.items()}
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            raise FramewattError(
                f"{self.note}: found no note of a deposit; delete it, a draft is found without"
            ) from error
        return {address: number for address, number in notes.items() if number}


def _number_of(said: Any) -> str | None:
    """The id of a draft, if it is safe in a path; else None."""
    number = said.get("id") if isinstance(said, Mapping) else None
    text = str(number) if isinstance(number, int | str) and not isinstance(number, bool) else ""
    return text if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}", text) else None
