"""The bag: every file is named by a manifest and is what it was, and what the bag says of itself is so."""

import re
from collections.abc import Iterator
from pathlib import Path

from framewatt.base.files import sha256_of
from framewatt.package.bag import DECLARATION, INFO, LABELS, MANIFEST, TAG_MANIFEST

_TAGS = ("bagit.txt", INFO, MANIFEST)
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


def problems(folder: Path) -> Iterator[str]:
    """What does not fit the manifests, or the bag's own count.

    Args:
        folder: where the bag was unpacked to. No file is read that does not lie in it.
    """
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if _text(folder / "bagit.txt") != DECLARATION:
        yield "bagit.txt: not what a BagIt 1.0 bag has"
    payload = {name for name in there if name.startswith("data/")}
    tags = there - payload - {TAG_MANIFEST}
    yield from _against(folder, MANIFEST, payload)
    yield from _against(folder, TAG_MANIFEST, tags)
    yield from (f"{name}: a bag has it, and it is not there" for name in _TAGS if name not in tags)
    yield from (f"{name}: no file of a bag" for name in sorted(tags - set(_TAGS)))
    yield from _of_itself(folder, payload)


def _against(folder: Path, manifest: str, there: set[str]) -> Iterator[str]:
    """What a manifest says of the files that it is about."""
    text = _text(folder / manifest)
    if text is None:
        yield f"{manifest}: not there"
        return
    named: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        found = _LINE.fullmatch(line)
        if not found:
            yield f"{manifest}: line {number} is no hash and name"
        elif found[2] in named:
            yield f"{found[2]}: {manifest} names it twice"
        else:
            named[found[2]] = found[1]
    for name, digest in named.items():
        # Whatever a line names, what is opened is what was found in the folder.
        if name not in there:
            yield f"{name}: {manifest} names it, and it is not there"
        elif sha256_of(folder / name) != digest:
            yield f"{name}: changed since {manifest} was written"
    yield from (f"{name}: {manifest} does not name it" for name in sorted(there - set(named)))


def _of_itself(folder: Path, payload: set[str]) -> Iterator[str]:
    """What bag-info.txt says: how many bytes in how many files, and which package this is."""
    info = labels(folder)
    if _text(folder / INFO) != "".join(f"{label}: {info.get(label)}\n" for label in LABELS):
        yield f"{INFO}: found {', '.join(info)[:200] or 'nothing'}; a package has a line each of {', '.join(LABELS)}"
    size = sum((folder / name).stat().st_size for name in payload)
    wanted = {"Payload-Oxum": f"{size}.{len(payload)}", "External-Identifier": folder.name}
    for label, found in wanted.items():
        if info.get(label) != found:
            yield f"{INFO}: {label}: it says {info.get(label) or 'nothing'}, the bag has {found}"


def labels(folder: Path) -> dict[str, str]:
    """What bag-info.txt says, by label; of a label that comes twice, both."""
    found: dict[str, str] = {}
    for line in (_text(folder / INFO) or "").splitlines():
        label, _, text = line.partition(": ")
        found[label] = f"{found[label]}, {text}" if label in found else text
    return found


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
