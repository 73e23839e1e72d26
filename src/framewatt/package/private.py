"""Finds personal data of the owner in a package: file, place in it, and kind of secret.

All texts of a file are looked through, from any container format: columns, streams, chunks, members, and plain text.
"""

import base64
import bz2
import gzip
import io
import json
import lzma
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from PIL import Image
from pypdf import PdfReader
from pypdf.generic import IndirectObject, StreamObject

from framewatt.privacy.encoded import as_text
from framewatt.privacy.secrets import Secrets

Part = tuple[str, str]
"""Place in a file (empty: the file itself), and a text."""

_LARGEST_B = 1 << 30
_DEPTH = 3
_NO_TEXT = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_PRINTED = re.compile(rb"[\t\x20-\x7e]{16,}")
_PRINTED_WIDE = re.compile(rb"(?:[\x20-\x7e]\x00{1,3}){8,}[\x20-\x7e]?")
_EMBEDDED = re.compile(r"base64,\s*([A-Za-z0-9+/=\s]{40,})")


class UnreadableError(Exception):
    """A file of a supported format that cannot be unpacked."""


def parts_of(content: bytes, depth: int = _DEPTH) -> Iterator[Part]:
    """Yield every text in a file's content.

    Raises:
        UnreadableError: it is damaged, encrypted or unpacks to more than it declares.
    """
    read = next((reader for magic, reader in _READERS if content.startswith(magic)), None)
    if read is None:
        yield from _plain(content, depth)
        return
    try:
        for place, part in read(content):
            inner = parts_of(part, depth - 1) if isinstance(part, bytes) and depth else [("", as_text(_bytes(part)))]
            yield from ((", ".join(filter(None, (place, where))), text) for where, text in inner)
    except UnreadableError:
        raise
    except Exception as error:
        # Libraries raise all kinds of exceptions on damaged files.
        raise UnreadableError(f"{type(error).__name__}") from error


def is_packed(content: bytes) -> bool:
    """Return whether the content is in a packed format, so that its texts are not plain in its bytes."""
    return content.startswith(tuple(magic for magic, _ in _READERS)) or bool(_NO_TEXT.search(content))


def _bytes(part: str | bytes) -> bytes:
    return part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape")


def _plain(content: bytes, depth: int) -> Iterator[Part]:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield "", content.decode("utf-16", "replace")
    elif _NO_TEXT.search(content):
        yield "its strings", "\n".join(as_text(run) for run in _PRINTED.findall(content))
        yield "its strings", "\n".join(as_text(run.replace(b"\0", b"")) for run in _PRINTED_WIDE.findall(content))
    else:
        text = as_text(content)
        yield "", text
        for match in _EMBEDDED.finditer(text) if depth else []:
            yield from _embedded(match, depth)


def _embedded(match: re.Match[str], depth: int) -> Iterator[Part]:
    """Yield the texts of content that is embedded in a page or a drawing as base64."""
    line = match.string.count("\n", 0, match.start()) + 1
    run = re.sub(r"[\s=]", "", match[1])
    content = base64.b64decode(run[: len(run) // 4 * 4])
    if content.startswith(tuple(magic for magic, _ in _READERS)):
        yield from ((f"embedded on line {line}, {where}", text) for where, text in parts_of(content, depth - 1))


def _parquet(content: bytes) -> Iterator[tuple[str, str]]:
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        yield "metadata", str(file.metadata.created_by)
        for key, value in (file.metadata.metadata or {}).items():
            if key != b"ARROW:schema":
                yield f"metadata {as_text(key)}", as_text(key) + "\n" + as_text(value)
        for field in file.schema_arrow:
            yield f"metadata of column {field.name}", "\n".join([field.name, *_texts_in(field.metadata)])
        texts = [f.name for f in file.schema_arrow if not (pa.types.is_primitive(f.type) or pa.types.is_null(f.type))]
        row = 0
        for batch in file.iter_batches(columns=texts) if texts else []:
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                yield from _column(name, column, row)
            row += batch.num_rows


def _column(name: str, column: Any, row: int) -> Iterator[tuple[str, str]]:
    """Return the distinct texts of a column; for a dictionary column, also those that no row has."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary
    simple = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    values = pc.unique(column).to_pylist() if simple else column.to_pylist()
    yield f"column {name}, rows from {row + 1}", "\n".join(dict.fromkeys(_texts_in(values)))


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in nested lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield as_text(value)
    elif isinstance(value, Mapping):
        yield from (text for entry in value.items() for text in _texts_in(entry))
    elif isinstance(value, Iterable):
        yield from (text for entry in value for text in _texts_in(entry))
    elif value is not None:
        yield str(value)


def _pdf(content: bytes) -> Iterator[tuple[str, str | bytes]]:
    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted:
        raise UnreadableError("it is encrypted")
    yield "metadata", "\n".join(_texts_in(reader.metadata))
    numbers = {number for numbers in reader.xref.values() for number in numbers} | set(reader.xref_objStm)
    for number in sorted(numbers):
        thing = reader.get_object(IndirectObject(number, 0, reader))
        yield f"object {number}", str(thing)
        if isinstance(thing, StreamObject):
            yield f"stream {number}", thing.get_data()
    for number, page in enumerate(reader.pages, 1):
        yield f"page {number}", page.extract_text()


def _image(content: bytes) -> Iterator[tuple[str, str | bytes]]:
    with Image.open(io.BytesIO(content)) as image:
        image.load()  # also reads text chunks that come after the pixels
        for key, value in [*image.info.items(), *image.getexif().items()]:
            if isinstance(value, str | bytes):
                yield f"chunk {key}", f"{key}\n{value}" if isinstance(value, str) else value
        for chunk in getattr(image, "private_chunks", []):
            yield f"chunk {chunk[0]!r}", chunk[1]


def _unpacked(unpack: Callable[[io.BytesIO], Any]) -> Callable[[bytes], Iterator[tuple[str, bytes]]]:
    def read(content: bytes) -> Iterator[tuple[str, bytes]]:
        with unpack(io.BytesIO(content)) as file:
            yield "unpacked", _within(file)

    return read


def _zip(content: bytes) -> Iterator[tuple[str, str | bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        yield "names", "\n".join([*archive.namelist(), as_text(archive.comment)])
        for entry in archive.infolist():
            with archive.open(entry) as file:
                yield f"member {entry.filename}", _within(file)


def _within(file: Any) -> bytes:
    """Read a file to its end, within a size limit."""
    content: bytes = file.read(_LARGEST_B + 1)
    if len(content) > _LARGEST_B:
        raise UnreadableError(f"it unpacks to more than {_LARGEST_B} bytes")
    return content


_READERS: tuple[tuple[bytes, Callable[[bytes], Iterator[tuple[str, Any]]]], ...] = (
    (b"PAR1", _parquet),
    (b"%PDF", _pdf),
    *((magic, _image) for magic in (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"II*\0", b"MM\0*")),
    (b"\x1f\x8b", _unpacked(lambda file: gzip.GzipFile(fileobj=file))),
    (b"BZh", _unpacked(bz2.BZ2File)),
    (b"\xfd7zXZ\0", _unpacked(lzma.LZMAFile)),
    *((magic, _zip) for magic in (b"PK\x03\x04", b"PK\x05\x06")),
)


_LOCKED = re.compile(r"==(\d+(?:\.\d+){3})\b")
_WORD = re.compile(r"[^\s<>()\[\],;:\"']+")
_LOCKS = ("requirements.txt", "environment.json")


def secrets_in(secrets: Secrets, payload: Mapping[str, bytes | Path]) -> Iterator[str]:
    """Yield a line for each kind of secret in each file, with its first place; never the secret itself.

    Args:
        secrets: what to look for.
        payload: content of every file, or its path, by its name in the package.
    """
    allowed = secrets.allowed | versions_in(_content(entry) for name, entry in payload.items() if name.endswith(_LOCKS))
    secrets = replace(secrets, allowed=allowed)
    for name, entry in payload.items():
        yield from (f"a file's name: {kind}" for _, kind in secrets.lines(name))
        places: dict[str, str] = {}
        try:
            for place, kind in _secrets_of_content(secrets, _content(entry)):
                # A secret found in plain text is not reported again in another encoding.
                if kind.split(" in ")[0] not in places:
                    places.setdefault(kind, place)
        except UnreadableError as error:
            yield f"{name} cannot be looked into ({error})"
        yield from (f"{name}{place}: {kind}" for kind, place in places.items())


def published_words(settings: Mapping[str, Any]) -> set[str]:
    """Return the words that a study publishes on purpose: those of its authors, title and description, and `harmless`.

    Args:
        settings: the study's, with defaults filled in.
    """
    stated = (*settings["archive"]["authors"], settings["title"], settings["description"] or "")
    words = {word.strip(".").lower() for text in stated for word in _WORD.findall(text)}
    return {*settings["archive"]["harmless"], *(words - {"host", "user"})}


def versions_in(locks: Iterable[bytes]) -> frozenset[str]:
    """Return the versions of four numbers in locks and environment records.

    They look like IP addresses (cuDNN has one).
    """
    return frozenset(version for lock in locks for version in _versions(lock))


def _versions(lock: bytes) -> Iterable[str]:
    try:
        return map(str, json.loads(lock)["packages"].values())
    except (ValueError, TypeError, KeyError, AttributeError):
        return _LOCKED.findall(as_text(lock))


def _secrets_of_content(secrets: Secrets, content: bytes) -> Iterator[tuple[str, str]]:
    for place, text in parts_of(content):
        for line, kind in secrets.lines(text):
            yield f", {place}" if place else f", line {line}", kind
    if is_packed(content):
        yield from ((", its bytes", kind) for kind in secrets.among(content))


def _content(entry: bytes | Path) -> bytes:
    return entry if isinstance(entry, bytes) else entry.read_bytes()
