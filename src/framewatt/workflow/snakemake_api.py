"""Everything of framewatt that depends on Snakemake's internals: its call stack, settings, exceptions, logger and jobs.

Another version of Snakemake can break this module and no other one.
"""

import functools
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never, ParamSpec, Protocol, TypeVar

from framewatt.base import cli
from framewatt.base.errors import FramewattError

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=logging.Filter)


class OfStudy(Protocol):
    """Wildcards with the name of a study."""

    @property
    def study(self) -> str:
        """Name of the study."""
        ...


@dataclass(frozen=True)
class OneStudy:
    """The wildcards of a rule that is about a study as a whole.

    Attributes:
        study: its name.
    """

    study: str


class Wildcards(OfStudy, Protocol):
    """The wildcards of a job, by name. A job has those of its rule, and no others.

    Attributes:
        block: number of a block.
        cell: name of a cell.
        dataset: name of a data set's arrays.
        environment: name of an environment.
        figure: name of a figure.
        mode: `locked`, `host` or `container`.
        model: name of a model.
        place: a node as paths have it, see workflow.cluster.place.
        profile: name of a profiled run.
        quantised: `<model>/<precision>`.
        run: `<cell>/<repetition>`.
        table: name of a table.
    """

    block: str
    cell: str
    dataset: str
    environment: str
    figure: str
    mode: str
    model: str
    place: str
    profile: str
    quantised: str
    run: str
    table: str

    def keys(self) -> Iterable[str]:
        """Return the names of the wildcards that the job has."""
        ...


class RuleJob(Protocol):
    """What Snakemake gives to the script of a rule: files and parameters by the names that the rule gives them."""

    input: Any
    output: Any
    params: Any
    wildcards: Any
    log: Any
    config: dict[str, Any]


def run_rule(main: Callable[[RuleJob], None]) -> None:
    """Call the `main` function of a rule's script with its job; see base.cli.run for errors.

    Snakemake writes the job into the script as the global variable `snakemake`.
    """
    job: RuleJob = vars(sys.modules["__main__"])["snakemake"]
    cli.run(lambda: main(job))


def exit_on_error(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with every FramewattError replaced by one line and exit code 1.

    Of an exception that passes through it, Snakemake would print where in the rules it was raised.
    """

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except FramewattError as error:
            sys.exit(f"framewatt: {error}")

    return wrapped


@dataclass(frozen=True)
class DueJob:
    """A job that the present call runs.

    Attributes:
        rule: name of its rule.
        wildcards: its wildcards.
        node: how much it claims of the resource `node`; None where it claims nothing.
        slurm_extra: options of Slurm that it adds.
    """

    rule: str
    wildcards: Wildcards
    node: object
    slurm_extra: object


@dataclass(frozen=True)
class Call:
    """The targets and options of a call of Snakemake.

    Attributes:
        targets: rules and paths; empty stands for the rule `all`.
        forced: rules and paths that are made again in any case.
        everything: whether everything is made again.
        allowed: the only rules that may run; empty where any rule may.
    """

    targets: frozenset[str] = frozenset()
    forced: frozenset[str] = frozenset()
    everything: bool = False
    allowed: frozenset[str] = frozenset()

    @classmethod
    def from_settings(cls, settings: Any) -> "Call":
        """Return the targets and options of a call.

        Args:
            settings: Snakemake's DAGSettings, or None.
        """
        if not settings:
            return cls()
        targets = frozenset(settings.targets or ())
        return cls(
            targets,
            frozenset(settings.forcerun or ()) | (targets if settings.forcetargets else frozenset()),
            settings.forceall,
            frozenset(settings.allowed_rules or ()),
        )

    def makes(self, rules: tuple[str, ...]) -> bool:
        """Return whether any of these rules may run. A package is rebuilt without those that measure or prepare."""
        return not self.allowed or not self.allowed.isdisjoint(rules)

    def again(self, study: str) -> Callable[[str, str], bool]:
        """Return whether a file of a study is forced to be made again, by its rule and its path in results/<study>."""
        forced = {os.path.normpath(name) for name in self.forced}
        return lambda rule, path: self.everything or rule in forced or f"results/{study}/{path}" in forced

    def about(self, study: str) -> bool:
        """Return whether a target is about the results of the study that the configuration names."""
        below = f"results/{study}/"
        return not self.targets or any(name in _ABOUT_THE_STUDY or name.startswith(below) for name in self.targets)


_ABOUT_THE_STUDY = {"all", "report", "archive"}
"""Targets that stand for the results of the study that the configuration names."""


class Snakemake:
    """The running Snakemake.

    Args:
        workflow: its object of that name, which rules see.

    Attributes:
        call: the targets and options of the present call.
        uses_containers: whether rules run in containers.
        is_main_process: whether this is the process that the user started, and not that of a job.
    """

    def __init__(self, workflow: Any) -> None:
        from snakemake.settings.types import DeploymentMethod

        self._workflow = workflow
        self._settings = _settings_of(workflow)
        self.call = Call.from_settings(self._settings)
        self.is_main_process: bool = workflow.is_main_process
        self.uses_containers = DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method

    def force(self, names: Iterable[str]) -> None:
        """Have rules and paths made again by this call. Where Snakemake only lists its rules, this does nothing."""
        if self._settings:
            self._settings.forcerun = frozenset({*self._settings.forcerun, *names})

    def replace_targets(self, old: Iterable[str], new: str) -> None:
        """Replace targets of this call by another one."""
        if self._settings:
            self._settings.targets = frozenset({*self._settings.targets, new} - {*old})

    def add_container_arguments(self, arguments: str) -> None:
        """Add arguments of Apptainer, as a shell reads them, to those of every container."""
        self._workflow.deployment_settings.apptainer_args += arguments

    def limit_resource(self, name: str, most: int) -> None:
        """Limit how much of a resource the jobs that run at the same time may claim together."""
        self._workflow.register_resource(name, most)

    def outputs(self, rule: str) -> dict[str, str]:
        """Return the patterns of a rule's outputs, by name. Those without a name are left out."""
        return dict(self._outputs_of(rule).items())

    def all_outputs(self, rule: str) -> list[str]:
        """Return the patterns of all outputs of a rule."""
        return list(self._outputs_of(rule))

    def _outputs_of(self, rule: str) -> Any:
        # Not get_rule(rule).output, which has the constraints of wildcards written into its patterns.
        return getattr(self._workflow.globals["rules"], rule).output

    def has_rule(self, path: str) -> bool:
        """Return whether a rule makes a path."""
        return any(rule.is_producer(path) for rule in self._workflow.rules)

    def look(self, study: str, block: int) -> Path:
        """Return the record of a look of a study's stopping rule.

        Where the look is still to come, this raises Snakemake's exception, and Snakemake calls again after the look.
        """
        checkpoint = self._workflow.globals["checkpoints"].look
        return Path(str(checkpoint.get(study=study, block=block).output.record))

    def due_jobs(self) -> Iterator[DueJob]:
        """Yield the jobs that this call runs. They are known from `onstart` on."""
        for job in self._workflow.dag.needrun_jobs():
            claims = job.resources
            yield DueJob(job.rule.name, job.wildcards, claims.get("node"), claims.get("slurm_extra"))

    @property
    def node_limit(self) -> object:
        """Limit of the resource `node`: a number, or in later versions an object that holds a number."""
        return self._workflow.global_resources.get("node")

    @property
    def runs_here(self) -> bool:
        """Whether jobs run on this machine, and not on a cluster."""
        return bool(self._workflow.local_exec)

    @property
    def is_silent(self) -> bool:
        """Whether the user wants no output (`--quiet all`)."""
        from snakemake.settings.enums import Quietness

        return Quietness.ALL in (self._workflow.output_settings.quiet or ())

    @property
    def given_config(self) -> dict[str, Any]:
        """The values of `--config`."""
        return dict(self._workflow.config_settings.overwrite_config)


def _settings_of(workflow: Any) -> Any:
    """Return Snakemake's DAGSettings of this call; None where it only lists or checks its rules.

    Snakemake gives them to the workflow only after its rules are read. Until then a frame on the call stack has them.
    """
    from snakemake.settings.types import DAGSettings

    frame = sys._getframe()
    holders = [workflow]
    while frame.f_back:
        frame = frame.f_back
        holders.append(frame.f_locals.get("self"))
    candidates = (getattr(holder, "dag_settings", None) for holder in holders)
    return next((settings for settings in candidates if isinstance(settings, DAGSettings)), None)


def replace_lock_error(explain: Callable[[], str]) -> None:
    """Replace Snakemake's error where the folder is locked: eight lines without a command become one line.

    Args:
        explain: returns the line.
    """
    import snakemake.exceptions

    def end() -> Never:
        sys.exit(f"framewatt: {explain()}")

    snakemake.exceptions.LockException = end


def log_filter(kind: type[F], make: Callable[[], F]) -> F:
    """Return the filter of this kind of Snakemake's logger, which is made and added where there is none."""
    from snakemake.logging import logger

    present = next((one for one in logger.filters if isinstance(one, kind)), None) or make()
    logger.addFilter(present)
    return present


def is_printed(record: logging.LogRecord) -> bool:
    """Return whether a record of Snakemake's log reaches the terminal, by the user's options and the profile."""
    from snakemake.logging import logger

    return any(handler.filter(record) for handler in logger.handlers)


MISSING_INPUT = "MissingInputException"
"""Start of the line that Snakemake logs where an input is not there."""

STOPPING = "Terminating processes on user request"
"""Start of the line that Snakemake logs after Ctrl-C."""

UNINFORMATIVE = (
    *("Select jobs to execute", "Execute "),
    *("DAG of jobs will be updated after completion", "Updating checkpoint dependencies"),
)
"""Starts of lines that Snakemake logs for every job or look, in addition to the job's own line."""

OF_STOPPED = re.compile(
    r"RuleException:.*(exit status (130|143)|died with <Signals\.SIG(INT|TERM): \d+>)\.$"
    r"|WorkflowError:\s+At least one job did not complete successfully\.",
    re.DOTALL,
)
"""Errors that Snakemake logs in a call that the user stopped: the job ended by the signal, with its whole command."""
