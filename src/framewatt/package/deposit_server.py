"""The server of a deposit: its address, and requests to it that survive a broken connection."""

import ipaddress
import json
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

import requests
import urllib3

from framewatt.base.errors import FramewattError
from framewatt.privacy.secrets import Secrets

SANDBOX = "https://sandbox.zenodo.org"
ZENODO = "https://zenodo.org"
TOKENS = {SANDBOX: "ZENODO_SANDBOX_TOKEN", ZENODO: "ZENODO_TOKEN"}
"""The environment variable with the token of each server."""

OTHERS_TOKEN = "DEPOSIT_TOKEN"  # noqa: S105  # a name
"""The environment variable with the token of servers that the user allows by name."""

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\]")


def address_of(server: str, allowed: Collection[str] = ()) -> str:
    """Check that a server may get a token, and return its address.

    It has to use https, and be Zenodo's or a host that the user allows.

    Args:
        server: as the user gave it.
        allowed: further hosts, `host` or `host:port`; one on this machine may use http.

    Raises:
        FramewattError: the server may not get a token.
    """
    shown = repr(Secrets({}).redact(server))
    parts = split(server)
    host = parts.hostname or "" if parts else ""
    host = f"[{host}]" if ":" in host else host
    plain = parts is not None and not (parts.username or parts.password or parts.query or parts.fragment)
    if parts is None or not plain or parts.path not in ("", "/") or not _HOST.fullmatch(host):
        raise FramewattError(f"deposit: SERVER={shown} is not the address of a server. Use https://host alone.")
    place = host if parts.port is None else f"{host}:{parts.port}"
    known = {urlsplit(address).netloc for address in TOKENS}
    if place not in known and not {place, host} & {name.lower() for name in allowed}:
        raise FramewattError(
            f"deposit: SERVER={shown} may not get a token. Use {' or '.join(sorted(TOKENS))}. If you trust the server "
            f"with a token, allow it: ALLOW_HOST={place}"
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_here(host)):
        raise FramewattError(
            f"deposit: SERVER={shown} has no encryption. Use https, so that nobody else reads the token."
        )
    return f"{parts.scheme}://{place}"


def clean_token(text: str | None, variable: str) -> str:
    """Return a token without surrounding whitespace.

    Raises:
        FramewattError: there is no token, or it holds a character that no token has.
    """
    token = (text or "").strip()
    if not token:
        raise FramewattError(f"deposit: there is no token in {variable}. Set it to a token of that server.")
    if not re.fullmatch(r"[\x21-\x7e]{8,4096}", token):
        raise FramewattError(
            f"deposit: there are blanks, line ends, letters beyond ASCII, or fewer than 8 characters in the token in "
            f"{variable}. Set it to the token as the server showed it."
        )
    return token


def split(address: str) -> SplitResult | None:
    """Return the parts of an address; None if it has anything that URL parsers interpret differently."""
    if re.search(r"[^\x21-\x7e]|\\", address):
        return None
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") and ".." not in parts.path and "@" not in parts.netloc else None


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


_TIMEOUT_S = (10, 60)
_ANSWER_S = 120.0
_SLOWEST_BYTES_PER_S = 20_000
_LARGEST_ANSWER_B = 1 << 22
_LONGEST_MESSAGE = 200
_ECHOED = 8
_BROKEN = (requests.RequestException, urllib3.exceptions.HTTPError, HTTPException, OSError, ValueError)


class UnknownOutcomeError(FramewattError):
    """It is unknown whether the server carried out the request."""


@dataclass(frozen=True)
class Server:
    """A server and the token for it.

    Attributes:
        address: see address_of.
        token: see clean_token.
        variable: environment variable that the token comes from.
        pause_s: seconds before a retry, more with each attempt.
        attempts: largest number of attempts.
    """

    address: str
    token: str
    variable: str
    pause_s: float = 2.0
    attempts: int = 5

    def ask(
        self,
        method: str,
        path: str,
        content: Mapping[str, Any] | None = None,
        file: Path | None = None,
        *,
        once: bool = False,
    ) -> Any:
        """Send a request, with retries where the connection breaks or the server fails.

        Args:
            method: GET, PUT or POST.
            path: absolute path on the server.
            content: sent as JSON.
            file: sent as it is.
            once: do not retry where the server may have received the first request.

        Returns:
            the parsed answer; None where the path does not exist.

        Raises:
            UnknownOutcomeError: with `once`, where it is unknown whether the server carried out the request.
            FramewattError: the server refuses, or its answer is malformed.
        """
        problem = ""
        for attempt in range(1, self.attempts + 1):
            try:
                status, body = self._send(method, path, content, file)
            except _BROKEN as error:
                problem, heard = type(error).__name__, not isinstance(error, requests.ConnectTimeout)
                if isinstance(error, requests.exceptions.SSLError | requests.exceptions.ProxyError):
                    break
            else:
                if status < 500 and status != 429:
                    return self._parse_answer(status, body)
                problem, heard = f"status {status}", status != 429
            if once and heard:
                raise UnknownOutcomeError(
                    f"deposit: a request to {self.address} ended with {problem}. It may have been carried out."
                )
            if attempt < self.attempts:
                time.sleep(self.pause_s * attempt)
        raise FramewattError(
            f"deposit: a request to {self.address} ended with {problem}, {attempt} times. Run it again to go on with "
            "the same draft."
        )

    def own_path(self, address: object, what: str) -> str:
        """Return the path of an address in an answer, if it is on the same server.

        Raises:
            FramewattError: it is on another server, which must not get the token.
        """
        parts = split(address) if isinstance(address, str) else None
        own = urlsplit(self.address)
        if parts is None or (parts.scheme, parts.netloc.lower(), parts.query) != (own.scheme, own.netloc, ""):
            raise FramewattError(
                f"deposit: {what} in an answer of {self.address} is {self.cut(address)!r}. Use a server that answers "
                "with addresses of its own: the token goes nowhere else."
            )
        return quote(parts.path, safe="/%~")

    def cut(self, message: object) -> str:
        """Return a server's message, shortened to one line, with the token removed in any encoding."""
        text = " ".join("".join(c if c.isprintable() else " " for c in str(message)[: 10 * _LONGEST_MESSAGE]).split())
        text = Secrets({self.token: f"<secret: {self.variable}>"}).redact(text)
        pieces = (self.token[at : at + _ECHOED].lower() for at in range(len(self.token) - _ECHOED + 1))
        return "(it echoes the token)" if any(piece in text.lower() for piece in pieces) else text[:_LONGEST_MESSAGE]

    def _send(self, method: str, path: str, content: Mapping[str, Any] | None, file: Path | None) -> tuple[int, bytes]:
        size = file.stat().st_size if file else 0
        if file is None:
            return _within(_ANSWER_S, lambda: self._exchange(method, path, {"json": content}))
        with file.open("rb") as body:
            return _within(
                _ANSWER_S + size / _SLOWEST_BYTES_PER_S, lambda: self._exchange(method, path, {"data": body})
            )

    def _exchange(self, method: str, path: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
        with requests.Session() as session:
            # Otherwise requests would read ~/.netrc, and send its password instead of the token.
            session.trust_env = False
            session.headers.update({"Authorization": f"Bearer {self.token}", "Accept-Encoding": "identity"})
            session.verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
            if self.address.startswith("https:"):
                # A proxy only tunnels https, so it does not see the token.
                session.proxies = dict(requests.utils.get_environ_proxies(self.address))
            address = self.address + path
            with session.request(
                method, address, timeout=_TIMEOUT_S, allow_redirects=False, stream=True, **body
            ) as answer:
                return answer.status_code, answer.raw.read(_LARGEST_ANSWER_B + 1, decode_content=False)

    def _parse_answer(self, status: int, body: bytes) -> Any:
        where = f"{self.address} answers {status}"
        if status in (401, 403):
            raise FramewattError(
                f"deposit: {self.address} refuses the token in {self.variable} ({status}). Use one with the "
                "scopes deposit:write and deposit:actions."
            )
        if status in (404, 410):
            return None
        answer = _parsed(body)
        if not 200 <= status < 300:
            if 300 <= status < 400:
                raise FramewattError(
                    f"deposit: {where} and points elsewhere, where the token must not go. Use the server's own address."
                )
            raise FramewattError(f"deposit: {where}: {self._reason(answer)}. Correct that, and run it again.")
        if answer is None:
            kind = "more than an answer has" if len(body) > _LARGEST_ANSWER_B else "no JSON"
            raise FramewattError(
                f"deposit: {where} with {kind}: {self.cut(body[:80].decode('latin-1'))!r}. Use a server of Zenodo's."
            )
        return answer

    def _reason(self, answer: Any) -> str:
        """Return the reason in an error answer, with the fields that it names."""
        content = answer if isinstance(answer, dict) else {}
        errors = content.get("errors")
        fields = [e for e in errors if isinstance(e, dict)] if isinstance(errors, list) else []
        more = "; ".join(f"{e.get('field')}: {e.get('message', e.get('messages'))}" for e in fields[:5])
        return self.cut(" ".join(filter(None, [str(content.get("message", "no reason given")), more])))


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body) if len(body) <= _LARGEST_ANSWER_B else None
    except (ValueError, RecursionError):
        return None


def _within(seconds: float, exchange: Callable[[], tuple[int, bytes]]) -> tuple[int, bytes]:
    """Run an exchange with an overall time limit, since a server that sends a byte now and then would never time out.

    Raises:
        TimeoutError: the limit is over; the exchange's thread is left behind, and ends with this process.
    """
    given: list[tuple[int, bytes]] = []
    raised: list[Exception] = []

    def work() -> None:
        try:
            given.append(exchange())
        except Exception as error:  # raised again in the caller's thread
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]
    if not given:
        raise TimeoutError(f"no answer in {seconds:.0f} s")
    return given[0]
