"""Checks figures and tables that a user requests by path; a misspelt one is reported with the valid names (pure)."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from framewatt.base.errors import FramewattError


@dataclass(frozen=True)
class Kind:
    """The files that can be made in a folder of results.

    Attributes:
        word: what a single one is called.
        names: names of the files, without suffix.
        suffixes: each with its dot.
        others: prefixes of further names, which are only known once they are made.
    """

    word: str
    names: Sequence[str]
    suffixes: Sequence[str]
    others: tuple[str, ...] = ()


def check_targets(targets: Iterable[str], made: Mapping[str, Mapping[str, Kind]]) -> None:
    """Make sure that requested figures and tables can be made.

    Args:
        targets: Snakemake's targets: rules, paths.
        made: by study, the files that its folders `figures` and `tables` can have.

    Raises:
        FramewattError: a path is misspelt; the line lists the valid names.
    """
    for target in targets:
        match PurePath(target).parts:
            case ("results", study, ("figures" | "tables") as folder, _):
                _check(PurePath(target), study, folder, made)


def _check(target: PurePath, study: str, folder: str, made: Mapping[str, Mapping[str, Kind]]) -> None:
    if study not in made:
        raise FramewattError(
            f"{target}: found study {study!r}; allowed: {_listed(study, made)}, and others by --config study=<name>"
        )
    kind = made[study][folder]
    if target.stem not in kind.names and not target.stem.startswith(kind.others):
        raise FramewattError(
            f"{target}: found {kind.word} {target.stem!r}; allowed: {_listed(target.stem, kind.names)}"
        )
    if target.suffix not in kind.suffixes and not target.stem.startswith(kind.others):
        raise FramewattError(f"{target}: found {target.suffix or 'no suffix'}; allowed: {', '.join(kind.suffixes)}")


def _listed(found: str, names: Iterable[str]) -> str:
    known = list(names)
    near = difflib.get_close_matches(found, known, n=1)
    return ", ".join(known) + (f" (did you mean {near[0]}?)" if near else "")
