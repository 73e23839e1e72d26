"""What this call of Snakemake has to make: of the study that the configuration names, and of others."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.host.machine import describe_machine, session_of
from framewatt.planning.blocks import Blocks, blocks_there
from framewatt.planning.due import RULES, Due, due_of, plan_is_due
from framewatt.planning.job_hashes import JobHashes, host_packages, sources_of
from framewatt.planning.placement import NOWHERE, Placement, dealt, placement_of
from framewatt.planning.plan import plan_of
from framewatt.planning.staleness import content_of, imports_are_due, outdated_sources
from framewatt.study.stopping_rule import most_blocks
from framewatt.study.study import FileStudy, MeasuredStudy, MergedStudy, Study
from framewatt.workflow.setup import RESULTS, Setup, check_data
from framewatt.workflow.snakemake_api import Call

RESOURCES = Path("resources")


@dataclass(frozen=True)
class CallDue:
    """What this call has to make.

    Attributes:
        makes: whether it may run any rule that measures or prepares. A package is rebuilt without those, in a folder
            that lacks what they start from.
        host: hash of the packages of the host's interpreter, which one process computes: that of a script may belong to
            another interpreter, as under conda. None where environments are not the host's.
        placement: which node measures which block; empty where the study has no nodes.
        hashes: hashes of the study's jobs; None where nothing of the study is measured by this call.
        due: what of the study is due.
        plans: names of the studies with a plan that is due.
        blocks: the blocks of the study as they are now; none where its runs are read from files.
        forced: rules and paths that Snakemake has to make again in any case: what is due depends on content, not on
            times of files or on what Snakemake remembers.
    """

    makes: bool
    host: str | None = None
    placement: Placement = field(default_factory=dict)
    hashes: JobHashes | None = None
    due: Due = field(default_factory=Due)
    plans: list[str] = field(default_factory=list)
    blocks: Blocks = field(default_factory=Blocks)
    forced: list[str] = field(default_factory=list)

    @property
    def carried(self) -> list[str]:
        """Names of the models that others are compared with, where a comparison is due."""
        return list(self.hashes.carried) if self.hashes and self.due.parity else []

    @property
    def studies(self) -> list[str]:
        """Names of the studies with jobs that measure or prepare: the study of this call, or none."""
        return [self.hashes.study.name] if self.hashes else []


def find_due(setup: Setup, call: Call, mode: str, root: Path) -> CallDue:
    """Return what a call has to make.

    Args:
        setup: the studies of the call.
        call: its targets and options.
        mode: of environments: `locked`, `host` or `container`.
        root: the project's folder.

    Raises:
        FramewattError: the configuration wants the measured part of a study alone, and the call would plan it anew; or
            a file of the study is missing or wrong.
    """
    study, makes = setup.study, call.makes(RULES)
    if makes and setup.config["measured_only"]:
        raise FramewattError(
            "measured_only: the study would be planned anew without what is missing. Use make gpu-collect."
        )
    host = host_packages(mode, setup.config["host_python"]) if makes else None
    placement = _placement(setup)
    hashes, due = None, Due()
    if makes and isinstance(study, MeasuredStudy):
        check_data(study, setup.datasets)
        hashes = JobHashes(study, setup.datasets, sources_of(study, mode, root, host), placement)
        again = call.again(study.name)
        due = due_of(hashes, plan_of(hashes), RESULTS / study.name, RESOURCES, again, _boots(setup))
    plans = due_plans(setup.studies.values(), RESULTS) if makes else []
    forced = list(RULES)
    if makes and call.about(study.name):
        forced += outdated(study, hashes if due.runs else None, RESULTS, RESOURCES)
    return CallDue(
        makes,
        host,
        placement,
        hashes,
        due,
        [*plans, *([study.name] if due.plan else [])],
        _blocks(study, due, makes),
        [*forced, *failed_environments(call.targets)],
    )


def _placement(setup: Setup) -> dict[int, str]:
    if not setup.study.measures or not setup.cluster.aliases:
        return {}
    before = placement_of(content_of(RESULTS / setup.study.name / "plan" / "plan.json"))
    return dealt(setup.cluster.aliases, most_blocks(setup.study.settings), before)


def _boots(setup: Setup) -> Any:
    """Return a function of a node and a record of its idle power, see planning.stages_due.Boot."""

    def boot_of(node: str, idle: Mapping[str, Any]) -> str | None:
        if node != NOWHERE:
            return setup.cluster.boot_of(node, idle)
        here = session_of(describe_machine())
        return None if here == session_of(idle.get("machine") or {}) else here

    return boot_of


def _blocks(study: Study, due: Due, makes: bool) -> Blocks:
    if not isinstance(study, MeasuredStudy):
        return Blocks()
    return due.blocks if makes else blocks_there(study, RESULTS / study.name)


def due_plans(studies: Iterable[Study], results: Path) -> list[str]:
    """Return the names of the studies of files or packages with a plan that is missing or differs from their file's.

    Args:
        studies: of any kind; studies that measure are left out, see planning.due.due_of.
        results: the folder of all results.
    """
    names = []
    for study in studies:
        folder = results / study.name
        if isinstance(study, MergedStudy) and plan_is_due(plan_of(study), folder):
            names.append(study.name)
        if not isinstance(study, FileStudy):
            continue
        # A study without its files keeps its plan, as in a package.
        planned = (folder / "plan" / "plan.json").is_file()
        if plan_is_due(plan_of(study), folder) if study.available else not planned:
            names.append(study.name)
    return names


def failed_environments(targets: Iterable[str]) -> dict[str, str]:
    """Return the reasons of environments among the targets that could not be made, by their records' paths.

    A study goes on without an environment; a call with the record as a target does not.

    Args:
        targets: Snakemake's: rules, paths.
    """
    below = ("resources", "environments")
    named = [path for path in targets if path.endswith("/environment.json") and PurePath(path).parts[:2] == below]
    records = {path: content_of(Path(path)) or {} for path in named}
    return {path: str(record["reason"]) for path, record in records.items() if record.get("status") == "failed"}


def outdated(study: Study, hashes: JobHashes | None, results: Path, resources: Path) -> list[str]:
    """Return paths that have to be made again although the times of files do not show it.

    Args:
        study: any.
        hashes: of a study that measures and has runs due; None otherwise.
        results: the folder of all results.
        resources: the folder of data and environments.
    """
    if isinstance(study, FileStudy):
        records = results / study.name / "measure"
        return [str(records)] if records.is_dir() and imports_are_due(study, records.parent) else []
    return outdated_sources(hashes, resources) if hashes else []
