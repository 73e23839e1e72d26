"""What `make gpu` does: say what is here, plan it, and measure study after study for the time that there is."""

import functools
import json
import math
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framewatt.base.cli import say
from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.base.identity import ROOT
from framewatt.environments.framework import describe_host
from framewatt.gpu import STUDIES
from framewatt.gpu.carried import CHARACTERISATION, NAME, carry
from framewatt.gpu.interpreter import libraries, others_on_gpu
from framewatt.gpu.slices import PACKING_S, Slice, longest_run_s, seconds_of
from framewatt.host.machine import describe_machine
from framewatt.meters.nvml import Nvml
from framewatt.planning.job_hashes import JobHashes, host_packages, sources_of
from framewatt.planning.jobs import timeline_cells_of
from framewatt.planning.needed import Absent, needed_by
from framewatt.planning.staleness import content_of
from framewatt.prepare.stage import worth_repeating
from framewatt.runs.timelines import RECORD as TIMELINE
from framewatt.study.study import MeasuredStudy
from framewatt.workflow.characterise import SHORT, characterise_here
from framewatt.workflow.folder import was_killed
from framewatt.workflow.setup import COMPUTED, load_setup

_TRAINING_S = 10.0
"""What a run that trains is expected to take before one was measured, beyond its start, seconds."""

_START_S = 10.0
"""What a framework is expected to take to start on a GPU, seconds."""

_CHARACTERISED_S = 200.0
"""Longest time in seconds that a characterisation takes, with the start of the framework that loads the GPU."""


@dataclass(frozen=True)
class Request:
    """What a user asks `make gpu` for.

    Attributes:
        python: path of the interpreter.
        slice_s: seconds that there are, or infinity.
        end_s: when they are over, on `time.monotonic`.
        shared: whether to go on where others use the GPU.
        carried: folder for the file of what was measured.
        results: the folder of all results.
    """

    python: str
    slice_s: float
    end_s: float
    shared: bool
    carried: Path
    results: Path = Path("results")

    @classmethod
    def from_command_line(cls, python: str, length: str, shared: bool, carried: Path) -> "Request":
        """Return the request of a command line.

        Raises:
            FramewattError: the interpreter is not on this machine, or the length of a slice is none.
        """
        # Jobs find another `python3` first on their PATH.
        program = shutil.which(python)
        if program is None:
            raise FramewattError(f"GPU_PYTHON: {python!r} is not a program on this machine. Name an interpreter.")
        slice_s = seconds_of(length) if length else math.inf
        return cls(program, slice_s, time.monotonic() + slice_s, shared, carried)


def check_gpu(request: Request) -> None:
    """Make sure that a GPU is here and that nobody else uses it.

    Raises:
        FramewattError: there is none, or others use it and the request does not allow that.
    """
    there, reason = Nvml().available()
    if not there:
        raise FramewattError(f"no NVIDIA GPU can be used here: {reason}. Run make gpu on a machine that has one.")
    if not reason.startswith("1 "):
        raise FramewattError(f"{reason}, and all of them would be measured. Choose one with CUDA_VISIBLE_DEVICES=0.")
    others = others_on_gpu()
    for line in others:
        say(f"  in use by others: {line}")
    if others and not request.shared:
        raise FramewattError(
            f"{len(others)} processes of others use the GPU, and their work would be measured too. End them, or allow "
            "it with SHARED=1."
        )


def studies_here(request: Request) -> list[MeasuredStudy]:
    """Return the studies, each with the cells that the interpreter can run; a study without such a cell is left out.

    Raises:
        FramewattError: a cell that was measured cannot run any more, so that its runs would vanish from the results.
    """
    cells = {name: _study(name, {}).cells for name in STUDIES}
    # All at once, since it takes seconds to try a framework.
    absent = Absent.from_interpreter(request.python, [cell for of in cells.values() for cell in of], "cuda", COMPUTED)
    studies = []
    for name, of_study in cells.items():
        needed = set().union(*map(needed_by, of_study))
        why = {module: reason for module, reason in absent.why.items() if module in needed}
        if left := [cell for cell in of_study if not Absent(why).reason(cell)]:
            studies.append(_study(name, why))
        folder = request.results / name / "measure"
        for cell in of_study:
            reason = Absent(why).reason(cell)
            if reason and list(folder.glob(f"{cell.id}/*/run.json")):
                raise FramewattError(
                    f"{name}: {cell.id} was measured and cannot run any more: {reason}. Repair that, or start in "
                    "another checkout."
                )
        if count := len(of_study) - len(left):
            say(f"{name}: {count} of {len(of_study)} cells are left out for want of what is missing below")
    return studies


def _study(name: str, absent: Mapping[str, str]) -> MeasuredStudy:
    config: dict[str, Any] = {"study": name, "environment": "host", "absent": dict(absent), "device": "cuda"}
    study = load_setup(config, ROOT).study
    assert isinstance(study, MeasuredStudy)
    return study


def describe(request: Request, studies: Sequence[MeasuredStudy]) -> None:
    """Print what the interpreter has, and what is planned of it with the time that it is expected to take."""
    environment = describe_host("host", request.python)
    if environment["status"] != "ok":
        raise FramewattError(f"GPU_PYTHON: {environment['reason']}. Name an interpreter.")
    say(f"Interpreter: Python {environment['python_version']}")
    absent = Absent({name: why for study in studies for name, why in study.absent.items()})
    for row in libraries(environment["packages"], absent):
        say(f"  {row.line}")
    say("Plan, the most valuable first:")
    for study in studies:
        done, planned = measured(study, request), len(study.runs())
        left_s = block_s(study, request) * (planned - done) / len(study.cells)
        state = f"about {max(left_s / 60, 1):.0f} min left" if done < planned else "all measured"
        say(f"  {study.name}: {len(study.cells)} cells, {done} of {planned} runs measured, {state}")


def measured(study: MeasuredStudy, request: Request) -> int:
    """Return how many of a study's runs are measured: those that failed or are invalid are measured again.

    Raises:
        FramewattError: runs were measured with other packages or settings, so that all would be measured again.
    """
    folder = request.results / study.name / "measure"
    records = [content_of(folder / run.cell.id / str(run.repetition) / "run.json") for run in study.runs()]
    hashes = _hashes(study, request)
    pairs = [(run, record) for run, record in zip(study.runs(), records, strict=True) if record]
    if other := [run for run, record in pairs if record.get("job_sha256") != hashes.run(run.cell, run.repetition)]:
        raise FramewattError(
            f"{folder}: {len(other)} of {len(pairs)} runs were measured with other packages, another Python or other "
            f"settings than {request.python} has. Go on with the same, or start in another checkout."
        )
    return sum(not worth_repeating(record) for _, record in pairs)


def _hashes(study: MeasuredStudy, request: Request) -> JobHashes:
    config: dict[str, Any] = {"study": study.name, "environment": "host", "absent": dict(study.absent)}
    datasets = load_setup(config, ROOT).datasets
    return JobHashes(study, datasets, sources_of(study, "host", ROOT, _packages(request.python)))


@functools.cache
def _packages(python: str) -> str | None:
    return host_packages("host", python)


def block_s(study: MeasuredStudy, request: Request) -> float:
    """Seconds that a block of all cells is expected to take, by the longest earlier run where the study has one."""
    if measured(study, request):
        return longest_run_s(request.results, study.name) * len(study.cells)
    window_s = float(study.settings["window"]["minimum_s"])
    return sum(_START_S + (window_s if cell.phase == "infer" else _TRAINING_S) for cell in study.cells)


def measure(request: Request, studies: Sequence[MeasuredStudy]) -> list[str]:
    """Measure study after study until all are measured or the slice ends, and pack what can be carried away.

    Returns:
        names of the studies in which something failed.

    Raises:
        FramewattError: no run of the first study that is not measured fits into the slice.
    """
    limit = Slice(request.end_s)
    due = [
        study
        for study in studies
        if measured(study, request) < len(study.runs()) or _lacks_what_follows(study, request)
    ]
    _check_long_enough(request, due)
    failed = []
    try:
        if not _is_characterised(request.results):
            characterise_here(request.results / CHARACTERISATION, SHORT, [request.python])
        for study in due:
            if was_killed(Path(".snakemake")):
                say("a call that was killed left its lock, which is removed")
                limit.run(["--unlock", *_config(study, request)], lambda: 0.0)
            longest_s = functools.partial(longest_run_s, request.results, study.name)
            code = limit.run(_words(study, request), longest_s)
            if code is None:
                say(f"the time is over; {measured(study, request)} runs of {study.name} are measured")
                break
            if code or measured(study, request) < len(study.runs()):
                failed.append(study.name)
    finally:
        if size_b := carry(request.results, STUDIES, request.carried):
            say(f"carry away: {request.carried / NAME} ({size_b / 1e6:.1f} MB)")
    return failed


def _words(study: MeasuredStudy, request: Request) -> list[str]:
    """Snakemake's command line: all that is measured, and nothing that can be made of it elsewhere."""
    results = request.results / study.name
    targets = [results / "aggregate/runs.parquet", *(results / "timelines" / cell for cell in timeline_cells_of(study))]
    return ["--keep-going", *_config(study, request), "--", *map(str, targets)]


def _config(study: MeasuredStudy, request: Request) -> list[str]:
    """Return the configuration, with what the interpreter lacks, so that Snakemake need not try it again."""
    host = [f"host_python={request.python}", f"absent={json.dumps(dict(study.absent))}"]
    return ["--config", f"study={study.name}", "environment=host", *host, "device=cuda"]


def _check_long_enough(request: Request, due: Sequence[MeasuredStudy]) -> None:
    """Refuse a slice in which nothing can be measured: it need not hold a block, since blocks go on in the next one."""
    if not due:
        return
    first_s = 0.0 if _is_characterised(request.results) else _CHARACTERISED_S
    least_s = first_s + 2 * longest_run_s(request.results, due[0].name) + PACKING_S
    if request.slice_s < least_s:
        raise FramewattError(
            f"SLICE: {request.slice_s / 60:.3g} min are too short to prepare and measure a run of {due[0].name}. "
            f"Use SLICE={math.ceil(least_s / 60)}m or more."
        )


def _lacks_what_follows(study: MeasuredStudy, request: Request) -> bool:
    """Return whether idle power after the runs, or joules by operator of some cell, are not recorded."""
    folder = request.results / study.name
    timelines = (folder / "timelines" / cell / TIMELINE for cell in timeline_cells_of(study))
    return not all(path.is_file() for path in (folder / "calibrate" / "idle_after.json", *timelines))


def _is_characterised(results: Path) -> bool:
    """Return whether the meters of this machine were characterised."""
    try:
        record = read_json(results / CHARACTERISATION / "characterisation.json")
    except (OSError, ValueError):
        return False
    return bool(record["machine"].get("id") == describe_machine()["id"])
