"""Verify a package: check that it is complete, and recompute what follows from its raw files."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.base.identity import ROOT
from framewatt.package.rebuild import compared_in
from framewatt.package.unpack import unpack
from framewatt.package.verification.code import code_problems, environment_problems, other_than_here
from framewatt.package.verification.derived import derived_problems, frame_problems, merged_problems
from framewatt.package.verification.descriptions import crate_problems, description_problems, example_problems
from framewatt.package.verification.files import (
    further_file_problems,
    json_problems,
    manifest_problems,
    presence_problems,
)
from framewatt.package.verification.imported import log_problems
from framewatt.package.verification.meters import machine_problems, meter_problems
from framewatt.package.verification.opened import Opened, open_package
from framewatt.package.verification.order import chain_problems, order_problems
from framewatt.package.verification.outcome import outcome_problems
from framewatt.package.verification.plan import (
    ending_problems,
    head_problems,
    plan_problems,
    settings_problems,
    stage_problems,
    stopping_problems,
)
from framewatt.package.verification.profiles import operator_problems, profile_problems
from framewatt.package.verification.samples import prediction_problems, sample_problems
from framewatt.package.verification.statement import fault_of, statement_of
from framewatt.package.verification.traces import trace_problems, witness_problems
from framewatt.study.study import FileStudy, MeasuredStudy, MergedStudy


def _for_measured(check: Callable[[Opened, MeasuredStudy], Iterator[str]]) -> Callable[[Opened], Iterator[str]]:
    """Return a check that runs on studies that measure, and on no others."""

    def checked(package: Opened) -> Iterator[str]:
        if isinstance(package.study, MeasuredStudy):
            yield from check(package, package.study)

    return checked


def _for_own_runs(check: Callable[[Opened], Iterator[str]]) -> Callable[[Opened], Iterator[str]]:
    """Return a check that runs on packages with runs of their own.

    The runs of a merged package are in the packages of its machines.
    """

    def checked(package: Opened) -> Iterator[str]:
        if not isinstance(package.study, MergedStudy):
            yield from check(package)

    return checked


def _for_imported(check: Callable[[Opened, FileStudy], Iterator[str]]) -> Callable[[Opened], Iterator[str]]:
    """Return a check that runs on studies of files, and on no others."""

    def checked(package: Opened) -> Iterator[str]:
        if isinstance(package.study, FileStudy):
            yield from check(package, package.study)

    return checked


CHECKS: dict[str, Callable[[Opened], Iterator[str]]] = {
    "plan": plan_problems,
    "packages of machines": lambda package: merged_problems(package, problems_of),
    "JSON": json_problems,
    "runs that are there": _for_own_runs(presence_problems),
    "further files": further_file_problems,
    "when it stopped": _for_own_runs(stopping_problems),
    "chain of records": _for_measured(chain_problems),
    "heads of records": _for_own_runs(head_problems),
    "time order": _for_measured(order_problems),
    "meters": _for_measured(meter_problems),
    "machines and idle power": _for_measured(machine_problems),
    "weights, exports and idle power": _for_own_runs(stage_problems),
    "environments": _for_measured(environment_problems),
    "code": code_problems,
    "windows and energy": _for_own_runs(trace_problems),
    "witnesses": _for_measured(witness_problems),
    "logs": _for_imported(log_problems),
    "verdicts, pace and epochs": _for_own_runs(outcome_problems),
    "settings": _for_measured(settings_problems),
    "samples, data and weights": _for_measured(sample_problems),
    "predictions": _for_measured(prediction_problems),
    "descriptions": _for_measured(description_problems),
    "examples": _for_measured(example_problems),
    "profiles": _for_measured(profile_problems),
    "joules by operator": _for_measured(operator_problems),
    "frames": frame_problems,
    "how the study ended": ending_problems,
    "crate and citation": crate_problems,
}
"""Checks that run after those of the manifests, in the order of their report."""

UNFORESEEN = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError, csv.Error)
"""Exceptions of a check where a file has the right name but another structure than framewatt writes."""

_MOST_LINES = 200
"""Largest number of problems that are printed; of more, only the number is."""

MANIFESTS, OPENING = "manifests", "study file"


def verified(archive: str, scratch: str, disk_b: int) -> dict[str, list[str]]:
    """Unpack and verify, in this process; see checking.check."""
    folder = unpack(Path(archive), Path(scratch) / "verified", disk_b)
    return _report(folder, list(findings_of(folder)), None)


def rebuilt(archive: str, scratch: str) -> dict[str, list[str]]:
    """Rebuild the derived files of a verified package and compare them, in this process; see checking.check."""
    (folder,) = (Path(scratch) / "verified").iterdir()
    package = open_package(folder)
    results = package.results.relative_to(package.data).as_posix()
    lines = derived_problems(Path(archive), results, Path(scratch) / "again", ROOT)
    report = _report(folder, [("derived files", line) for line in lines], len(compared_in(package.results)))
    if report["problems"] and (packed := other_than_here(package)):
        return {**report, "problems": [*report["problems"][:-1], f"{report['problems'][-1]}; {packed}"]}
    return report


def findings_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the problems of an unpacked package, each as the name of the check and one line.

    Args:
        folder: where it was unpacked to, see unpack.
    """
    yield from ((MANIFESTS, line) for line in manifest_problems(folder))
    if not (folder / "data").is_dir():
        yield MANIFESTS, "data: not there; a bag has its content in it"
        return
    try:
        package = open_package(folder)
    except FramewattError as error:
        yield OPENING, str(error)
        return
    except UNFORESEEN as error:
        yield OPENING, _unforeseen(OPENING, error)
        return
    for name, check in CHECKS.items():
        try:
            yield from ((name, line) for line in check(package))
        except FramewattError as error:
            # A check that cannot run is reported as a problem of the package; the others still run.
            yield name, str(error)
        except UNFORESEEN as error:
            yield name, _unforeseen(name, error)


def problems_of(folder: Path) -> Iterator[str]:
    """Return the lines of `findings_of`, without the names of the checks."""
    return (line for _, line in findings_of(folder))


def _unforeseen(name: str, error: Exception) -> str:
    """Return the line of a check that could not run, which is a problem of the package."""
    what = f"{type(error).__name__}: {str(error)[:200]}"
    return f"{name}: cannot be checked, since a file is not as framewatt writes it ({what})"


def _report(folder: Path, findings: list[tuple[str, str]], count: int | None) -> dict[str, list[str]]:
    if not findings:
        return {"problems": [], "said": list(statement_of(open_package(folder), count))}
    lines = [" ".join(line.split()) for _, line in findings[:_MOST_LINES]]
    if len(findings) > _MOST_LINES:
        lines.append(f"and {len(findings) - _MOST_LINES} more")
    return {"problems": [*lines, f"{len(findings)} problems: {fault_of(name for name, _ in findings)}"], "said": []}
