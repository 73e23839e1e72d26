"""Every file of a package is one that packing a study takes in; what has no reader here proves nothing."""

import re
from collections.abc import Iterator

from framewatt.imports.file_study import FileStudy
from framewatt.imports.merged_study import MergedStudy
from framewatt.package.contents import project_files
from framewatt.package.crate import METADATA
from framewatt.package.verification.compare import some
from framewatt.package.verification.opened import Opened
from framewatt.package.verification.stages import records_of_stages
from framewatt.planning import jobs
from framewatt.planning.job_hashes import JobHashes
from framewatt.prepare.examples_file import NAME as EXAMPLES
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.runs.repeated import RECORD as REPEATED_RECORD
from framewatt.runs.timelines import RECORD as TIMELINE_RECORD
from framewatt.study.study import Study

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


def problems(package: Opened) -> Iterator[str]:
    """Files that packing this study does not take in (contents.py)."""
    study, data = package.study, package.data
    allowed = {*_ONCE, *project_files(data, data, package.name, jobs.environments_of(study))}
    environments = set(jobs.environments_of(study))
    if isinstance(study, Study):
        arrays = {
            package.datasets.arrays_of(cell.dataset, cell.framework, cell.workload) for cell in study.measured_cells
        }
        allowed |= {f"resources/data/{name}.json" for name in arrays} | {
            f"own-models/{name}.json" for name in study.own
        }
    elif isinstance(study, FileStudy) and study.settings["files"]["archive"] == "files":
        runs = [*study.found, *(one.run for one in study.left_out)]
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
