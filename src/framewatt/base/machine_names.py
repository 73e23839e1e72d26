"""Names that identify this machine and its user: names, domains, folders, serial numbers, network addresses."""

import getpass
import socket
from collections.abc import Collection
from pathlib import Path

_SERIALS = (
    "sys/class/dmi/id/product_serial",
    "sys/class/dmi/id/board_serial",
    "sys/class/dmi/id/chassis_serial",
    "sys/class/dmi/id/product_uuid",
    "etc/machine-id",
)
_SHORTEST = 3

_NO_SECRET = {"root", "user", "localhost", "none", "admin", "ubuntu", "debian", "runner", "default string"} | {
    *("dev", "ops", "app", "api", "guest", "test", "docker", "vagrant", "jenkins", "jovyan", "container", "sandbox"),
    *("node", "host", "server", "worker", "build", "centos", "fedora", "ec2-user", "azureuser"),
}
_NO_DOMAIN = {"localdomain", "local", "lan", "internal", "home", "cluster.local", "svc.cluster.local", "example.com"}
"""Domains that do not identify their owner."""


def names_of_this_machine(root: Path, harmless: Collection[str]) -> dict[str, str]:
    """Each identifying name, with its replacement.

    Args:
        root: the file system, or a copy of its /sys and /etc.
        harmless: `host` or `user`, if that name is a common word and does not identify its owner.
    """
    host = socket.gethostname()
    names = {host: "<host>", host.split(".")[0]: "<host>", _user(): "<user>"}
    found = {name: said for name, said in names.items() if said.strip("<>") not in harmless}
    found |= dict.fromkeys(_domains(host, root), "<domain>")
    found |= {f"{Path.home()}/": "<home>/", f"{Path.cwd()}/": "<project>/"}
    found |= {_text(root / name): "<serial>" for name in _SERIALS}
    found |= {_text(path): "<address>" for path in (root / "sys/class/net").glob("*/address")}
    return {text: said for text, said in found.items() if _tells_something(text)}


def _tells_something(text: str) -> bool:
    return (
        len(text) >= _SHORTEST
        and not text.isdigit()
        and text.lower() not in _NO_SECRET
        and set(text) - set("0:-. ") != set()
    )


def _domains(host: str, root: Path) -> set[str]:
    """The domains of the host: from its full name, its resolver, and /etc/hosts."""
    names = [host]
    for line in _text(root / "etc/hosts").splitlines():
        words = line.split("#")[0].split()[1:]
        names += words if host.split(".", maxsplit=1)[0] in {word.split(".")[0] for word in words} else []
    found = {name.partition(".")[2] for name in names}
    for line in _text(root / "etc/resolv.conf").splitlines():
        if line.startswith(("search ", "domain ")):
            found |= set(line.split()[1:])
    return {domain for domain in found if "." in domain.strip(".") and domain.lower().strip(".") not in _NO_DOMAIN}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
