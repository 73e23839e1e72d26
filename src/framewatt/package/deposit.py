"""Uploads a package to Zenodo, into a draft that its owner publishes by hand.

The REST interface is Zenodo's deposit API (https://developers.zenodo.org). The token comes from the environment, is
sent in a header, and is neither printed nor kept. What is under way is noted beside the package, so that a broken
upload goes on where it was: in the same draft, without the file that is there already.
"""

import hashlib
import json
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from framewatt.errors import FramewattError
from framewatt.files import read_json, write_json

SANDBOX = "https://sandbox.zenodo.org"
ZENODO = "https://zenodo.org"
TOKENS = {SANDBOX: "ZENODO_SANDBOX_TOKEN", ZENODO: "ZENODO_TOKEN"}
"""The variable of the environment that holds the token of each server."""

_ATTEMPTS = 5
_PAUSE_S = 2.0
_TIMEOUT_S = (10, 600)


def metadata_of(package: Path) -> dict[str, Any]:
    """What the package's .zenodo.json says, which becomes the draft's metadata.

    Raises:
        FramewattError: it is no package.
    """
    try:
        with zipfile.ZipFile(package) as archive:
            name = next(name for name in archive.namelist() if name.endswith("/data/.zenodo.json"))
            return dict(json.loads(archive.read(name)))
    except (OSError, StopIteration, ValueError, zipfile.BadZipFile) as error:
        raise FramewattError(f"{package}: found no .zenodo.json in it; allowed: a package of framewatt's") from error


class Deposit:
    """A draft on a server, and the upload of one package into it.

    Args:
        package: the zip file.
        server: address of the server.
        token: of the server's user.
        pause_s: seconds before a dropped connection is tried again.
    """

    def __init__(self, package: Path, server: str, token: str, pause_s: float = _PAUSE_S) -> None:
        self.package = package
        self.server = server
        self.note = package.with_name(f"{package.name}.deposit.json")
        self._pause_s = pause_s
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {token}"

    def upload(self) -> str:
        """Make the draft, or find the one that was begun, and bring the package and its metadata there.

        Returns:
            the page on which the draft is published by hand.

        Raises:
            FramewattError: the server refuses, or cannot be reached after several attempts.
        """
        metadata = {**metadata_of(self.package), "prereserve_doi": True}
        draft = self._draft()
        md5 = _md5(self.package)
        there = {file["filename"]: file["checksum"].removeprefix("md5:") for file in draft.get("files", [])}
        if there.get(self.package.name) != md5:
            answer = self._ask("PUT", f"{draft['links']['bucket']}/{quote(self.package.name)}", file=self.package)
            if answer.get("checksum", "").removeprefix("md5:") != md5:
                raise FramewattError(f"deposit: found another checksum on {self.server} than {self.package.name} has")
        address = f"{self.server}/api/deposit/depositions/{draft['id']}"
        self._ask("PUT", address, content={"metadata": _accepted(metadata)})
        return str(draft["links"]["html"])

    def _draft(self) -> dict[str, Any]:
        """The draft that was begun here before, or a new one, noted before anything is uploaded."""
        begun = read_json(self.note) if self.note.exists() else {}
        if begun.get("server") == self.server:
            return self._ask("GET", f"{self.server}/api/deposit/depositions/{begun['id']}")
        draft = self._ask("POST", f"{self.server}/api/deposit/depositions", content={})
        write_json(self.note, {"server": self.server, "id": draft["id"]})
        return draft

    def _ask(
        self, method: str, address: str, content: Mapping[str, Any] | None = None, file: Path | None = None
    ) -> dict[str, Any]:
        """Send a request, anew where the connection drops; a refusal is told in the server's words."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = self._send(method, address, content, file)
            except requests.ConnectionError as error:
                problem = type(error).__name__
            else:
                if answer.status_code < 500:
                    return self._judged(answer)
                problem = f"status {answer.status_code}"
            if attempt < _ATTEMPTS:
                time.sleep(self._pause_s * attempt)
        raise FramewattError(
            f"deposit: found {problem} from {self.server} {_ATTEMPTS} times; run it again to go on with the same draft"
        )

    def _send(
        self, method: str, address: str, content: Mapping[str, Any] | None, file: Path | None
    ) -> requests.Response:
        send: Callable[..., requests.Response] = self._session.request
        if file is None:
            return send(method, address, json=content, timeout=_TIMEOUT_S, allow_redirects=False)
        with file.open("rb") as body:
            return send(method, address, data=body, timeout=_TIMEOUT_S, allow_redirects=False)

    def _judged(self, answer: requests.Response) -> dict[str, Any]:
        if answer.status_code in (401, 403):
            raise FramewattError(
                f"deposit: {self.server} refuses the token in {TOKENS.get(self.server, TOKENS[SANDBOX])}; "
                "allowed: one with the scopes deposit:write and deposit:actions"
            )
        try:
            said = answer.json()
        except ValueError:
            said = {}
        if not answer.ok or not isinstance(said, dict):
            message = said.get("message", "nothing more") if isinstance(said, dict) else "nothing more"
            raise FramewattError(f"deposit: {self.server} answers {answer.status_code}: {message}")
        return said


def _accepted(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata as the interface takes it."""
    return {key: value for key, value in metadata.items() if value not in (None, [], "")}


def _md5(path: Path) -> str:
    """The checksum that Zenodo tells of its files; against more than accidents the package has its own, SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
