"""Checks files of official weights by their full SHA-256, or by the one that they had when first used here."""

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
"""torchvision publishes only eight digits. The full hashes begin with these and are taken from public projects that use
the files; two to nine projects agree on each. They were not computed from a file here."""

LEARNT = "sha256-at-first-use.json"
"""File beside the weights with the hashes learnt at first use."""

PUBLISHED, FIRST, AGAIN = "known", "learnt now", "as learnt"


def trusted(path: Path, prefix: str, known: Mapping[str, str] = KNOWN) -> dict[str, str]:
    """Check a file of official weights by its SHA-256; a hash that is not known yet is learnt, and said so.

    Args:
        path: the file.
        prefix: first digits of its SHA-256, as its zoo publishes them.
        known: full hashes, by the file's name.

    Returns:
        `file`, `sha256`, and `sha256_is`: known, learnt now, or as learnt.

    Raises:
        FramewattError: it is another file.
    """
    found = sha256_of(path)
    learnt_path = path.with_name(LEARNT)
    learnt: dict[str, str] = read_json(learnt_path) if learnt_path.exists() else {}
    whole = known.get(path.name)
    kind = PUBLISHED if whole else AGAIN
    whole = whole or learnt.get(path.name)
    if not found.startswith(prefix) or (whole and found != whole):
        raise FramewattError(
            f"{path}: found SHA-256 {found}; allowed: {whole or f'{prefix}...'}"
            f"{f', as {LEARNT} beside it has learnt' if kind == AGAIN and whole else ''}; delete the file, or mend it"
        )
    if not whole:
        kind = FIRST
        write_json(learnt_path, {**learnt, path.name: found})
        print(
            f"{path.name}: learnt its SHA-256 {found}; compare it with another source; others are refused", flush=True
        )
    return {"file": path.name, "sha256": found, "sha256_is": kind}
