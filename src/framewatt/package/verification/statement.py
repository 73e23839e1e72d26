"""State what was proven of a package, what is taken at its word, and what nothing in it can prove."""

from collections import Counter
from collections.abc import Iterable, Iterator

from framewatt.package.rebuild import not_compared_in
from framewatt.package.verification.code import other_code
from framewatt.package.verification.earlier import SINCE, but_for_added
from framewatt.package.verification.opened import Opened
from framewatt.package.verification.order import chain_summary
from framewatt.package.verification.samples import recounted_in
from framewatt.prepare.examples import NAME as EXAMPLES
from framewatt.runs.clocks import steps_between
from framewatt.runs.verdict import OK
from framewatt.study.study import FileStudy, MeasuredStudy, MergedStudy
from framewatt.tasks import TASKS
from framewatt.tasks.contract import Task
from framewatt.tasks.quality import primary_of

_NAMED = 5
_UNPROVABLE = (
    "not provable: that readings, events, study file and chain were not changed together with all that follows from "
    "them; only a signature (make sign) shows who vouches for that"
)


def statement_of(package: Opened, rebuilt: int | None) -> Iterator[str]:
    """Yield the last lines on a package without problems.

    Args:
        package: verified.
        rebuilt: how many derived files were made again, byte for byte; None where none was.
    """
    yield "proven:"
    yield from (f"- {line}" for line in _proven(package, rebuilt))
    yield "taken at its word:"
    yield from (f"- {line}" for line in _trusted(package, rebuilt))
    yield _UNPROVABLE


def fault_of(checks: Iterable[str]) -> str:
    """Return the last line on a package with problems.

    Args:
        checks: the check of every problem.
    """
    counts = Counter(checks)
    named = ", ".join(f"{name} ({count})" for name, count in counts.items())
    return f"not to be believed as it is; what does not hold: {named}"


def _proven(package: Opened, rebuilt: int | None) -> Iterator[str]:
    files = sum(path.is_file() for path in package.data.rglob("*"))
    windows = [len(record["windows"]) for _, record in package.records]
    yield f"all {files} files are those that were packed, and no other is there"
    yield (
        f"the study file plans these {len(windows)} runs of {len(package.study.cells)} cells; each is there once, "
        "in its place and under its settings"
    )
    yield (
        f"gross, idle and net energy, uncertainty, power, gaps and telemetry of {sum(windows)} windows follow from "
        "traces, events and idle power"
    )
    yield "verdicts, flags, throughput, sums over epochs, frames, crate and citation follow from those"
    if isinstance(package.study, FileStudy) and _has_logs(package):
        yield "records and traces are what the logs in it give"
    if isinstance(package.study, MergedStudy):
        count = len(package.study.sources)
        yield f"all of that of the packages of {count} machines, which are in it, each of its own machine"
    if isinstance(package.study, MeasuredStudy):
        yield "samples, environment, data and weights fit the records of what was used"
        recounted, _ = recounted_in(package)
        if recounted:
            yield f"{_primary(package)} of {recounted} runs follows from which test samples each answered right"
    yield "the code is the one that packed it"
    if chained := chain_summary(package):
        yield chained
    if rebuilt is not None:
        but = but_for_added(package.results)
        yield f"statistics, tables, figures and report: {rebuilt} files made again, byte for byte{but}"


def _trusted(package: Opened, rebuilt: int | None) -> Iterator[str]:
    if rebuilt is None:
        yield "statistics, tables, figures and report (REBUILD=1 makes them again)"
    elif left := not_compared_in(package.results):
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        yield f"{len(left)} files that are not made again and compared: {', '.join(left[:_NAMED])}{more}"
    if isinstance(package.study, MergedStudy):
        yield "what make verify takes the packages of its machines at their word for, by themselves"
        yield "that machines of different hardware are different ones, and none is left out"
    elif isinstance(package.study, FileStudy):
        if not _has_logs(package):
            yield "that traces, epochs and accuracy are those of the logs, which are not in it"
        yield "the content of the logs"
        yield "idle power, which the study file states"
    else:
        yield from _trusted_of_runs(package)
    if earlier := sum(record["schema_version"] < SINCE for _, record in package.records):
        yield (
            f"uncertainties, reasons and flags of {earlier} runs by code with other rules for them "
            "(their joules are proven within two uncertainties)"
        )
    if failed := sum(record["status"] != "ok" for _, record in package.records):
        yield f"why {failed} runs failed"
    if sentence := other_code(package):
        yield sentence


def _trusted_of_runs(package: Opened) -> Iterator[str]:
    """Yield what measured runs are taken at their word for."""
    yield from _answers(package)
    yield "percentiles of latency, for times of batches are not stored (their mean is proven)"
    yield "losses"
    yield "idle power, for its readings are not stored"
    yield "what machine it was, and what disturbed it"
    if "sources" not in package.stored_plan:
        yield "that runs were measured under the last settings of the study file, for its jobs have no hashes"
    if died := sum(record["status"] == OK and record["sampler"] is None for _, record in package.records):
        yield f"that the sampling process of {died} runs did not live to their end"
    if steps := steps_between(record for _, record in package.records):
        yield f"that the wall clock was set, or the machine slept, before {len(steps)} runs, as frames state"
    if not chain_summary(package):
        yield "that no run was left out, for it has no chain of its records"


def _answers(package: Opened) -> Iterator[str]:
    """Yield the metrics of quality that nothing else in the package proves."""
    recounted, others = recounted_in(package)
    if recounted:
        yield f"which test samples a run answered right; {_others(package)}"
    if others:
        yield f"{_primary(package)} of {others} runs, for their predictions are not stored"
    if any(package.results.glob(f"train/*/{EXAMPLES}")):
        yield "which objects and detections the examples of detectors show"


def _primary(package: Opened) -> str:
    """Return the words for the metrics that choices are compared by."""
    return ", ".join(task.primary.words for task in _tasks(package))


def _others(package: Opened) -> str:
    """Return the words for all further metrics."""
    return ", ".join(metric.words for task in _tasks(package) for metric in task.metrics[1:])


def _tasks(package: Opened) -> list[Task]:
    """Return the tasks that runs were judged by."""
    names = {primary_of(record["quality"]) for _, record in package.records}
    return [task for task in TASKS.values() if task.primary.name in names]


def _has_logs(package: Opened) -> bool:
    return (package.data / "logs" / package.name).is_dir()
