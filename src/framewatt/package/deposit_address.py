"""Which servers may get deposits, and with which token: https, and only hosts on a list."""

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

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
    """The checked address of a server that may get a token: https, and a host of Zenodo's or one that the user allows.

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
        raise FramewattError(f"deposit: found SERVER={shown}; allowed: https://host, with nothing before or behind it")
    place = host if parts.port is None else f"{host}:{parts.port}"
    known = {urlsplit(address).netloc for address in TOKENS}
    if place not in known and not {place, host} & {name.lower() for name in allowed}:
        raise FramewattError(
            f"deposit: found SERVER={shown}, to which no token goes; allowed: {', '.join(sorted(TOKENS))}, or "
            f"another that you trust with one and name: ALLOW_HOST={place}"
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_here(host)):
        raise FramewattError(f"deposit: found SERVER={shown}; allowed: https, so that nobody else reads the token")
    return f"{parts.scheme}://{place}"


def clean_token(text: str | None, variable: str) -> str:
    """A token without surrounding whitespace.

    Raises:
        FramewattError: there is no token, or it holds a character that no token has.
    """
    token = (text or "").strip()
    if not token:
        raise FramewattError(f"deposit: found no token in {variable}; allowed: a token of that server")
    if not re.fullmatch(r"[\x21-\x7e]{8,4096}", token):
        raise FramewattError(
            f"deposit: found blanks, line ends, letters beyond ASCII, or fewer than 8 characters in the token in "
            f"{variable}; allowed: the token as the server showed it"
        )
    return token


def split(address: str) -> SplitResult | None:
    """The parts of an address; None where it holds anything that URL parsers interpret differently."""
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
