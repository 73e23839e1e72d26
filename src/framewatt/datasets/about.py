"""A data set's description of itself: stored with the arrays and copied into the data record."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.files import sha256_of_files


@dataclass(frozen=True)
class LeftOut:
    """A sample that was changed, or is not in the arrays.

    Attributes:
        file: its name in the source's folder.
        reason: what was wrong with it.
    """

    file: str
    reason: str


def about(
    preprocessing: str,
    *,
    read: Iterable[Path] = (),
    root: Path | None = None,
    synthetic: bool = False,
    left_out: Sequence[LeftOut] = (),
    **details: Any,
) -> dict[str, Any]:
    """The record's facts of a data set beyond its shapes.

    Args:
        preprocessing: what was done to the original values, in words.
        read: the original files that were read.
        root: the folder that their names are relative to.
        synthetic: whether the samples are random numbers, not real data.
        left_out: samples that are not in the arrays.
        **details: further JSON values, specific to this kind of data set.
    """
    files = list(read)
    return {
        "synthetic": synthetic,
        "preprocessing": preprocessing,
        "original_files": len(files),
        "original_files_sha256": sha256_of_files(files, root) if files and root else None,
        "original_files_sha256_reason": None if files else "made without files of a source",
        "left_out": [{"file": one.file, "reason": one.reason} for one in left_out],
        **details,
    }
