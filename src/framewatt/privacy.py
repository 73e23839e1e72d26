"""What must not leave this machine: names of host and user, paths, serial numbers, tokens.

`Secrets.of_this_machine` knows them; `redact` takes them out of text that comes from outside (the last words of a
program that crashed), `find` looks for them in what is about to be packed.
"""

import getpass
import os
import re
import socket
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

_TOKEN = re.compile(r"(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIALS?)(_|$)", re.IGNORECASE)
_SERIALS = (
    "sys/class/dmi/id/product_serial",
    "sys/class/dmi/id/board_serial",
    "sys/class/dmi/id/chassis_serial",
    "sys/class/dmi/id/product_uuid",
    "etc/machine-id",
)
_SHORTEST = 4
_SHORTEST_TOKEN = 8
"""A variable may be named for tokens and hold a setting: `true`, a number, a mode."""

_NO_SECRET = {"root", "user", "localhost", "none", "admin", "ubuntu", "debian", "runner", "default string"}
"""Names that tell nothing of their owner."""


@dataclass(frozen=True)
class Secrets:
    """Texts that must not be told, each with what stands in its place.

    Attributes:
        texts: secret -> what is said instead, longest first.
    """

    texts: dict[str, str]

    @classmethod
    def of_this_machine(cls, root: Path = Path("/"), harmless: Collection[str] = ()) -> "Secrets":
        """All that is known here.

        Args:
            root: the file system, or a copy of its /sys and /etc.
            harmless: `host` or `user`, where that name is a common word and tells nothing of its owner.
        """
        home = str(Path.home())
        names = {socket.gethostname(): "<host>", socket.gethostname().split(".")[0]: "<host>", _user(): "<user>"}
        found = {name: said for name, said in names.items() if said.strip("<>") not in harmless}
        found |= {f"{home}/": "<home>/", f"{Path.cwd()}/": "<project>/"}
        found |= {_text(root / name): "<serial>" for name in _SERIALS}
        found |= {_text(path): "<address>" for path in (root / "sys/class/net").glob("*/address")}
        found |= {value: "<token>" for name, value in os.environ.items() if _is_token(name, value)}
        known = {text: said for text, said in found.items() if _tells_something(text)}
        return cls(dict(sorted(known.items(), key=lambda item: -len(item[0]))))

    def redact(self, text: str) -> str:
        """The text with every secret replaced."""
        for secret, said in self.texts.items():
            text = _pattern(secret).sub(said, text)
        return text

    def find(self, content: bytes) -> list[str]:
        """What kinds of secrets some content holds; never the secrets themselves."""
        # Bytes as characters, whatever they mean, and secrets as the same bytes.
        text = content.decode("latin-1")
        found = [s for secret, s in self.texts.items() if _pattern(secret.encode().decode("latin-1")).search(text)]
        return sorted(set(found))


def _is_token(name: str, value: str) -> bool:
    return bool(_TOKEN.search(name)) and len(value) >= _SHORTEST_TOKEN


def _tells_something(text: str) -> bool:
    return len(text) >= _SHORTEST and text.lower() not in _NO_SECRET and set(text) - set("0:-. ") != set()


def _pattern(secret: str) -> re.Pattern[str]:
    """The secret as a word of its own: `ann` is not in `planned`."""
    end = "" if secret.endswith("/") else "(?![A-Za-z0-9])"
    return re.compile(f"(?<![A-Za-z0-9]){re.escape(secret)}{end}")


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


def secrets_in(secrets: Secrets, contents: Iterable[tuple[str, bytes]]) -> list[str]:
    """A line for each file that holds a secret: its name and what kind.

    Args:
        secrets: what to look for.
        contents: name and content of every file.
    """
    return [f"{name} holds {', '.join(found)}" for name, content in contents if (found := secrets.find(content))]
