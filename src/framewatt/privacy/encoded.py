"""Encodings of a text: percent encoding, JSON and Python escapes, HTML entities, base64, hexadecimal, UTF-16."""

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol
from urllib.parse import unquote

_WORD = re.compile(r"(?<![^\s\"'<>])[^\s\"'<>%\\&\x1b]*[%\\&\x1b][^\s\"'<>]+")
_ESCAPE = re.compile(
    r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\U000([01][0-9a-fA-F]{4})|\\([0-3][0-7]{2})|\\([\\/\"])|(\\[nrt])"
)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{60,78}\r?\n[ \t]*)*[A-Za-z0-9+/_-]{11,}={0,2}")
_HEX = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{8,}")
_HEX_APART = re.compile(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}[ :-]){3,}[0-9a-fA-F]{2}(?![0-9a-fA-F])")
_WIDE = re.compile("(?:[\x20-\x7e]\0{1,3}){4,}[\x20-\x7e]?")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LONGEST_NUMBER = 20
_NO_BASE64 = re.compile(r"[0-9]+|[0-9a-f]+|[a-z_-]+|[A-Z_-]+")
"""Numbers, hashes and words, which are not decoded as base64: the result would be no text."""

Unfolded = tuple[str, bool]
"""A decoded text, and whether all of it is readable (else it is bytes of something else)."""


class Judge(Protocol):
    """A function that decides the replacement for a part of a text."""

    def __call__(self, part: re.Match[str], /, how: str, unfold: Callable[[str], Iterator[Unfolded]]) -> str:
        """Return the replacement.

        Args:
            part: the part of the text.
            how: its encoding.
            unfold: returns all texts that it may decode to.
        """


def replace_encoded(text: str, judge: Judge) -> str:
    """Return the text with each encoded part replaced by `judge`'s answer; see as_text for undecodable bytes."""
    for mark, form, how, unfold in _WAYS:
        if mark is None or any(sign in text for sign in mark):
            text = form.sub(partial(judge, how=how, unfold=unfold), text)
    return text


def as_text(content: bytes) -> str:
    """Return bytes as text: UTF-8 decoded, all other bytes as lone surrogates."""
    return content.decode("utf-8", "surrogateescape")


def _from_escapes(word: str) -> Iterator[Unfolded]:
    yield unquote(word), True
    yield html.unescape(word), True
    yield _ESCAPE.sub(_escaped, word), True
    if "\x1b" in word:
        # A colour code may come before a word, or in the middle of one.
        yield _COLOUR.sub(" ", word), True
        yield _COLOUR.sub("", word), True


def _escaped(match: re.Match[str]) -> str:
    if match[6]:
        return " "
    code = match[1] or match[2] or match[3]
    return match[5] or chr(int(code, 16) if code else int(match[4], 8))


def _from_base64(run: str) -> Iterator[Unfolded]:
    """Yield the decodings from each of the first four letters on, since leading letters may be of something else."""
    run = re.sub(r"[\s=]", "", run).replace("-", "+").replace("_", "/")
    if _NO_BASE64.fullmatch(run):
        return
    for start in range(4):
        part = run[start:]
        if len(part) % 4 == 1:
            part = part[:-1]
        try:
            yield from _read(base64.b64decode(part + "=" * (-len(part) % 4)))
        except binascii.Error:
            continue


def _from_hex(run: str) -> Iterator[Unfolded]:
    run = re.sub("[ :-]", "", run)
    if len(run) <= _LONGEST_NUMBER and run.isdigit():
        return
    for start in (0, 1):
        part = run[start:]
        yield from _read(bytes.fromhex(part[: len(part) // 2 * 2]))


def _from_wide(run: str) -> Iterator[Unfolded]:
    yield run.replace("\0", ""), True


def _read(content: bytes) -> Iterator[Unfolded]:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        yield as_text(content), False
    else:
        yield text, not _CONTROL.search(text.replace("\0", "") if "\0" in text and _WIDE.search(text) else text)


_WAYS: tuple[tuple[str | None, re.Pattern[str], str, Callable[[str], Iterator[Unfolded]]], ...] = (
    ("\0", _WIDE, "UTF-16", _from_wide),
    ("%\\&\x1b", _WORD, "escapes", _from_escapes),
    (None, _HEX, "hex", _from_hex),
    (None, _HEX_APART, "hex", _from_hex),
    (None, _BASE64, "base64", _from_base64),
)
