"""A call of Snakemake from before its first job to its end: what has to hold for it to start, and what it reports."""

import atexit
import os
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from framewatt.base.errors import FramewattError
from framewatt.environments.images import BOOTSTRAP
from framewatt.host.lock import WAIT_VARIABLE, announce_study
from framewatt.planning import paths
from framewatt.study.study import MeasuredStudy
from framewatt.workflow.due import failed_environments
from framewatt.workflow.folder import Presence, sweep, unlock_command
from framewatt.workflow.forecast import Places, forecast
from framewatt.workflow.inputs import StudyInputs
from framewatt.workflow.snakemake_api import Snakemake, exit_on_error, log_filter, replace_lock_error
from framewatt.workflow.terminal import TidyLog, page_shows_running

MEASURING = {
    *("calibrate", "calibrate_session", "recalibrate"),
    *("measure", "profile_run", "timeline", "repeat_operators"),
}
"""Rules with jobs that take the machine's lock."""


class Session:
    """The present call.

    Args:
        snakemake: the running Snakemake.
        inputs: the study, and what is due of it.
    """

    def __init__(self, snakemake: Snakemake, inputs: StudyInputs) -> None:
        self._snakemake, self._inputs = snakemake, inputs
        self._study, self._results = inputs.setup.study, Path("results", inputs.setup.study.name)
        self._log = log_filter(TidyLog, lambda: TidyLog(self._forecast))
        if snakemake.is_main_process:
            atexit.register(self._report_missing)
            command = unlock_command(sys.argv[0], snakemake.given_config, Path.cwd())
            self._presence = Presence(Path(".snakemake"), command)
            replace_lock_error(self._presence.explain_lock)
        elif not inputs.setup.config["wait"]:
            # A job on another machine: only there it is known who measures there.
            os.environ[WAIT_VARIABLE] = "no"

    @exit_on_error
    def start(self) -> None:
        """Refuse a call that would not measure alone or lacks an image server; then report on its progress."""
        self._presence.tell(self._study.name)
        sweep(self._results)
        jobs = list(self._snakemake.due_jobs())
        planned = {job.rule for job in jobs}
        config = self._inputs.setup.config
        if "image" in planned:
            check_hub(config["container_base"])
        if planned & MEASURING:
            self._inputs.setup.cluster.check_named(self._inputs.due.placement.values())
        if not self._snakemake.runs_here:
            for job in jobs:
                if job.rule in MEASURING:
                    node = self._inputs.nodes.node_of(job.wildcards)
                    self._inputs.setup.cluster.check_alone(job.rule, node, job.slurm_extra)
        elif planned & MEASURING:
            check_node(self._snakemake.node_limit, ((job.rule, job.node) for job in jobs), MEASURING)
            announce_study(self._study.name, wait=config["wait"])
        self._report_progress(planned)
        atexit.register(self._report_end)

    def succeed(self) -> None:
        """Report that all targets are made. An environment among them that could not be made ends with an error."""
        self._report_end(well=True)
        for path, reason in failed_environments(self._snakemake.call.targets).items():
            sys.exit(f"framewatt: {path}: the environment could not be made: {reason}")

    def fail(self) -> None:
        """Report how to go on after an error."""
        self._report_end()

    def _forecast(self, jobs: Mapping[str, int]) -> str:
        """Return what the call is about to measure, build and download; nothing where it measures nothing."""
        if "measure" not in jobs or not isinstance(self._study, MeasuredStudy):
            return ""
        mode = self._inputs.environments.mode
        places = Places(
            self._results / "measure",
            Path(paths.ENVIRONMENT.format(mode=mode, environment="x")).parents[1],
            Path("resources/sources"),
            Path("envs/sizes.yaml"),
        )
        # Only locked environments are built: the host's is there, and an image has another size.
        built = {} if mode == "locked" else {"environment": 0}
        return forecast(self._study, self._inputs.setup.datasets, places, {**jobs, **built})

    def _report_progress(self, planned: Collection[str]) -> None:
        """Have progress reported by a call that measures, and by the first call after one that was killed."""
        due = self._inputs.due
        if not due.hashes or not ("measure" in planned or page_shows_running(self._results)):
            return
        from framewatt.workflow.live import Live  # it takes a second to import, which other calls need not spend

        self._log.live = Live(self._results, due.due.runs, self._inputs.why_due, silent=self._snakemake.is_silent)

    def _report_end(self, well: bool = False) -> None:
        """Report once how the call ended. Snakemake calls no handler where it fails itself, as on a full disk."""
        if self._log.end_reported:
            return
        self._log.end_reported = True
        if self._log.live:
            self._log.live.ends(well=well)
        if well:
            return
        complete = len(list((self._results / "measure").glob("*/*/run.json")))
        # What failed has a line of its own, which starts with framewatt; this line is about how to go on.
        how = "framewatt: stopped" if self._log.stopped else "not all was made, for the reasons above"
        runs = f"the {complete} complete runs of study {self._study.name} stay; " if complete else ""
        print(f"{how}; {runs}the same command goes on", file=sys.stderr)

    def _report_missing(self) -> None:
        """Report how to go on where inputs disappeared while Snakemake read them, before it calls any handler."""
        if self._log.missing and not self._log.end_reported:
            print(
                "framewatt: nothing was started, since the files that are named above are missing. Supply them, or "
                "bring back the disk or folder that they were on: the same command goes on.",
                file=sys.stderr,
            )


NODE = 1000
"""Amount of the resource `node` on a machine. A rule that measures claims all of it, every other rule claims 1."""

_OWN_PROFILE = 'In a profile of your own, set resources: ["node=1000"] and default-resources: ["node=1"].'


def check_node(limit: object, jobs: Iterable[tuple[str, object]], measuring: Collection[str]) -> None:
    """Refuse to measure where Snakemake may start something at the same time as a measurement.

    Args:
        limit: of the resource `node`, as Snakemake has it: a number, or in later versions an object that holds one.
        jobs: planned jobs: name of the rule, and the `node` that it claims (None where it claims none).
        measuring: names of the rules that measure.

    Raises:
        FramewattError: the limit differs from what one measurement claims, a measurement claims less, or another job
            claims nothing, so that it could run at the same time.
    """
    value = getattr(limit, "value", limit)
    if value != NODE:
        present = "no limit of node" if value is None else f"node={value}"
        raise FramewattError(
            f"resources: there is {present}, so that other jobs could run during a measurement. {_OWN_PROFILE}"
        )
    for rule, claimed in jobs:
        least = NODE if rule in measuring else 1
        if not isinstance(claimed, int) or claimed < least:
            raise FramewattError(
                f"resources: {rule} claims node={claimed} and not at least {least}, so that it could run during a "
                f"measurement. {_OWN_PROFILE}"
            )


_DOCKER_HUB = "registry-1.docker.io"
_TIMEOUT_S = 10
_SETTINGS = (Path("/etc/containers/registries.conf"), Path.home() / ".config/containers/registries.conf")
_ELSEWHERE = re.compile(r"^\s*(\[\[registry|location|mirror|prefix)", re.MULTILINE)


def check_hub(base: str, settings: Sequence[Path] = _SETTINGS) -> None:
    """Make sure that the registry of a base image is reachable.

    Any answer will do, since Apptainer makes the proper request. The check is skipped where a mirror is configured.

    Args:
        base: `container_base` of the configuration.
        settings: files in which Apptainer looks for mirrors of registries.

    Raises:
        FramewattError: it does not answer.
    """
    if base == BOOTSTRAP or base.endswith(".sif"):
        return
    if any(_ELSEWHERE.search(path.read_text(errors="replace")) for path in settings if path.is_file()):
        return
    # Not imported at the top, since it would delay every start of the workflow.
    import requests

    first, slash, _ = base.partition("/")
    hub = first if slash and (re.search(r"[.:]", first) or first == "localhost") else _DOCKER_HUB
    try:
        requests.get(f"https://{hub}/v2/", timeout=_TIMEOUT_S, allow_redirects=False)
    except requests.exceptions.SSLError:
        # A server answers, and Apptainer may be configured to accept its certificate.
        return
    except requests.RequestException as error:
        raise FramewattError(
            f"container_base: the hub {hub} of {base} does not answer ({type(error).__name__}). Use --config "
            f"container_base={BOOTSTRAP} (a Debian from this machine's own package mirror), a .sif with Python 3.11, "
            "or a network."
        ) from error
