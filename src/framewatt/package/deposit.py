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
_SHOWN = 3


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
        """Return the text in a draft that identifies its package."""
        return f"framewatt package, SHA-256 {self.sha256}"


def verified(path: Path, limits: Limits | None = None) -> Package:
    """Verify a package as `make verify` does.

    Its checksums are computed first, so that later changes show.

    Raises:
        FramewattError: it is no package, or it has problems.
    """
    try:
        with path.open("rb") as file:
            md5 = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FramewattError(f"{path} cannot be read ({error.strerror}). Use the path of a package.") from error
    with scratch_folder() as scratch:
        problems = check(path, scratch, limits or Limits(), rebuild=False)["problems"]
    if problems:
        raise FramewattError(
            f"{path}: {problems[-1]}: {'; '.join(problems[:-1][:_SHOWN])}. Nothing was sent. Use a package in which "
            "`make verify` finds no problem."
        )
    return Package(path, md5, sha256, metadata_of(path))


def metadata_of(package: Path) -> dict[str, Any]:
    """Return the content of the package's .zenodo.json, which becomes the draft's metadata.

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
        raise FramewattError(f"{package} has no .zenodo.json. Use a package that framewatt wrote.") from error


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
            fault = "another checksum of" if name in draft.files else "no file"
            raise FramewattError(
                f"deposit: the draft on {self.server.address} has {fault} {name} after the upload. Run it again, and "
                "do not change the package meanwhile."
            )
        if self.server.ask("PUT", path, content={"metadata": self._metadata()}) is None:
            raise FramewattError(f"deposit: draft {draft.number} is gone from {self.server.address}. Run it again.")
        return self.server.cut(draft.page)

    def _draft(self) -> Draft:
        """Return the draft of an earlier upload of this package or of a copy; create one if there is none."""
        draft = self._noted() or self._marked()
        if draft is None:
            try:
                draft = self._draft_of(self.server.ask("POST", _DRAFTS, {"metadata": self._metadata()}, once=True))
            except UnknownOutcomeError as error:
                draft = self._marked_by_now(error)
        write_json(self.note, {**self._notes(), self.server.address: draft.number})
        return draft

    def _noted(self) -> Draft | None:
        """Return the draft that the note next to the package names, if it still exists."""
        number = self._notes().get(self.server.address)
        draft = self._requested_draft(number)
        if draft and draft.published:
            raise FramewattError(
                f"deposit: {self.package.path.name} is published already, as {number} on {self.server.address}. Delete "
                f"{self.note} to deposit it once more."
            )
        return draft

    def _marked(self) -> Draft | None:
        """Return the draft with this package's hash in its metadata, if there is one."""
        listed = self.server.ask("GET", f"{_DRAFTS}?size=100&sort=mostrecent")
        if not isinstance(listed, list):
            raise FramewattError(f"deposit: {self.server.address} gives no list of drafts. Use a server of Zenodo's.")
        for entry in listed:
            metadata = entry.get("metadata") if isinstance(entry, dict) else None
            notes = metadata.get("notes") if isinstance(metadata, dict) else None
            if isinstance(notes, str) and self.package.mark in notes:
                draft = self._requested_draft(_number_of(entry))
                if draft and not draft.published:
                    return draft
        return None

    def _marked_by_now(self, error: FramewattError) -> Draft:
        """Return the draft that the server made although the connection broke.

        The server may take a while to list it.
        """
        for attempt in range(1, self.server.attempts + 1):
            time.sleep(self.server.pause_s * attempt)
            if draft := self._marked():
                return draft
        raise FramewattError(
            f"{error} There is no draft for this package on its list. Run it again in a minute: it uses the draft if "
            "the server made it."
        ) from error

    def _requested_draft(self, number: str | None) -> Draft | None:
        if number is None:
            return None
        answer = self.server.ask("GET", f"{_DRAFTS}/{number}")
        return None if answer is None else self._draft_of(answer)

    def _draft_of(self, answer: Any) -> Draft:
        """Parse an answer as a draft.

        Raises:
            FramewattError: it is no draft, or points to another server.
        """
        number = _number_of(answer)
        links = answer.get("links") if isinstance(answer, dict) else None
        files = answer.get("files", []) if isinstance(answer, dict) else None
        if not number or not isinstance(links, dict) or not isinstance(files, list):
            raise FramewattError(
                f"deposit: {self.server.address} gives {self.server.cut(json.dumps(answer))[:80]!r} as a draft. Use a "
                "server of Zenodo's: its drafts have id, links and files."
            )
        there = [(file.get("filename"), file.get("checksum")) for file in files if isinstance(file, dict)]
        return Draft(
            number=number,
            bucket=self.server.own_path(links.get("bucket"), "links.bucket").rstrip("/"),
            page=self.server.address + self.server.own_path(links.get("html"), "links.html"),
            files={str(name): str(checksum).removeprefix("md5:") for name, checksum in there},
            published=answer.get("submitted") is True,
        )

    def _metadata(self) -> dict[str, Any]:
        """Return the metadata in the form of the interface."""
        metadata = {key: value for key, value in self.package.metadata.items() if value not in (None, [], "")}
        notes = " ".join(filter(None, [str(metadata.get("notes", "")), self.package.mark]))
        return {**metadata, "notes": notes, "prereserve_doi": True}

    def _notes(self) -> dict[str, str]:
        """Return the number of the draft on each server, from the note next to the package."""
        if not self.note.exists():
            return {}
        try:
            content = read_json(self.note)
            notes = {address: _number_of({"id": number}) for address, number in content.items()}
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            raise FramewattError(
                f"{self.note} is not the note of a deposit. Delete it: the draft is looked up on the server."
            ) from error
        return {address: number for address, number in notes.items() if number}


def _number_of(answer: Any) -> str | None:
    """Return the id of a draft if it is safe in a path, else None."""
    number = answer.get("id") if isinstance(answer, Mapping) else None
    text = str(number) if isinstance(number, int | str) and not isinstance(number, bool) else ""
    return text if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}", text) else None
