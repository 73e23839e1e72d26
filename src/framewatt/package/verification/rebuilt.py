"""What is derived, made again from raw traces and records: statistics, tables, figures, report."""

from collections.abc import Iterator
from pathlib import Path

from framewatt.package.rebuild import DERIVED, rebuild


def problems(archive: Path, results: str, target: Path, root: Path) -> Iterator[str]:
    """Where derived files are not what records and traces give, and where the package has not all of them.

    Args:
        archive: the package, which verification found nothing wrong with.
        results: name of its study's results, below its content.
        target: an empty folder to work in.
        root: the checkout whose code rebuilds.

    Raises:
        FramewattError: it cannot be rebuilt.
    """
    yield from rebuild(archive, target, root)
    (packed,) = (target / "package").glob(f"*/data/{results}")
    made = target / "rebuilt" / results
    for folder in DERIVED:
        for path in sorted((made / folder).rglob("*")):
            inside = path.relative_to(made)
            if path.is_file() and not _hidden(inside) and not (packed / inside).is_file():
                yield f"{results}/{inside.as_posix()}: records and traces give it, and the package has it not"


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
