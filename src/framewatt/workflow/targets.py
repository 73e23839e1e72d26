"""Checks figures and tables that a user requests by path; a misspelt one is reported with the valid names."""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from framewatt.base.errors import FramewattError
from framewatt.figures import names as figures
from framewatt.study.study import Study
from framewatt.tables import names as tables

if TYPE_CHECKING:
    from framewatt.profiling.planned import OwnProfiles, Profiles

_FIGURE_SUFFIXES = [f".{suffix}" for suffix in figures.SUFFIXES]
_TABLE_SUFFIXES = [f".{suffix}" for suffix in tables.SUFFIXES]


@dataclass(frozen=True)
class Kind:
    """The files that can be made in a folder of results.

    Attributes:
        word: what a single one is called.
        names: names of the files, without suffix.
        suffixes: each with its dot.
        others: further names, each with its own suffixes.
    """

    word: str
    names: Sequence[str]
    suffixes: Sequence[str]
    others: Mapping[str, Sequence[str]] = field(default_factory=dict)


def of_study(
    study: Study, profiles: "Profiles | OwnProfiles | None", further_tables: Sequence[str] = ()
) -> dict[str, Kind]:
    """The figures and tables that a study has.

    Args:
        study: the study.
        profiles: its profiles; None where it has none.
        further_tables: what else is made of them.
    """
    graphs = {f"callgraph_{name}": [".svg"] for name in profiles.profiles} if profiles else {}
    listed = {"callgraphs": [".csv"]} if profiles else {}
    of_profiles = [*profiles.tables, *profiles.further, *further_tables] if profiles else list(further_tables)
    return {
        "figures": Kind("figure", figures.figures_of(study), _FIGURE_SUFFIXES, {**graphs, **listed}),
        "tables": Kind("table", [*tables.TABLES, *of_profiles], _TABLE_SUFFIXES),
    }


def of_paths(paths: Iterable[str]) -> dict[str, Kind]:
    """The figures and tables among some paths, by the folder in which they are."""
    found = [PurePath(path) for path in paths]

    def named(folder: str) -> list[str]:
        return sorted({path.stem for path in found if path.parent.name == folder})

    return {
        "figures": Kind("figure", named("figures"), _FIGURE_SUFFIXES),
        "tables": Kind("table", named("tables"), _TABLE_SUFFIXES),
    }


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
    names = [*kind.names, *kind.others]
    if target.stem not in names:
        raise FramewattError(f"{target}: found {kind.word} {target.stem!r}; allowed: {_listed(target.stem, names)}")
    suffixes = kind.others.get(target.stem, kind.suffixes)
    if target.suffix not in suffixes:
        raise FramewattError(f"{target}: found {target.suffix or 'no suffix'}; allowed: {', '.join(suffixes)}")


def _listed(found: str, names: Iterable[str]) -> str:
    known = list(names)
    near = difflib.get_close_matches(found, known, n=1)
    return ", ".join(known) + (f" (did you mean {near[0]}?)" if near else "")


def there_already(targets: Iterable[str], study: str, is_made: Callable[[str], bool]) -> list[str]:
    """Requested paths of a study that exist and that no rule makes, since they are not due.

    Args:
        targets: Snakemake's targets: rules, paths.
        study: the study's name.
        is_made: whether a rule makes a path.
    """
    below = [path for path in targets if path.startswith(f"results/{study}/")]
    return [path for path in below if Path(path).exists() and not is_made(path)]
