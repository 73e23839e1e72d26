"""Figures and tables that a user asks for by their paths: what is misspelt is told with what there is (pure)."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from framewatt.base.errors import FramewattError


@dataclass(frozen=True)
class Kind:
    """What can be made in a folder of results.

    Attributes:
        word: what one of them is called.
        names: of the files, without what follows the dot.
        suffixes: each with its dot.
        others: beginnings of further names, which are not known before they are made.
    """

    word: str
    names: Sequence[str]
    suffixes: Sequence[str]
    others: tuple[str, ...] = ()


def check_targets(targets: Iterable[str], made: Mapping[str, Mapping[str, Kind]]) -> None:
    """Make sure that figures and tables that are asked for can be made.

    Args:
        targets: what Snakemake was asked for: rules, paths.
        made: by study, what its folders `figures` and `tables` can have.

    Raises:
        FramewattError: a path is misspelt; it is told with the names that there are.
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
