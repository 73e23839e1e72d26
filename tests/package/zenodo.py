"""A server of this machine that speaks Zenodo's interface, and answers as a test scripts it."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "tok_of-the+test/1234"  # noqa: S105  # of no server but this one


@dataclass
class Answer:
    """What is answered in the place of the truth.

    Attributes:
        status: 0 cuts the connection.
        body: as bytes, or as JSON.
        headers: further ones.
        done: whether what was asked for is done before.
        pause_s: seconds between the bytes of the body.
    """

    status: int
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    done: bool = False
    pause_s: float = 0


class Zenodo(ThreadingHTTPServer):
    """Drafts and their files; `script` says what each kind of request gets instead, one after the other."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.drafts: dict[int, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.tokens: set[str | None] = set()
        self.script: dict[str, list[Answer]] = {}
        self.change: Callable[[Any], Any] = lambda said: said

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def always(self, kind: str, answer: Answer) -> None:
        self.script[kind] = [answer] * 99

    def sent(self, kind: str) -> int:
        """How often something was asked for."""
        return self.asked.count(kind)


class _Handler(BaseHTTPRequestHandler):
    server: Zenodo

    def log_message(self, *_: object) -> None: ...

    def do_POST(self) -> None:
        self._answer("POST draft")

    def do_GET(self) -> None:
        self._answer("GET drafts" if "?" in self.path else "GET draft")

    def do_PUT(self) -> None:
        self._answer("PUT file" if "/bucket/" in self.path else "PUT draft")

    def _answer(self, kind: str) -> None:
        server = self.server
        server.asked.append(kind)
        server.tokens.add(self.headers.get("Authorization"))
        scripted = server.script.get(kind, [])
        answer = scripted.pop(0) if scripted else None
        length = int(self.headers.get("Content-Length", 0))
        if answer and answer.status == 0 and not answer.done:
            self.rfile.read(length // 2)
            self.connection.close()
            return
        body = self.rfile.read(length)
        said = self._done(kind, body) if answer is None or answer.done else None
        if answer and answer.status == 0:
            self.connection.close()
        elif answer:
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self._say(answer.status, content, answer.headers, answer.pause_s)
        elif self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._say(401, b'{"message": "could not verify"}', {}, 0)
        else:
            found = said is not None
            self._say(200 if found else 404, json.dumps(server.change(said)).encode(), {}, 0)

    def _done(self, kind: str, body: bytes) -> Any:
        server = self.server
        if kind == "GET drafts":
            return list(server.drafts.values())
        if kind == "POST draft":
            number = len(server.drafts) + 1
            links = {"bucket": f"{server.address}/bucket/{number}", "html": f"{server.address}/deposit/{number}"}
            server.drafts[number] = {"id": number, "links": links, "files": [], **json.loads(body)}
            return server.drafts[number]
        number = int(self.path.split("/")[2 if kind == "PUT file" else -1])
        if number not in server.drafts:
            return None
        draft = server.drafts[number]
        if kind == "PUT file":
            checksum = hashlib.md5(body, usedforsecurity=False).hexdigest()
            name = self.path.rsplit("/", 1)[1]
            draft["files"] = [f for f in draft["files"] if f["filename"] != name]
            draft["files"].append({"filename": name, "checksum": checksum})
            return {"checksum": f"md5:{checksum}"}
        if kind == "PUT draft":
            draft["metadata"] = json.loads(body)["metadata"]
        return draft

    def _say(self, status: int, content: bytes, headers: dict[str, str], pause_s: float) -> None:
        try:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            for at in range(0, len(content), 1 if pause_s else max(len(content), 1)):
                self.wfile.write(content[at : at + 1] if pause_s else content)
                time.sleep(pause_s)
        except OSError:
            self.close_connection = True


@contextmanager
def serving() -> Iterator[Zenodo]:
    """A server while it is needed."""
    server = Zenodo()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
