"""A BagIt bag as one zip, the same bytes for the same content (RFC 8493, sha256).

Entries are sorted by name, with one fixed date and compression level. The bag's single folder has the name of the zip.
"""

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

from framewatt.base.files import write_atomically

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date a zip entry can have; the real dates are in the records."""

DECLARATION = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
INFO, MANIFEST, TAG_MANIFEST = "bag-info.txt", "manifest-sha256.txt", "tagmanifest-sha256.txt"

LABELS = ("Bag-Software-Agent", "Bagging-Date", "External-Description", "External-Identifier", "Payload-Oxum")
"""Labels in bag-info.txt of a package, in this order."""


def write_bag(path: Path, payload: Mapping[str, bytes | Path], info: Mapping[str, str]) -> int:
    """Write a bag, atomically.

    Args:
        path: the zip file.
        payload: content, or the file that holds it, by name below `data/`.
        info: the entries of bag-info.txt, by label.

    Returns:
        number of files in the payload.
    """
    hashes = {f"data/{name}": _sha256(content) for name, content in payload.items()}
    size = sum(len(content) if isinstance(content, bytes) else content.stat().st_size for content in payload.values())
    info = {**info, "Payload-Oxum": f"{size}.{len(payload)}"}
    tags = {
        "bagit.txt": DECLARATION,
        INFO: "".join(f"{label}: {' '.join(text.split())}\n" for label, text in info.items()),
        MANIFEST: _manifest(hashes),
    }
    tags[TAG_MANIFEST] = _manifest({name: _sha256(text.encode()) for name, text in tags.items()})
    entries: dict[str, bytes | Path] = {name: text.encode() for name, text in tags.items()}
    entries |= {f"data/{name}": content for name, content in payload.items()}

    def write(partial: Path) -> None:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as package:
            for name in sorted(entries):
                _add(package, f"{path.stem}/{name}", entries[name])

    write_atomically(path, write)
    return len(payload)


def _manifest(hashes: Mapping[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(hashes.items()))


def _sha256(content: bytes | Path) -> str:
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _add(package: zipfile.ZipFile, name: str, content: bytes | Path) -> None:
    entry = zipfile.ZipInfo(name, date_time=_EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    package.writestr(entry, content if isinstance(content, bytes) else content.read_bytes())
