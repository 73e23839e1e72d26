"""JSON that reads one way: whatever reads a file, a person included, finds the same in it."""

from collections.abc import Iterator

from framewatt.base.files import parse_json
from framewatt.package.verification.opened import Opened

_LOGS = "logs/"
"""What other tools wrote is as they wrote it; only its readers judge it."""


def problems(package: Opened) -> Iterator[str]:
    """JSON files, of those that no other check reads too, that are none or have a key twice."""
    for path in sorted(package.data.rglob("*")):
        name = path.relative_to(package.data).as_posix()
        if not path.is_file() or path.suffix not in (".json", ".jsonl") or name.startswith(_LOGS):
            continue
        try:
            text = path.read_text(encoding="utf-8")
            for part in text.splitlines() if path.suffix == ".jsonl" else [text]:
                parse_json(part)
        except ValueError as error:
            yield f"{name}: not JSON: {error}"
