"""Join packages of one study from several machines into one results tree, in which the machine is a factor."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from framewatt import __version__
from framewatt.base.errors import FramewattError
from framewatt.base.files import partial_suffix, write_text
from framewatt.base.validation import load_yaml
from framewatt.imports.merged_study import FOLDER, bag_sha256, difference_of, machines_in, source_in
from framewatt.package.confined import Limits, check
from framewatt.runs.records import read_run
from framewatt.study.study import PACKAGES, Source

STUDIES = Path("merged")
"""Folder of the study files of merged studies, which git ignores."""

_HEAD = """\
# Written by `make merge`. Title, description, archive and accept_unavailable may be changed; all else is that of the
# packages: docs/machines.md.
"""


def merge(archives: Sequence[Path], name: str, scratch: Path, limits: Limits) -> Path:
    """Verify packages and lay them out as a merged study.

    Args:
        archives: the packages, of one machine each.
        name: of the merged study; empty is that of the packages with `-merged`.
        scratch: an empty folder, which the caller removes.
        limits: of checking a package.

    Returns:
        the study file, from which Snakemake makes the rest.

    Raises:
        FramewattError: a package does not verify, is of another study or of a machine that another one is of, or the
            study's results are there and others. Nothing is written then.
    """
    sources: dict[str, Source] = {}
    archive_of: dict[str, Path] = {}
    for number, archive in enumerate(archives):
        source = verified_source(archive, scratch / str(number), limits)
        if source.machine in sources:
            raise FramewattError(
                f"{archive} and {archive_of[source.machine]} have runs of the machine {source.machine}. Name each "
                "machine once (machines of like hardware are not distinguishable)."
            )
        if sources and (difference := difference_of(next(iter(sources.values())).plan, source.plan)):
            raise FramewattError(f"{archive}: {difference}")
        sources[source.machine], archive_of[source.machine] = source, archive
    if len(sources) < 2:
        raise FramewattError(f"ARCHIVES names {len(sources)} package. Name two or more, of one machine each.")
    return _lay_out(dict(sorted(sources.items())), name)


def verified_source(archive: Path, scratch: Path, limits: Limits) -> Source:
    """Unpack and verify the package of one machine.

    Raises:
        FramewattError: it does not verify, or is of no or of several machines, or of another framewatt.
    """
    folder = verified_folder(archive, scratch, limits)
    try:
        source = source_in(folder, "")
    except FramewattError as error:
        raise FramewattError(f"{archive}: {error}") from error
    paths = sorted(source.results.glob("measure/*/*/run.json"))
    machines = machines_in(map(read_run, paths))
    if len(machines) != 1 or machines == ["None"]:
        raise FramewattError(f"{archive} has runs of {len(machines)} machines. Use a package of one known machine.")
    versions = sorted({str(record["framewatt_version"]) for record in map(read_run, paths)})
    if versions != [__version__]:
        raise FramewattError(
            f"{archive} has runs of framewatt {', '.join(versions)}. Merge it with that version: this is {__version__}."
        )
    return Source(machines[0], source.folder, source.plan, source.blocks)


def verified_folder(archive: Path, scratch: Path, limits: Limits) -> Path:
    """Unpack and verify a package, and return its folder.

    Raises:
        FramewattError: it has problems.
    """
    scratch.mkdir(parents=True)
    problems = check(archive, scratch, limits, rebuild=False)["problems"]
    if problems:
        raise FramewattError(
            f"{archive}: {problems[0]} ({problems[-1]}). Use a package in which make verify finds nothing wrong."
        )
    (folder,) = (scratch / "verified").iterdir()
    return folder


def _lay_out(sources: Mapping[str, Source], name: str) -> Path:
    """Write the study file and put the packages in their places; the tree appears as a whole."""
    first = next(iter(sources.values()))
    study = study_of_packages(sources, name or f"{first.plan['study']}-merged")
    results, path = Path("results", str(study["study"])), STUDIES / f"{study['study']}.yaml"
    there = sorted(entry.name for entry in results.iterdir()) if results.is_dir() else []
    if there:
        packages = load_yaml(path).get(PACKAGES) if path.is_file() else None
        if packages != study[PACKAGES]:
            raise FramewattError(
                f"{results} has results of other packages, or of another study. Give the merged study another name "
                f"(STUDY=…), or remove {results}."
            )
        return path
    partial = results.with_name(f".{results.name}{partial_suffix()}")
    try:
        for machine, source in sources.items():
            _copied(source.folder, partial / FOLDER / machine / source.folder.name)
        _synced(partial)
        # A study file without results is made again by the same command; results without one are somebody else's.
        write_text(path, _HEAD + yaml.safe_dump(study, sort_keys=False, allow_unicode=True, width=120))
        partial.replace(results)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return path


def _copied(folder: Path, target: Path) -> None:
    """Copy a folder; on a full disk the first error ends it, where shutil.copytree goes on and names every file."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            there = target / path.relative_to(folder)
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, there)


def study_of_packages(sources: Mapping[str, Source], name: str) -> dict[str, Any]:
    """Return a merged study in the form of a study file.

    Args:
        sources: by machine.
        name: of the study.
    """
    settings = next(iter(sources.values())).plan["settings"]
    return {
        "study": name,
        "title": f"{settings['title']}, on {len(sources)} machines",
        "description": settings["description"],
        "source": PACKAGES,
        PACKAGES: {machine: bag_sha256(source.folder) for machine, source in sources.items()},
        "archive": settings["archive"],
        "accept_unavailable": settings.get("accept_unavailable", False),
    }


def _synced(folder: Path) -> None:
    """Wait until every file of a folder is on the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
