"""Figures and tables that a user requests by path: a misspelt path ends the call with the valid names."""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from framewatt.base.errors import FramewattError
from framewatt.figures import names as figures
from framewatt.papers import replicated_tables
from framewatt.study.study import Study
from framewatt.tables import names as tables

if TYPE_CHECKING:
    from framewatt.profiling.collection import OwnProfiles, Profiles

_FIGURE_SUFFIXES = [f".{suffix}" for suffix in figures.SUFFIXES]
_TABLE_SUFFIXES = [f".{suffix}" for suffix in tables.SUFFIXES]


@dataclass(frozen=True)
class Kind:
    """The files of one kind that can be made in a folder of results.

    Attributes:
        word: `figure` or `table`.
        names: names of the files, without suffix.
        suffixes: each with its dot.
        others: further names, each with its suffixes.
    """

    word: str
    names: Sequence[str]
    suffixes: Sequence[str]
    others: Mapping[str, Sequence[str]] = field(default_factory=dict)


def kinds_of_study(
    study: Study, profiles: "Profiles | OwnProfiles | None", further_tables: Sequence[str] = ()
) -> dict[str, Kind]:
    """Return the figures and tables that a study has, by folder.

    Args:
        study: the study.
        profiles: its profiles; None where it has none.
        further_tables: names of tables that are made from them in addition.
    """
    graphs = {f"callgraph_{name}": [".svg"] for name in profiles.profiles} if profiles else {}
    listed = {"callgraphs": [".csv"]} if profiles else {}
    of_profiles = [*profiles.tables, *profiles.further, *further_tables] if profiles else list(further_tables)
    return {
        "figures": Kind(
            "figure",
            figures.figures_of(study, replicated_tables(study.settings["replicates"])),
            _FIGURE_SUFFIXES,
            {**graphs, **listed},
        ),
        "tables": Kind("table", [*tables.TABLES, *of_profiles], _TABLE_SUFFIXES),
    }


def kinds_of_paths(paths: Iterable[str]) -> dict[str, Kind]:
    """Return the figures and tables among some paths, by folder."""
    files = [PurePath(path) for path in paths]

    def named(folder: str) -> list[str]:
        return sorted({path.stem for path in files if path.parent.name == folder})

    return {
        "figures": Kind("figure", named("figures"), _FIGURE_SUFFIXES),
        "tables": Kind("table", named("tables"), _TABLE_SUFFIXES),
    }


def check_targets(targets: Iterable[str], kinds: Mapping[str, Mapping[str, Kind]]) -> None:
    """Make sure that requested figures and tables can be made.

    Args:
        targets: Snakemake's targets: rules, paths.
        kinds: by study, the files that its folders `figures` and `tables` can have.

    Raises:
        FramewattError: a path is misspelt; the line lists the valid names.
    """
    for target in targets:
        match PurePath(target).parts:
            case ("results", study, ("figures" | "tables") as folder, _):
                _check(PurePath(target), study, folder, kinds)


def _check(target: PurePath, study: str, folder: str, kinds: Mapping[str, Mapping[str, Kind]]) -> None:
    if study not in kinds:
        raise FramewattError(
            f"{target}: there is no study {study!r} in this call. Use {_listed(study, kinds)}, or --config "
            "study=<name>."
        )
    kind = kinds[study][folder]
    names = [*kind.names, *kind.others]
    if target.stem not in names:
        raise FramewattError(f"{target}: there is no {kind.word} {target.stem!r}. Use {_listed(target.stem, names)}.")
    suffixes = kind.others.get(target.stem, kind.suffixes)
    if target.suffix not in suffixes:
        wrong = f"the suffix {target.suffix} cannot be made" if target.suffix else "there is no suffix"
        raise FramewattError(f"{target}: {wrong}. Use {', '.join(suffixes)}.")


def _listed(wrong: str, names: Iterable[str]) -> str:
    known = list(names)
    near = difflib.get_close_matches(wrong, known, n=1)
    return ", ".join(known) + (f" (did you mean {near[0]}?)" if near else "")


def existing_targets(targets: Iterable[str], study: str, has_rule: Callable[[str], bool]) -> list[str]:
    """Return the requested paths of a study that exist and that no rule makes, since they are not due.

    Args:
        targets: Snakemake's targets: rules, paths.
        study: the study's name.
        has_rule: whether a rule makes a path.
    """
    below = [path for path in targets if path.startswith(f"results/{study}/")]
    return [path for path in below if Path(path).exists() and not has_rule(path)]
