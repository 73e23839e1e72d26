"""The code in the package is the code that it says packed it, and the runs say whether it made them."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from framewatt.base.files import sha256_of
from framewatt.base.identity import ROOT, code_files, code_sha256
from framewatt.package.verification.compare import some
from framewatt.package.verification.opened import Opened, mapping_in

_WRITES = re.compile(r"^SCHEMA_VERSION = (\d+)$", re.MULTILINE)
_RECORDS = ("runs/records.py", "records.py")
"""Where the packed code says which schema it writes: now, and in packages from before the library was divided."""


def problems(package: Opened) -> Iterator[str]:
    """Where the packed code is not what identity.json says."""
    identity = mapping_in(package.data / "identity.json")
    code = identity.get("code")
    told = code.get("sha256") if isinstance(code, dict) else None
    if told not in _hashes(package.data):
        files = f"; of its files differ from this checkout's: {_named(package.data)}"
        yield f"identity.json: code: it says {told}, the packed code is {code_sha256(package.data)}{files}"
    if (package.data / "changes.diff").is_file() and isinstance(code, dict) and code.get("modified") is False:
        yield "identity.json: code: it says that nothing was changed since the commit, and there is a changes.diff"
    yield from some(_other_schemas(package))


def _other_schemas(package: Opened) -> Iterator[str]:
    """Records of a schema that the packed code, which is said to have made them, does not write.

    By an older schema a record would be held to less.
    """
    places = (package.data / "src" / "framewatt" / name for name in _RECORDS)
    texts = (path.read_text(encoding="utf-8") for path in places if path.is_file())
    written = next((found for text in texts if (found := _WRITES.search(text))), None)
    if written is None:
        return
    hashes = _hashes(package.data)
    for run, record in package.records:
        told = record["schema_version"]
        if (record["identity"].get("code") or {}).get("sha256") in hashes and told != int(written[1]):
            yield f"{run.where}: schema_version: the record says {told}, the code that made it writes {written[1]}"


def other_code(package: Opened) -> str | None:
    """How many runs say that other code than the packed one made them; None where none does.

    That is no fault: a figure may have been mended after measuring. It is to be told.
    """
    hashes = _hashes(package.data)
    made = Counter(str((record["identity"].get("code") or {}).get("sha256")) for _, record in package.records)
    others = {digest: count for digest, count in made.items() if digest not in hashes}
    if not others:
        return None
    said = ", ".join(f"{digest[:12]} ({count})" for digest, count in sorted(others.items()))
    return f"{sum(others.values())} of {sum(made.values())} runs were made by other code than is packed: {said}"


def other_than_here(package: Opened) -> str | None:
    """In words, that the packed code is not this checkout's, so that it may derive other files; None where it is."""
    if code_sha256(ROOT) in _hashes(package.data):
        return None
    identity = mapping_in(package.data / "identity.json")
    code = identity.get("code")
    commit = code.get("commit") if isinstance(code, dict) else None
    known = re.fullmatch("[0-9a-f]{7,64}", str(commit))
    which = f"commit {known[0][:12]}" if known else "the packed code"
    return (
        f"they were made by other code than this checkout's: with {which} checked out, REBUILD=1 decides whether they "
        "are to be believed; nothing else is wrong"
    )


def _hashes(data: Path) -> set[str]:
    """Hashes that the packed code may go by: its own, and with a file that packages once left out."""
    own = code_files(data)
    if any(path.suffix == ".js" for path in own):
        return {code_sha256(data)}
    left_out = {path.relative_to(ROOT).as_posix(): sha256_of(path) for path in code_files(ROOT) if path.suffix == ".js"}
    return {code_sha256(data), code_sha256(data, left_out)}


def _named(data: Path) -> str:
    """Names of packed files of code that this checkout has otherwise, or has not."""
    here = {path.relative_to(ROOT).as_posix(): path for path in code_files(ROOT)}
    packed = {path.relative_to(data).as_posix(): path for path in code_files(data)}
    other = [name for name in sorted(here.keys() | packed.keys()) if _hash(here, name) != _hash(packed, name)]
    shown = ", ".join(other[:3])
    return f"{shown} and {len(other) - 3} more" if len(other) > 3 else shown or "none"


def _hash(files: dict[str, Path], name: str) -> str | None:
    return sha256_of(files[name]) if name in files else None
