"""Environment variables that hold what must not be told, by their names and by what an address holds."""

import re
from collections.abc import Mapping
from pathlib import Path

_NAME = re.compile(
    r"KEY(?!BOARD|MAP|WORD)|TOKEN(?!IZ)|SECRET|CREDENTIAL|COOKIE|PASS(?!IVE|AGE|THROUGH)|_PWD\Z"
    r"|(?<![A-Z])(?:PAT|AUTH)S?(?![A-Z])",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"://[^\s/:@]*:([^\s/]+)@")
_SETTING = re.compile(
    r"[\d.,:+-]{1,11}|v?[\d.]+\w{0,3}|true|false|none|null|default|(en|dis)abled|required|optional", re.I
)
"""What a variable that is named for secrets may hold and is none: a number, a version, a mode."""

_SHORTEST, _SHORTEST_WORD, _SHORTEST_LINE = 6, 8, 16


def environment_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """What must not be told -> the variable that holds it.

    A variable counts whose name has KEY, TOKEN, SECRET, PASS, PAT, AUTH, COOKIE or CREDENTIAL in it, unless it holds a
    plain setting or the path of a file; of any other, the password in an address. Of several lines, each counts.
    """
    found: dict[str, str] = {}
    for name, value in environment.items():
        for secret in _lines(value) if _NAME.search(name) else []:
            found.setdefault(secret, name)
        for match in _LOGIN.finditer(value):
            if len(match[1]) >= _SHORTEST:
                found.setdefault(match[1], name)
    return found


def _lines(value: str) -> list[str]:
    value = value.strip()
    if "\n" in value:
        return [line.strip() for line in value.splitlines() if len(line.strip()) >= _SHORTEST_LINE]
    return [value] if _is_secret(value) else []


def _is_secret(value: str) -> bool:
    if len(value) < _SHORTEST or _SETTING.fullmatch(value) or "://" in value or _is_path(value):
        return False
    # `enforced` is long enough, `debug` is a word, and `hunter2` is none.
    return len(value) >= _SHORTEST_WORD or not value.isalpha()


def _is_path(value: str) -> bool:
    try:
        return ("/" in value or "." in value) and Path(value).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False
