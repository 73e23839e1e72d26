"""Damages packages by chance, the same for the same seed: bytes of files, and values inside JSON, YAML and parquet."""

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from framewatt.base.files import sha256_of
from framewatt.package.bag import MANIFEST, TAG_MANIFEST

_INFO = "bag-info.txt"
_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1.5, 1e300, 2**63, 10**30, "", "x", "../../x", "\x1b[2J", "NaN", [], {}, [[]], {"a": None}),
    *("/etc/hostname", "2026-13-45", [1, "a", None], {"": 0}, "é" * 1000),
)


def damage(folder: Path, seed: int) -> str:
    """Damage a file of an unpacked package, and mend the manifests, as a forger would.

    Returns:
        what was done, for messages.
    """
    chance = random.Random(seed)  # noqa: S311  # a choice, not a secret
    files = sorted(path for path in (folder / "data").rglob("*") if path.is_file() and path.stat().st_size)
    inside = [path for path in files if path.suffix in _INSIDE and "src" not in path.parts]
    path = chance.choice(inside)
    kind = chance.choice((_bytes, _INSIDE[path.suffix], _INSIDE[path.suffix]))
    kind(path, chance)
    if chance.random() < 0.95:
        mend_manifests(folder)
    return f"seed {seed}: {kind.__name__} of {path.relative_to(folder)}"


def mend_manifests(folder: Path) -> None:
    """Make the count and the manifests fit what lies there."""
    sizes = [path.stat().st_size for path in (folder / "data").rglob("*") if path.is_file()]
    info = (folder / _INFO).read_text()
    (folder / _INFO).write_text(re.sub(r"Payload-Oxum: .*", f"Payload-Oxum: {sum(sizes)}.{len(sizes)}", info))
    for manifest in (MANIFEST, TAG_MANIFEST):
        names = [line.partition("  ")[2] for line in (folder / manifest).read_text().splitlines()]
        lines = (f"{sha256_of(folder / name)}  {name}\n" for name in names if (folder / name).is_file())
        (folder / manifest).write_text("".join(lines))


def copy_of(folder: Path, place: Path) -> Path:
    """A fresh copy of an unpacked package."""
    if place.exists():
        shutil.rmtree(place)
    return Path(shutil.copytree(folder, place / folder.name))


def _bytes(path: Path, chance: random.Random) -> None:
    """Some bytes exchanged, taken out or put in, or the end cut off."""
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 3, 30))):
        at = chance.randrange(len(content) or 1)
        how = chance.randrange(4)
        if how == 0:
            content[at : at + 1] = chance.randbytes(1)
        elif how == 1:
            del content[at : at + chance.randrange(1, 9)]
        elif how == 2:
            content[at:at] = chance.randbytes(chance.randrange(1, 9))
        else:
            del content[max(at, 1) :]
    path.write_bytes(content)


def _json(path: Path, chance: random.Random) -> None:
    """Values exchanged for others of any kind, keys taken out or added."""
    content = [json.loads(path.read_text())]
    for _ in range(chance.choice((1, 1, 2, 5))):
        _change(content, chance)
    path.write_text(json.dumps(content[0]))


def _yaml(path: Path, chance: random.Random) -> None:
    """The same in YAML."""
    content = [yaml.safe_load(path.read_text())]
    for _ in range(chance.choice((1, 1, 2, 5))):
        _change(content, chance)
    path.write_text(yaml.safe_dump(content[0]))


def _lines(path: Path, chance: random.Random) -> None:
    """A line of JSON changed, exchanged, doubled or taken out."""
    lines = path.read_text().splitlines()
    at = chance.randrange(len(lines))
    content = [json.loads(lines[at])]
    _change(content, chance)
    lines[at : at + 1] = chance.choice(([], [lines[at]] * 2, [json.dumps(content[0])], ["{"], ["\udcff".join("ab")]))
    path.write_text("\n".join(lines) + "\n", errors="replace")


def _parquet(path: Path, chance: random.Random) -> None:
    """A column taken out, doubled under another name, of another type, of nothing, reversed; or other metadata."""
    table = pq.read_table(path)
    name = chance.choice(table.column_names)
    at = table.column_names.index(name)
    column = table[name]
    nothing = pa.nulls(table.num_rows, column.type)
    changes: tuple[Callable[[], pa.Table], ...] = (
        lambda: table.remove_column(at),
        lambda: table.append_column(chance.choice(("x", name)), column),
        lambda: table.set_column(at, name, nothing),
        lambda: table.set_column(at, name, pa.array([str(value) for value in column.to_pylist()])),
        lambda: table.set_column(at, name, pa.array([[1.0]] * table.num_rows)),
        lambda: table.slice(chance.randrange(table.num_rows + 1)),
        lambda: table.take(list(range(table.num_rows - 1, -1, -1))),
        lambda: table.replace_schema_metadata({"framewatt.channels": json.dumps(chance.choice(_VALUES))}),
        lambda: table.replace_schema_metadata({"framewatt.channels": _channels(table, chance)}),
    )
    pq.write_table(chance.choice(changes)(), path)


def _channels(table: pa.Table, chance: random.Random) -> str:
    content = [json.loads((table.schema.metadata or {}).get(b"framewatt.channels", b"[{}]"))]
    _change(content, chance)
    return json.dumps(content[0])


def _change(content: Any, chance: random.Random) -> None:
    """Exchange one value somewhere inside."""
    while True:
        keys = list(content) if isinstance(content, dict) else list(range(len(content)))
        if not keys:
            return
        key = chance.choice(keys)
        inside = content[key]
        if isinstance(inside, dict | list) and inside and chance.random() < 0.9:
            content = inside
            continue
        if isinstance(content, dict) and chance.random() < 0.3:
            del content[key]
        else:
            content[key] = chance.choice(_VALUES)
        return


_INSIDE: dict[str, Callable[[Path, random.Random], None]] = {
    ".json": _json,
    ".yaml": _yaml,
    ".jsonl": _lines,
    ".parquet": _parquet,
    ".csv": _bytes,
    ".cff": _bytes,
}
