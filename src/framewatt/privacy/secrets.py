"""Secrets that must not leave this machine: names of host and user, paths, serial numbers, passwords and tokens.

`Secrets.from_this_machine` has the names that identify this machine and its user, the secrets in environment variables
(by the variables' names, and by passwords in addresses), and the general forms of other secrets. `redact` removes them
from outside text (such as the output of a crashed program); `find` looks for them in files about to be packed. Both see
through capitals, base64, hexadecimal, UTF-16, and the escapes of addresses, JSON and HTML.
"""

import getpass
import os
import re
import socket
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from framewatt.privacy.encoded import Unfolded, as_text, replace_encoded
from framewatt.privacy.forms import Replace, replace_forms

_NAME = re.compile(
    r"KEY(?!BOARD|MAP|WORD)|TOKEN(?!IZ)|SECRET|CREDENTIAL|COOKIE|PASS(?!IVE|AGE|THROUGH)|_PWD\Z"
    r"|(?<![A-Z])(?:PAT|AUTH)S?(?![A-Z])",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"://[^\s/:@]*:([^\s/]+)@")
_SETTING = re.compile(
    r"[\d.,:+-]{1,11}|v?[\d.]+\w{0,3}|true|false|none|null|default|(en|dis)abled|required|optional", re.I
)
"""Harmless values of a variable with a name that suggests a secret: a number, a version, a mode."""

_SHORTEST, _SHORTEST_WORD, _SHORTEST_LINE = 6, 8, 16


def environment_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable that has each secret, by secret.

    The value of a variable is a secret if its name has KEY, TOKEN, SECRET, PASS, PAT, AUTH, COOKIE or CREDENTIAL in it,
    unless it is a plain setting or the path of a file. In all other variables, the password in an address is one. Each
    line of a value with several lines counts separately.
    """
    variables: dict[str, str] = {}
    for name, value in environment.items():
        for secret in _lines(value) if _NAME.search(name) else []:
            variables.setdefault(secret, name)
        for match in _LOGIN.finditer(value):
            if len(match[1]) >= _SHORTEST:
                variables.setdefault(match[1], name)
    return variables


def _lines(value: str) -> list[str]:
    value = value.strip()
    if "\n" in value:
        return [line.strip() for line in value.splitlines() if len(line.strip()) >= _SHORTEST_LINE]
    return [value] if _is_secret(value) else []


def _is_secret(value: str) -> bool:
    if len(value) < _SHORTEST or _SETTING.fullmatch(value) or "://" in value or _is_path(value):
        return False
    # `enforced` is long enough for a secret, `debug` is a word, and `hunter2` is not.
    return len(value) >= _SHORTEST_WORD or not value.isalpha()


def _is_path(value: str) -> bool:
    try:
        return ("/" in value or "." in value) and Path(value).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False


_SERIALS = (
    "sys/class/dmi/id/product_serial",
    "sys/class/dmi/id/board_serial",
    "sys/class/dmi/id/chassis_serial",
    "sys/class/dmi/id/product_uuid",
    "etc/machine-id",
)
_SHORTEST_NAME = 3

_NO_SECRET = {"root", "user", "localhost", "none", "admin", "ubuntu", "debian", "runner", "default string"} | {
    *("dev", "ops", "app", "api", "guest", "test", "docker", "vagrant", "jenkins", "jovyan", "container", "sandbox"),
    *("node", "host", "server", "worker", "build", "centos", "fedora", "ec2-user", "azureuser"),
}
_NO_DOMAIN = {"localdomain", "local", "lan", "internal", "home", "cluster.local", "svc.cluster.local", "example.com"}
"""Domains that do not identify their owner."""


def names_of_this_machine(root: Path, harmless: Collection[str]) -> dict[str, str]:
    """Return the replacement of each identifying name, by name.

    Args:
        root: the file system, or a copy of its /sys and /etc.
        harmless: `host` or `user`, if that name is a common word and does not identify its owner.
    """
    host = socket.gethostname()
    names = {host: "<host>", host.split(".")[0]: "<host>", _user(): "<user>"}
    kinds = {name: kind for name, kind in names.items() if kind.strip("<>") not in harmless}
    kinds |= dict.fromkeys(_domains(host, root), "<domain>")
    kinds |= {f"{Path.home()}/": "<home>/", f"{Path.cwd()}/": "<project>/"}
    kinds |= {_text(root / name): "<serial>" for name in _SERIALS}
    kinds |= {_text(path): "<address>" for path in (root / "sys/class/net").glob("*/address")}
    return {text: kind for text, kind in kinds.items() if _is_identifying(text)}


def _is_identifying(text: str) -> bool:
    return (
        len(text) >= _SHORTEST_NAME
        and not text.isdigit()
        and text.lower() not in _NO_SECRET
        and set(text) - set("0:-. ") != set()
    )


def _domains(host: str, root: Path) -> set[str]:
    """Return the domains of the host: from its full name, its resolver, and /etc/hosts."""
    names = [host]
    for line in _text(root / "etc/hosts").splitlines():
        words = line.split("#")[0].split()[1:]
        names += words if host.split(".", maxsplit=1)[0] in {word.split(".")[0] for word in words} else []
    domains = {name.partition(".")[2] for name in names}
    for line in _text(root / "etc/resolv.conf").splitlines():
        if line.startswith(("search ", "domain ")):
            domains |= set(line.split()[1:])
    return {domain for domain in domains if "." in domain.strip(".") and domain.lower().strip(".") not in _NO_DOMAIN}


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


_SHORTEST_AMONG_BYTES = 6
"""Shortest secret looked for in binary data: any three letters occur by chance in a million random bytes, six do
not."""

_DEPTH = 3
"""How deep encodings of a text may be nested."""

_LONGEST_CACHED, _MOST_CACHED = 100, 200_000

_REASON = re.compile(r"(.*_)?(reasons?|unknown|error|checker)")
"""Fields of records with messages of a program."""


@dataclass(frozen=True)
class Secrets:
    """Secret texts, each with its replacement.

    Attributes:
        texts: secret -> replacement, longest first.
        allowed: addresses and versions, in lower case, that look private but may stay.
    """

    texts: dict[str, str]
    allowed: frozenset[str] = frozenset()

    @classmethod
    def from_this_machine(cls, root: Path = Path("/"), harmless: Collection[str] = ()) -> "Secrets":
        """Return the secrets of this machine.

        Args:
            root: the file system, or a copy of its /sys and /etc.
            harmless: `host` or `user`, if that name is a common word and does not identify its owner; any other text is
                an address that is allowed.
        """
        kinds = names_of_this_machine(root, harmless)
        allowed = frozenset(text.lower() for text in harmless) - {"host", "user"}
        known = {text: kind for text, kind in kinds.items() if text.lower() not in allowed}
        known |= {value: f"<secret: {name}>" for value, name in environment_secrets(os.environ).items()}
        return cls(dict(sorted(known.items(), key=lambda item: -len(item[0]))), allowed)

    def redact(self, text: str) -> str:
        """Return the text with every secret replaced."""
        return self._replaced(text, lambda _text, _at, kind: kind, _DEPTH)

    def redact_reasons(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record with every secret replaced in its message fields, at any depth; names and hashes stay."""
        return {key: self._redacted(value, bool(_REASON.fullmatch(key))) for key, value in record.items()}

    def find(self, content: bytes) -> list[str]:
        """Return the kinds of secrets in some content; never the secrets themselves."""
        return sorted({kind for _, kind in self.lines(as_text(content))})

    def lines(self, text: str) -> list[tuple[int, str]]:
        """Return each kind of secret in a text, with the number of the line where it first occurs, from 1."""
        numbers: dict[str, int] = {}

        def note(text: str, at: int, kind: str) -> str:
            numbers.setdefault(kind, text.count("\n", 0, at) + 1)
            return kind

        self._replaced(text, note, _DEPTH)
        return sorted((line, kind) for kind, line in numbers.items())

    def among(self, content: bytes) -> list[str]:
        """Return the kinds of secrets that occur unencoded in binary data, such as a compressed file or an array."""
        lower = content.lower()
        if not any(text.lower().encode() in lower for text in self.texts):
            return []
        return sorted(self._kinds_among(as_text(content)))

    def _replaced(self, text: str, replace: Replace, depth: int) -> str:
        def known(match: re.Match[str]) -> str:
            return replace(match.string, match.start(), self._kinds_of[match[0].lower()])

        def judge(part: re.Match[str], /, how: str, unfold: Callable[[str], Iterator[Unfolded]]) -> str:
            kinds = self._kinds_unfolded(part[0], unfold, depth - 1)
            return replace(part.string, part.start(), f"{kinds} in {how}") if kinds else part[0]

        text = self._names.sub(known, replace_forms(self._values.sub(known, text), replace, self.allowed))
        return replace_encoded(text, judge) if depth else text

    def _kinds_unfolded(self, part: str, unfold: Callable[[str], Iterator[Unfolded]], depth: int) -> str:
        """Return the kinds of secrets in all decodings of a part; cached for short parts, since hashes recur often."""
        key = (part, unfold, depth)
        if key in self._known_parts:
            return self._known_parts[key]
        kinds: set[str] = set()
        for text, whole in unfold(part):
            if text and text != part and not kinds:
                kinds = self._kinds_in(text, depth) if whole else self._kinds_among(text)
        joined = ", ".join(sorted(kinds))
        if len(part) <= _LONGEST_CACHED and len(self._known_parts) < _MOST_CACHED:
            self._known_parts[key] = joined
        return joined

    def _kinds_in(self, text: str, depth: int) -> set[str]:
        kinds: set[str] = set()

        def note(_text: str, _at: int, kind: str) -> str:
            kinds.add(kind)
            return kind

        self._replaced(text, note, depth)
        return kinds

    def _kinds_among(self, text: str) -> set[str]:
        return {self._kinds_of[match[0].lower()] for match in self._long.finditer(text)}

    def _redacted(self, value: Any, is_reason: bool) -> Any:
        if isinstance(value, str):
            return self.redact(value) if is_reason else value
        if isinstance(value, Mapping):
            return {
                key: self._redacted(inner, is_reason or bool(_REASON.fullmatch(str(key))))
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._redacted(inner, is_reason) for inner in value]
        return value

    @cached_property
    def _known_parts(self) -> dict[tuple[str, object, int], str]:
        return {}

    @cached_property
    def _kinds_of(self) -> dict[str, str]:
        return {text.lower(): kind for text, kind in self.texts.items()}

    @cached_property
    def _values(self) -> re.Pattern[str]:
        """Pattern of the values of secret variables, anywhere in a text."""
        return _any_of(re.escape(text) for text, kind in self.texts.items() if kind.startswith("<secret"))

    @cached_property
    def _names(self) -> re.Pattern[str]:
        """Pattern of names, as whole words only."""
        return _any_of(_word(text) for text, kind in self.texts.items() if not kind.startswith("<secret"))

    @cached_property
    def _long(self) -> re.Pattern[str]:
        return _any_of(_word(text) for text in self.texts if len(text) >= _SHORTEST_AMONG_BYTES)


def _any_of(patterns: Iterator[str]) -> re.Pattern[str]:
    """Return all patterns as one; without any, a pattern that never matches."""
    return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)


def _word(secret: str) -> str:
    end = "" if secret.endswith("/") else r"(?![^\W_])"
    return rf"(?<![^\W_]){re.escape(secret)}{end}"
