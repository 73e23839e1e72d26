"""Check the files of a package: manifests, hashes, missing and additional files, and duplicate keys in JSON."""

import re
from collections.abc import Iterator
from pathlib import Path

from framewatt.base.files import parse_json, sha256_of
from framewatt.package.bag import DECLARATION, INFO, LABELS, MANIFEST, TAG_MANIFEST
from framewatt.package.crate import METADATA
from framewatt.package.verification.opened import Opened
from framewatt.package.verification.plan import records_of_stages
from framewatt.package.verification.reading import some
from framewatt.package.write import project_files
from framewatt.planning import jobs
from framewatt.planning.job_hashes import JobHashes
from framewatt.prepare.examples import NAME as EXAMPLES
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.runs.predictions import NAME as PREDICTIONS
from framewatt.runs.repeated import RECORD as REPEATED_RECORD
from framewatt.runs.timelines import RECORD as TIMELINE_RECORD
from framewatt.study.study import FileStudy, MeasuredStudy, MergedStudy

_TAGS = ("bagit.txt", INFO, MANIFEST)
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


def manifest_problems(folder: Path) -> Iterator[str]:
    """Yield what does not fit the manifests, or the bag's own count.

    Args:
        folder: where the bag was unpacked to. No file outside it is read.
    """
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if _text(folder / "bagit.txt") != DECLARATION:
        yield "bagit.txt: not what a BagIt 1.0 bag has"
    payload = {name for name in there if name.startswith("data/")}
    tags = there - payload - {TAG_MANIFEST}
    yield from _manifest_mismatches(folder, MANIFEST, payload)
    yield from _manifest_mismatches(folder, TAG_MANIFEST, tags)
    yield from (f"{name}: a bag has it, and it is not there" for name in _TAGS if name not in tags)
    yield from (f"{name}: no file of a bag" for name in sorted(tags - set(_TAGS)))
    yield from _info_problems(folder, payload)


def _manifest_mismatches(folder: Path, manifest: str, there: set[str]) -> Iterator[str]:
    """Yield how a manifest and the files that it covers differ."""
    text = _text(folder / manifest)
    if text is None:
        yield f"{manifest}: not there"
        return
    named: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if not match:
            yield f"{manifest}: line {number} is no hash and name"
        elif match[2] in named:
            yield f"{match[2]}: {manifest} names it twice"
        else:
            named[match[2]] = match[1]
    for name, digest in named.items():
        # Only files that were listed in the folder are opened, whatever a line names.
        if name not in there:
            yield f"{name}: {manifest} names it, and it is not there"
        elif sha256_of(folder / name) != digest:
            yield f"{name}: changed since {manifest} was written"
    yield from (f"{name}: {manifest} does not name it" for name in sorted(there - set(named)))


def _info_problems(folder: Path, payload: set[str]) -> Iterator[str]:
    """Yield what is wrong in bag-info.txt: its labels, the count of bytes and files, and the name of the package."""
    info = labels(folder)
    if _text(folder / INFO) != "".join(f"{label}: {info.get(label)}\n" for label in LABELS):
        labels_there = ", ".join(info)[:200] or "nothing"
        yield f"{INFO}: it has {labels_there}. A package has one line each of {', '.join(LABELS)}."
    size = sum((folder / name).stat().st_size for name in payload)
    wanted = {"Payload-Oxum": f"{size}.{len(payload)}", "External-Identifier": folder.name}
    for label, value in wanted.items():
        if info.get(label) != value:
            yield f"{INFO}: {label}: it states {info.get(label) or 'nothing'}, the bag has {value}"


def labels(folder: Path) -> dict[str, str]:
    """Return the texts of bag-info.txt by label; both texts of a label that comes twice."""
    texts: dict[str, str] = {}
    for line in (_text(folder / INFO) or "").splitlines():
        label, _, text = line.partition(": ")
        texts[label] = f"{texts[label]}, {text}" if label in texts else text
    return texts


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


_LOGS = "logs/"
"""Folder of files from other tools, which stay as they are; only their readers check them."""


def json_problems(package: Opened) -> Iterator[str]:
    """Yield the JSON files that are not JSON or have a key twice, also those that no other check reads."""
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


_FILES = ("run.json", "power.parquet", "events.parquet")


def presence_problems(package: Opened) -> Iterator[str]:
    """Yield the runs that are missing or not planned, and their missing or additional files."""
    for run in package.runs:
        where = run.path.relative_to(package.data).as_posix()
        if run.problem:
            yield f"{where}: {run.problem}"
        else:
            yield from (f"{where}: has no {name}" for name in _FILES if not (run.path / name).is_file())
    planned = {run.path for run in package.runs}
    answered = {run.path for run, record in package.records if "predictions" in record}
    folders = {path.parent for path in package.results.glob("measure/*/**/*") if path.is_file()}
    for folder in sorted(folders - planned):
        yield f"{folder.relative_to(package.data).as_posix()}: files of a run that is not planned"
    for folder in sorted(folders & planned):
        allowed = {*_FILES, *([PREDICTIONS] if folder in answered else [])}
        strange = sorted(path.name for path in folder.iterdir() if path.name not in allowed)
        yield from (f"{(folder / name).relative_to(package.data).as_posix()}: no file of a run" for name in strange)


_ONCE = (METADATA, "CITATION.cff", ".zenodo.json", "identity.json", "changes.diff")

_RESULTS = re.compile(
    r"plan/(plan|repetitions)\.json|stopping/stopping\.(json|csv)|calibrate/([a-z][a-z0-9]*/)?(idle|idle_after|idle_[0-9a-f]+|instruments)\.json|measure/.+"
    r"|aggregate/(runs|epochs|functions)\.(csv|parquet)|profile/(profiles\.csv|(functions|calls)\.parquet)"
    r"|operators/(joules|timelines|repeated)\.csv"
    r"|(statistics|tables|figures|replication|authors)/([^/]+/)?[^/]+\.(csv|md|tex|svg|pdf|png)"
    r"|report/(report\.html|complete\.txt)"
)
"""Names of a study's result files. `presence_problems` checks those below measure; a rebuild, the derived ones."""

_STAGES = re.compile(
    r"train/[^/]+/(train|examples)\.json|export/.+/(onnx/export|check/check)\.json|parity/[^/]+/sheet/parity\.json|profiled/[^/]+/profile\.json"
    r"|timelines/[^/]+/(timeline\.json|spans\.parquet|power\.parquet)|repeated/[^/]+/(repeated\.json|power\.parquet)"
)


def further_file_problems(package: Opened) -> Iterator[str]:
    """Yield the files that a package of this study does not have (package.write)."""
    study, data = package.study, package.data
    allowed = {*_ONCE, *project_files(data, data, package.name, jobs.environments_of(study))}
    environments = set(jobs.environments_of(study))
    if isinstance(study, MeasuredStudy):
        arrays = {
            package.datasets.arrays_of(cell.dataset, cell.framework, cell.workload) for cell in study.measured_cells
        }
        allowed |= {f"resources/data/{name}.json" for name in arrays} | {
            f"own-models/{name}.json" for name in study.own
        }
    elif isinstance(study, FileStudy) and study.settings["files"]["archive"] == "files":
        runs = [*study.available, *(one.run for one in study.left_out)]
        allowed |= {f"logs/{study.name}/{file.path}" for run in runs for file in run.files}
    names = (path.relative_to(data).as_posix() for path in sorted(data.rglob("*")) if path.is_file())
    yield from some(
        f"{name}: no file of a package of this study"
        for name in names
        if name not in allowed
        and not _is_of_machine(package, name)
        and not _is_of_environment(name, environments)
        and not _is_of_results(package, name)
    )


def _is_of_machine(package: Opened, name: str) -> bool:
    """Return whether a file is in the package of a machine, which is checked as a package itself."""
    study = package.study
    place = package.data / name
    return isinstance(study, MergedStudy) and any(place.is_relative_to(source.folder) for source in study.sources)


def _is_of_environment(name: str, environments: set[str]) -> bool:
    match = re.fullmatch(r"resources/environments/[a-z]+/(.+)/environment\.json", name)
    return bool(match and match[1] in environments)


def _is_of_results(package: Opened, name: str) -> bool:
    """Return whether a file is a result of the study; weights, exports and comparisons have to be of its models."""
    below = f"results/{package.name}/"
    inside = name.removeprefix(below)
    if not name.startswith(below):
        return False
    if _STAGES.fullmatch(inside) and isinstance(package.planned, JobHashes):
        # Older packages included files that an earlier form of their study had left.
        record = inside.replace(f"/{EXAMPLES}", f"/{TRAIN_RECORD}")
        for folder, name_of_record in (("timelines", TIMELINE_RECORD), ("repeated", REPEATED_RECORD)):
            if record.startswith(f"{folder}/"):
                record = f"{record.rpartition('/')[0]}/{name_of_record}"
        return "sources" not in package.stored_plan or record in records_of_stages(package.planned)
    return bool(_RESULTS.fullmatch(inside))
