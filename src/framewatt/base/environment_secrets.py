"""Secrets in environment variables, found by the variables' names and by passwords in addresses."""

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
"""Harmless values of a variable whose name suggests a secret: a number, a version, a mode."""

_SHORTEST, _SHORTEST_WORD, _SHORTEST_LINE = 6, 8, 16


def environment_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Secret -> the variable that holds it.

    The value of a variable is a secret if its name has KEY, TOKEN, SECRET, PASS, PAT, AUTH, COOKIE or CREDENTIAL in it,
    unless it is a plain setting or the path of a file. In all other variables, the password in an address is one. Each
    line of a value with several lines counts separately.
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
    # `enforced` is long enough for a secret, `debug` is a word, and `hunter2` is not.
    return len(value) >= _SHORTEST_WORD or not value.isalpha()


def _is_path(value: str) -> bool:
    try:
        return ("/" in value or "." in value) and Path(value).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False
