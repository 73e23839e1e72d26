"""Deposits, on a server of this machine that speaks Zenodo's interface and can drop a connection or refuse a token."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from package_factory import ROOT, make_package

from framewatt.errors import FramewattError
from framewatt.package.deposit import Deposit, metadata_of

TOKEN = "tok_of_the_test_1234"  # noqa: S105  # of no server but this one


class Zenodo(ThreadingHTTPServer):
    """Drafts and their files, and faults on demand."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.drafts: dict[int, dict] = {}
        self.asked: list[str] = []
        self.drops = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """The four requests of an upload."""

    server: Zenodo

    def log_message(self, *_: object) -> None: ...

    def do_POST(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def _answer(self) -> None:
        server = self.server
        server.asked.append(f"{self.command} {self.path}")
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._say(401, {"message": "The server could not verify that you are authorized"})
        length = int(self.headers.get("Content-Length", 0))
        if "/bucket/" in self.path and server.drops:
            server.drops -= 1
            self.rfile.read(length // 2)
            self.connection.close()
            return None
        body = self.rfile.read(length)
        if self.command == "POST":
            number = len(server.drafts) + 1
            links = {"bucket": f"{server.address}/bucket/{number}", "html": f"{server.address}/deposit/{number}"}
            server.drafts[number] = {"id": number, "links": links, "files": [], "metadata": {}}
            return self._say(201, server.drafts[number])
        number = int(self.path.split("/")[2 if "/bucket/" in self.path else -1])
        draft = server.drafts[number]
        if "/bucket/" in self.path:
            checksum = f"md5:{hashlib.md5(body, usedforsecurity=False).hexdigest()}"
            draft["files"] = [{"filename": self.path.rsplit("/", 1)[1], "checksum": checksum.removeprefix("md5:")}]
            return self._say(201, {"checksum": checksum})
        if self.command == "PUT":
            draft["metadata"] = json.loads(body)["metadata"]
        return self._say(200, draft)

    def _say(self, status: int, content: dict) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@pytest.fixture
def zenodo() -> Iterator[Zenodo]:
    server = Zenodo()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make_package(tmp_path)


def deposit(package: Path, zenodo: Zenodo, token: str = TOKEN) -> Deposit:
    return Deposit(package, zenodo.address, token, pause_s=0.01)


def test_a_package_and_its_metadata_become_a_draft(package: Path, zenodo: Zenodo) -> None:
    assert deposit(package, zenodo).upload() == f"{zenodo.address}/deposit/1"
    draft = zenodo.drafts[1]
    assert [file["filename"] for file in draft["files"]] == [package.name]
    assert draft["metadata"]["title"] == "A trial"
    assert draft["metadata"]["creators"] == [{"name": "Doe, Jane"}]


def test_a_dropped_connection_is_tried_again(package: Path, zenodo: Zenodo) -> None:
    zenodo.drops = 2
    deposit(package, zenodo).upload()
    assert len(zenodo.drafts) == 1
    assert sum("/bucket/" in asked for asked in zenodo.asked) == 3


def test_a_broken_upload_goes_on_in_the_same_draft(package: Path, zenodo: Zenodo) -> None:
    zenodo.drops = 99
    with pytest.raises(FramewattError, match="5 times; run it again to go on with the same draft"):
        deposit(package, zenodo).upload()
    zenodo.drops = 0
    deposit(package, zenodo).upload()
    assert list(zenodo.drafts) == [1]
    zenodo.asked.clear()
    deposit(package, zenodo).upload()
    assert not [asked for asked in zenodo.asked if "/bucket/" in asked], "a file that is there is not sent again"


def test_a_refused_token_is_told_and_never_shown(package: Path, zenodo: Zenodo) -> None:
    with pytest.raises(FramewattError, match="refuses the token in ZENODO_SANDBOX_TOKEN") as raised:
        deposit(package, zenodo, "tok_wrong_9876").upload()
    assert "tok_wrong_9876" not in str(raised.value)


def command(package: Path, zenodo: Zenodo, *words: str, token: str = "") -> "subprocess.CompletedProcess[str]":
    """The script behind `make deposit`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "ZENODO_SANDBOX_TOKEN": token}
    line = [sys.executable, "-P", "scripts/deposit.py", "--archive", str(package), "--server", zenodo.address, *words]
    return subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_without_confirmation_nothing_is_sent(package: Path, zenodo: Zenodo) -> None:
    done = command(package, zenodo, token=TOKEN)
    assert (done.returncode, zenodo.asked) == (0, [])
    assert "dry run: nothing was sent; add CONFIRM=1 to upload" in done.stdout


def test_the_command_uploads_and_keeps_the_token_to_itself(package: Path, zenodo: Zenodo) -> None:
    done = command(package, zenodo, "--confirm", token=TOKEN)
    assert done.returncode == 0, done.stderr
    assert f"publish it here: {zenodo.address}/deposit/1" in done.stdout
    kept = "".join(path.read_text() for path in package.parent.glob("*.deposit.json"))
    assert TOKEN not in done.stdout + done.stderr + kept


def test_a_missing_token_is_one_line(package: Path, zenodo: Zenodo) -> None:
    done = command(package, zenodo, "--confirm")
    assert done.returncode == 1
    assert done.stderr.startswith("framewatt: deposit: found no token in ZENODO_SANDBOX_TOKEN; allowed: ")
    assert zenodo.asked == []


def test_what_is_no_package_has_no_metadata(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no zip")
    with pytest.raises(FramewattError, match=r"found no \.zenodo\.json in it"):
        metadata_of(tmp_path / "x.zip")
