"""What was made before the runs, idle power included, was made for this study: each by the hash of its job."""

from collections.abc import Iterator
from pathlib import Path

from framewatt.environments.framework import LOCK, lock_sha256
from framewatt.package.verification.compare import differences, some
from framewatt.package.verification.opened import Opened, mapping_in
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.placement import calibration_of
from framewatt.prepare.exporters.contract import CHECK_RECORD
from framewatt.prepare.parity_sheet import RECORD as PARITY_RECORD
from framewatt.prepare.training import RECORD as TRAIN_RECORD
from framewatt.runs.profiling import RECORD as PROFILE_RECORD
from framewatt.runs.repeated import RECORD as REPEATED_RECORD
from framewatt.runs.timelines import RECORD as TIMELINE_RECORD


def problems(package: Opened) -> Iterator[str]:
    """Where weights, exports, checks or idle power are those of other settings, or hashes are of other locks."""
    hashes = package.planned
    if not isinstance(hashes, JobHashes) or "sources" not in package.told_plan:
        return
    for name, about in hashes.sources.environments.items():
        lock = package.data / "envs" / name / LOCK
        if about.get("mode") != "host" and lock.is_file():
            says, gives = {"lock_sha256": about.get("lock_sha256")}, {"lock_sha256": lock_sha256(lock)}
            where = f"plan.json: sources.environments.{name}"
            yield from some(differences(says, gives, by="it says", why=f"envs/{name} gives"), where)
    for place, wanted in records_of_stages(hashes).items():
        path = package.results / place
        told = mapping_in(path).get("job_sha256") if path.is_file() else None
        if told != wanted:
            yield f"{place}: made under other settings than the study file's, or not there"


def records_of_stages(hashes: JobHashes) -> dict[str, str]:
    """Hash of the job of every record but the runs', by its place in the results."""
    found = {f"{calibration_of(Path(), node)}/idle.json": sha256 for node, sha256 in hashes.idle.items()}
    found |= {f"train/{name}/{TRAIN_RECORD}": sha256 for name, sha256 in hashes.weights.items()}
    found |= {f"export/{name}/check/{CHECK_RECORD}": sha256 for name, sha256 in hashes.checks.items()}
    found |= {f"parity/{name}/sheet/{PARITY_RECORD}": sha256 for name, sha256 in hashes.parity.items()}
    found |= {f"profiled/{name}/{PROFILE_RECORD}": sha256 for name, sha256 in hashes.profiles.items()}
    found |= {f"timelines/{name}/{TIMELINE_RECORD}": sha256 for name, sha256 in hashes.timelines.items()}
    found |= {f"repeated/{name}/{REPEATED_RECORD}": sha256 for name, sha256 in hashes.repeated.items()}
    return found | {f"export/{name}/onnx/export.json": sha256 for name, sha256 in hashes.exports.items()}
