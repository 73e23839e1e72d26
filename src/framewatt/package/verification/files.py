"""The files of a package: all are named by a manifest, are whole, are planned, and read one way."""

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
    """What does not fit the manifests, or the bag's own count.

    Args:
        folder: where the bag was unpacked to. No file is read that does not lie in it.
    """
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if _text(folder / "bagit.txt") != DECLARATION:
        yield "bagit.txt: not what a BagIt 1.0 bag has"
    payload = {name for name in there if name.startswith("data/")}
    tags = there - payload - {TAG_MANIFEST}
    yield from _against(folder, MANIFEST, payload)
    yield from _against(folder, TAG_MANIFEST, tags)
    yield from (f"{name}: a bag has it, and it is not there" for name in _TAGS if name not in tags)
    yield from (f"{name}: no file of a bag" for name in sorted(tags - set(_TAGS)))
    yield from _of_itself(folder, payload)


def _against(folder: Path, manifest: str, there: set[str]) -> Iterator[str]:
    """What a manifest says of the files that it is about."""
    text = _text(folder / manifest)
    if text is None:
        yield f"{manifest}: not there"
        return
    named: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        found = _LINE.fullmatch(line)
        if not found:
            yield f"{manifest}: line {number} is no hash and name"
        elif found[2] in named:
            yield f"{found[2]}: {manifest} names it twice"
        else:
            named[found[2]] = found[1]
    for name, digest in named.items():
        # Whatever a line names, what is opened is what was found in the folder.
        if name not in there:
            yield f"{name}: {manifest} names it, and it is not there"
        elif sha256_of(folder / name) != digest:
            yield f"{name}: changed since {manifest} was written"
    yield from (f"{name}: {manifest} does not name it" for name in sorted(there - set(named)))


def _of_itself(folder: Path, payload: set[str]) -> Iterator[str]:
    """What bag-info.txt says: how many bytes in how many files, and which package this is."""
    info = labels(folder)
    if _text(folder / INFO) != "".join(f"{label}: {info.get(label)}\n" for label in LABELS):
        labels_there = ", ".join(info)[:200] or "nothing"
        yield f"{INFO}: it has {labels_there}. A package has one line each of {', '.join(LABELS)}."
    size = sum((folder / name).stat().st_size for name in payload)
    wanted = {"Payload-Oxum": f"{size}.{len(payload)}", "External-Identifier": folder.name}
    for label, found in wanted.items():
        if info.get(label) != found:
            yield f"{INFO}: {label}: it states {info.get(label) or 'nothing'}, the bag has {found}"


def labels(folder: Path) -> dict[str, str]:
    """What bag-info.txt says, by label; of a label that comes twice, both."""
    found: dict[str, str] = {}
    for line in (_text(folder / INFO) or "").splitlines():
        label, _, text = line.partition(": ")
        found[label] = f"{found[label]}, {text}" if label in found else text
    return found


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


_LOGS = "logs/"
"""What other tools wrote is as they wrote it; only its readers judge it."""


def json_problems(package: Opened) -> Iterator[str]:
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


_FILES = ("run.json", "power.parquet", "events.parquet")


def presence_problems(package: Opened) -> Iterator[str]:
    """Runs that are missing, of which a file is missing, that nobody planned, or that are another one's copy."""
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
"""Files of a study's results, below measure as `presence` holds them; if derived ones are right, a rebuild tells."""

_STAGES = re.compile(
    r"train/[^/]+/(train|examples)\.json|export/.+/(onnx/export|check/check)\.json|parity/[^/]+/sheet/parity\.json|profiled/[^/]+/profile\.json"
    r"|timelines/[^/]+/(timeline\.json|spans\.parquet|power\.parquet)|repeated/[^/]+/(repeated\.json|power\.parquet)"
)


def further_file_problems(package: Opened) -> Iterator[str]:
    """Files that packing this study does not take in (contents.py)."""
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
        and not _of_machine(package, name)
        and not _of_environment(name, environments)
        and not _of_results(package, name)
    )


def _of_machine(package: Opened, name: str) -> bool:
    """Whether a file is one of a machine's package, which is held to be one itself."""
    study = package.study
    place = package.data / name
    return isinstance(study, MergedStudy) and any(place.is_relative_to(source.folder) for source in study.sources)


def _of_environment(name: str, environments: set[str]) -> bool:
    found = re.fullmatch(r"resources/environments/[a-z]+/(.+)/environment\.json", name)
    return bool(found and found[1] in environments)


def _of_results(package: Opened, name: str) -> bool:
    """Whether a file is one of the study's results; weights, exports and comparisons only of models that it has."""
    below = f"results/{package.name}/"
    inside = name.removeprefix(below)
    if not name.startswith(below):
        return False
    if _STAGES.fullmatch(inside) and isinstance(package.planned, JobHashes):
        # Packages from before took in what an earlier form of their study had left.
        record = inside.replace(f"/{EXAMPLES}", f"/{TRAIN_RECORD}")
        for folder, kept in (("timelines", TIMELINE_RECORD), ("repeated", REPEATED_RECORD)):
            if record.startswith(f"{folder}/"):
                record = f"{record.rpartition('/')[0]}/{kept}"
        return "sources" not in package.told_plan or record in records_of_stages(package.planned)
    return bool(_RESULTS.fullmatch(inside))
