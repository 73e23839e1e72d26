"""What must not leave this machine: names of host and user, paths, serial numbers, passwords and tokens.

`Secrets.of_this_machine` knows those of here, and the forms of those of others. `redact` takes them out of text that
comes from outside (what a program says that crashed), `find` looks for them in what is about to be packed; both see
through capitals, base64, hexadecimal, UTF-16, and the escapes of addresses, JSON and HTML.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from framewatt.base.encoded import Unfolded, as_text, replace_encoded
from framewatt.base.environment_secrets import environment_secrets
from framewatt.base.machine_names import names_of_this_machine
from framewatt.base.private_forms import Say, replace_forms

_SHORTEST_AMONG_BYTES = 6
"""Three letters stand somewhere in any million of random bytes, six do not."""

_DEPTH = 3
"""How often a text may be written otherwise in another that is written otherwise."""

_LONGEST_KEPT, _MOST_KEPT = 100, 200_000

_REASON = re.compile(r"(.*_)?(reasons?|unknown|error|checker)")
"""Fields of records that hold what a program said."""


@dataclass(frozen=True)
class Secrets:
    """Texts that must not be told, each with what stands in its place.

    Attributes:
        texts: secret -> what is said instead, longest first.
        told: in lower case, addresses and versions that look private and may be told.
    """

    texts: dict[str, str]
    told: frozenset[str] = frozenset()

    @classmethod
    def of_this_machine(cls, root: Path = Path("/"), harmless: Collection[str] = ()) -> "Secrets":
        """All that is known here.

        Args:
            root: the file system, or a copy of its /sys and /etc.
            harmless: `host` or `user`, where that name is a common word and tells nothing of its owner; any other text
                is an address that may be told.
        """
        found = names_of_this_machine(root, harmless)
        told = frozenset(text.lower() for text in harmless) - {"host", "user"}
        known = {text: said for text, said in found.items() if text.lower() not in told}
        known |= {value: f"<secret: {name}>" for value, name in environment_secrets(os.environ).items()}
        return cls(dict(sorted(known.items(), key=lambda item: -len(item[0]))), told)

    def redact(self, text: str) -> str:
        """The text with every secret replaced."""
        return self._replaced(text, lambda _text, _at, kind: kind, _DEPTH)

    def redact_reasons(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record with every secret replaced in what it gives for a reason, at any depth; names and hashes stay."""
        return {key: self._redacted(value, bool(_REASON.fullmatch(key))) for key, value in record.items()}

    def find(self, content: bytes) -> list[str]:
        """What kinds of secrets some content holds; never the secrets themselves."""
        return sorted({kind for _, kind in self.lines(as_text(content))})

    def lines(self, text: str) -> list[tuple[int, str]]:
        """Each kind of secret that a text holds, with the line on which it is first, from 1."""
        found: dict[str, int] = {}

        def note(text: str, at: int, kind: str) -> str:
            found.setdefault(kind, text.count("\n", 0, at) + 1)
            return kind

        self._replaced(text, note, _DEPTH)
        return sorted((line, kind) for kind, line in found.items())

    def among(self, content: bytes) -> list[str]:
        """What kinds of secrets stand as they are among bytes that are no text: a compressed file, an array."""
        lower = content.lower()
        if not any(text.lower().encode() in lower for text in self.texts):
            return []
        return sorted(self._kinds_among(as_text(content)))

    def _replaced(self, text: str, say: Say, depth: int) -> str:
        def known(match: re.Match[str]) -> str:
            return say(match.string, match.start(), self._kinds_of[match[0].lower()])

        def judge(part: re.Match[str], /, how: str, unfold: Callable[[str], Iterator[Unfolded]]) -> str:
            kinds = self._kinds_unfolded(part[0], unfold, depth - 1)
            return say(part.string, part.start(), f"{kinds} in {how}") if kinds else part[0]

        text = self._names.sub(known, replace_forms(self._values.sub(known, text), say, self.told))
        return replace_encoded(text, judge) if depth else text

    def _kinds_unfolded(self, part: str, unfold: Callable[[str], Iterator[Unfolded]], depth: int) -> str:
        """The kinds in what a part may say; that of short ones is kept: hashes stand in many records."""
        key = (part, unfold, depth)
        if key in self._known_parts:
            return self._known_parts[key]
        found: set[str] = set()
        for text, whole in unfold(part):
            if text and text != part and not found:
                found = self._kinds_in(text, depth) if whole else self._kinds_among(text)
        said = ", ".join(sorted(found))
        if len(part) <= _LONGEST_KEPT and len(self._known_parts) < _MOST_KEPT:
            self._known_parts[key] = said
        return said

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
        return {text.lower(): said for text, said in self.texts.items()}

    @cached_property
    def _values(self) -> re.Pattern[str]:
        """What variables hold, wherever it stands."""
        return _any_of(re.escape(text) for text, said in self.texts.items() if said.startswith("<secret"))

    @cached_property
    def _names(self) -> re.Pattern[str]:
        """Names, each as a word of its own, not within another."""
        return _any_of(_word(text) for text, said in self.texts.items() if not said.startswith("<secret"))

    @cached_property
    def _long(self) -> re.Pattern[str]:
        return _any_of(_word(text) for text in self.texts if len(text) >= _SHORTEST_AMONG_BYTES)


def _any_of(patterns: Iterator[str]) -> re.Pattern[str]:
    """One pattern of all; of none, one that fits nothing."""
    return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)


def _word(secret: str) -> str:
    end = "" if secret.endswith("/") else r"(?![^\W_])"
    return rf"(?<![^\W_]){re.escape(secret)}{end}"
