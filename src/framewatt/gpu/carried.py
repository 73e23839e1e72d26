"""Results that are carried from machine to machine: raw records and traces, without weights and what is derived."""

import json
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.base.files import write_atomically
from framewatt.package.rebuild import DERIVED, RULES
from framewatt.package.unpack import unpack
from framewatt.package.write import study_files
from framewatt.runs.chain import NAME as CHAIN

NAME = "gpu.zip"
"""Name of the file in a folder that is carried."""

CHARACTERISATION = "characterisation"
"""Folder of the meters' characterisation, next to the studies."""

_TOP = "carried"

_RECORDS = ("resources/environments/host/**/environment.json", "resources/data/*.json")
"""Records that reports and packages name, below the project's folder."""


def carry(results: Path, names: Iterable[str], target: Path) -> int:
    """Write everything raw of some studies, and of the meters' characterisation, into one file.

    Args:
        results: the folder of all results.
        names: of studies; those without results are left out.
        target: folder for the file.

    Returns:
        size of the file in bytes; 0 where no study has a run yet, and nothing is written.

    Raises:
        FramewattError: the file that is there holds runs that are not here, and would be lost.
    """
    names = [name for name in names if _chain(results / name)]
    if not names:
        return 0
    check_goes_on(results, target)
    files: dict[str, Path] = {}
    for name in names:
        raw = study_files(results / name).items() if (results / name).is_dir() else ()
        files |= {entry: path for entry, path in raw if Path(entry).parts[2] not in DERIVED}
    for path in sorted((results / CHARACTERISATION).glob("*")):
        if path.suffix in (".json", ".parquet"):
            files[f"results/{CHARACTERISATION}/{path.name}"] = path
    for pattern in _RECORDS:
        files |= {path.as_posix(): path for path in sorted(Path().glob(pattern))}
    target.mkdir(parents=True, exist_ok=True)

    def write(partial: Path) -> None:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            for entry, path in sorted(files.items()):
                archive.write(path, f"{_TOP}/{entry}")

    write_atomically(target / NAME, write)
    return (target / NAME).stat().st_size


def check_goes_on(results: Path, target: Path) -> None:
    """Make sure that a file of an earlier call, which the next one would replace, holds nothing that is not here.

    Raises:
        FramewattError: it does.
    """
    if not (target / NAME).is_file():
        return
    with scratch_folder() as scratch:
        for study in sorted((unpack(target / NAME, scratch / "before") / "results").iterdir()):
            before = _chain(study)
            if _chain(results / study.name)[: len(before)] != before:
                raise FramewattError(
                    f"CARRY: {target / NAME} holds runs of {study.name} that are not in {results}. Go on from them "
                    f"with DIRS={target}, or name another folder."
                )


@dataclass(frozen=True)
class Joined:
    """What joining did with a study.

    Attributes:
        study: its name.
        runs: how many runs it has now.
        source: the folder that its results come from.
    """

    study: str
    runs: int
    source: str


def join(folders: Iterable[Path], results: Path, *, environments: bool) -> list[Joined]:
    """Join what was carried away, into a results folder.

    Slices that went on from one another hold the earlier ones: of each study the one that holds all others is taken,
    and what only others have, such as weights that are here, is kept.

    Args:
        folders: each with a file that `carry` wrote.
        results: the folder of all results; results that are there already take part.
        environments: whether records of environments are taken, too, which reports name; a machine that measures has
            its own.

    Returns:
        one entry for each study that was carried, in the order of their names.

    Raises:
        FramewattError: a folder has no such file, or it is none; or two hold runs of a study that the other lacks, so
            that neither goes on from the other. Nothing is changed then.
    """
    with scratch_folder() as scratch:
        by_study: dict[str, list[tuple[str, Path]]] = {}
        records: dict[Path, Path] = {}
        for number, folder in enumerate(folders):
            path = folder / NAME
            if not path.is_file():
                raise FramewattError(f"DIRS: {folder} has no {NAME}. Name folders into which `make gpu` wrote one.")
            carried = unpack(path, scratch / str(number))
            for study in sorted((carried / "results").iterdir()):
                by_study.setdefault(study.name, []).append((str(folder), study))
            for record in (path for pattern in _RECORDS for path in sorted(carried.glob(pattern))):
                records[record.relative_to(carried)] = record
        for name, candidates in by_study.items():
            if (results / name).is_dir():
                candidates.append((str(results), results / name))
        chosen = {name: _longest(name, candidates) for name, candidates in sorted(by_study.items())}
        for name, (_, source) in chosen.items():
            if source != results / name:
                shutil.copytree(source, results / name, dirs_exist_ok=True)
            # The readings of a characterisation belong to its record, and there may be one here.
            for _, other in by_study[name] if name != CHARACTERISATION else []:
                _add_missing(other, results / name)
        for place, record in records.items():
            if environments and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(record, place)
        return [
            Joined(name, len(_chain(results / name)), source)
            for name, (source, _) in chosen.items()
            if name != CHARACTERISATION
        ]


def report_words(study: str, plan: Mapping[str, Any], *, whole: bool) -> list[str]:
    """Snakemake's command line for a study's report, of records that were carried, without measuring anything.

    Args:
        study: its name.
        plan: its plan.json.
        whole: whether all that was planned is there.
    """
    config = {
        "study": study,
        "environment": "host",
        "device": plan["device"],
        "absent": json.dumps(plan.get("absent", {})),
        "measured_only": not whole,
    }
    words = ["--snakefile", "workflow/rebuild.smk", "--cores", "1", "--rerun-triggers", "mtime", "input"]
    words += ["--config", *(f"{key}={value}" for key, value in config.items())]
    # A package has tables of operators; of GPU machines only their timelines are carried away.
    return [*words, "--allowed-rules", *RULES, "operators", "repeated", "--", f"results/{study}/report/report.html"]


def _add_missing(source: Path, target: Path) -> None:
    """Copy the files that a folder lacks, as timelines that only an earlier slice carried."""
    for path in sorted(source.rglob("*")):
        place = target / path.relative_to(source)
        if path.is_file() and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)


def _longest(name: str, candidates: list[tuple[str, Path]]) -> tuple[str, Path]:
    """Return the candidate that all others are the beginning of."""
    # Of equals the last: what is here stays as it is, and so does the characterisation of this machine's meters.
    *_, (source, path) = sorted(candidates, key=lambda one: len(_chain(one[1])))
    whole = _chain(path)
    for other, shorter in candidates:
        if _chain(shorter) != whole[: len(_chain(shorter))]:
            raise FramewattError(
                f"DIRS: {source} and {other} hold different runs of {name}: neither goes on from the other. "
                "Name one of them; or make a package of each, and join these with make merge."
            )
    return source, path


def _chain(study: Path) -> list[str]:
    """Return the runs of a study in the order in which they were measured, as the lines of their hash chain."""
    try:
        lines = (study / "measure" / CHAIN).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    known = []
    for line in lines:
        try:
            known.append(json.dumps(json.loads(line), sort_keys=True))
        except ValueError:
            break  # the last line of a call that was killed
    return known
