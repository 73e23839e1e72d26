"""Check files of official weights by their full SHA-256, or by the one that they had at their first use here."""

from collections.abc import Mapping
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, sha256_of, write_json

KNOWN = {
    "mobilenet_v2-b0353104.pth": "b03531047ffacf1e2488318dcd2aba1126cde36e3bfe1aa5cb07700aeeee9889",
    "resnet50-0676ba61.pth": "0676ba61b6795bbe1773cffd859882e5e297624d384b6993f7c9e683e722fb8a",
    "resnet101-63fe2227.pth": "63fe2227b86e8f1f2063f43a75c84d195911b6a0eace650907dd3dc62dd49a0a",
    "resnet152-394f9c45.pth": "394f9c45966e3651a89bbb78a48410a6755854ce4a5ab64927cf1c7247f85e58",
}
"""torchvision publishes only eight digits. The full hashes start with these and are taken from public projects that use
the files; two to nine projects agree on each. They were not computed from a file here."""

LEARNT = "sha256-at-first-use.json"
"""File next to the weights with the hashes recorded at their first use."""

PUBLISHED, FIRST, AGAIN = "known", "learnt now", "as learnt"


def trusted(path: Path, prefix: str, known: Mapping[str, str] = KNOWN) -> dict[str, str]:
    """Check a file of official weights by its SHA-256; a hash that is not known yet is recorded and printed.

    Args:
        path: the file.
        prefix: first digits of its SHA-256, as its zoo publishes them.
        known: full hashes, by the file's name.

    Returns:
        `file`, `sha256`, and `sha256_is`: known, learnt now, or as learnt.

    Raises:
        FramewattError: the file has another SHA-256.
    """
    sha256 = sha256_of(path)
    record = path.with_name(LEARNT)
    recorded: dict[str, str] = read_json(record) if record.exists() else {}
    expected, kind = known.get(path.name), PUBLISHED
    if expected is None:
        expected, kind = recorded.get(path.name), AGAIN
    if not sha256.startswith(prefix) or (expected and sha256 != expected):
        source = f" as {record} recorded at its first use" if kind == AGAIN and expected else ""
        raise FramewattError(
            f"{path}: its SHA-256 is {sha256}, and should be {expected or f'{prefix}...'}{source}. Delete the file, so "
            "that it is downloaded again."
        )
    if not expected:
        kind = FIRST
        write_json(record, {**recorded, path.name: sha256})
        print(
            f"{path.name}: recorded its SHA-256 {sha256}. Compare it with another source: from now on, a file with "
            "another hash is refused.",
            flush=True,
        )
    return {"file": path.name, "sha256": sha256, "sha256_is": kind}
