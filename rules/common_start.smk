"""What happens before the first job: one Snakemake on a study, one measured study where nobody waits, a hub that answers."""

import atexit

from snakemake.settings.enums import Quietness

from framewatt.workflow.folder import Presence, sweep, unlock_command
from framewatt.workflow.exclusive import check_node
from framewatt.workflow.forecast import Places, forecast
from framewatt.workflow.hub import check_hub
from framewatt.workflow.running import page_shows_running
from framewatt.workflow.terminal import tidy_log
from framewatt.host.lock import WAIT_VARIABLE, announce_study

MEASURING = {
    *("calibrate", "calibrate_session", "recalibrate"),
    *("measure", "profile_run", "timeline", "repeat_operators"),
}
"""Rules whose jobs take the machine's lock."""


def forecast_of(jobs):
    """What the call is about to measure, build and download; nothing where it measures nothing."""
    if "measure" not in jobs or not STUDY.measures:
        return ""
    environments = Path(
        rules.environment.output.record.format(mode=MODE, environment="x")
    ).parents[1]
    places = Places(
        Path("results", STUDY.name, "measure"),
        environments,
        Path("resources/sources"),
        Path("envs/sizes.yaml"),
    )
    # Only locked environments are built; the host's own is there, and an image has its own size.
    built = {} if MODE == "locked" else {"environment": 0}
    return forecast(STUDY, DATASETS, places, {**jobs, **built})


def live(planned):
    """What tells how far the study has come: in a call that measures, or the first after one that was killed."""
    results = Path("results", STUDY.name)
    if not HASHES or not ("measure" in planned or page_shows_running(results)):
        return None
    from framewatt.workflow.live import (
        Live,
    )  # a second, which other calls need not spend

    why = DUE.sentence(len(MEASURED[STUDY.name].runs))
    silent = Quietness.ALL in (workflow.output_settings.quiet or ())
    return Live(results, DUE.runs, why, silent=silent)


def tell_end(well=False):
    """Say once how the call ended: also where Snakemake itself fails, as on a full disk, and calls no handler."""
    if TERMINAL.told_end:
        return
    TERMINAL.told_end = True
    if TERMINAL.live:
        TERMINAL.live.ends(well=well)
    if well:
        return
    kept = len(list(Path("results", STUDY.name, "measure").glob("*/*/run.json")))
    # What failed has its line, which begins with framewatt; this is how to go on.
    how = (
        "framewatt: stopped"
        if TERMINAL.stopped
        else "not all was made, as is said above"
    )
    runs = (
        f"the {kept} runs of study {STUDY.name} that had ended stay; " if kept else ""
    )
    print(f"{how}; {runs}the same command goes on", file=sys.stderr)


def tell_not_begun():
    """Say how to go on where inputs went away while Snakemake read them, which is before any handler is there."""
    if TERMINAL.missing and not TERMINAL.told_end:
        print(
            "framewatt: nothing was begun, since files are missing, as is said above; allowed: files that are there; "
            "mend: give them; where a disk or a folder went away meanwhile, bring it back: the same command goes on",
            file=sys.stderr,
        )


TERMINAL = tidy_log(forecast_of)
if workflow.is_main_process:
    atexit.register(tell_not_begun)
    PRESENCE = Presence(
        Path(".snakemake"),
        unlock_command(
            sys.argv[0], workflow.config_settings.overwrite_config, Path.cwd()
        ),
    )
    PRESENCE.instead_of_snakemakes_error()
elif not config["wait"]:
    # A job on another machine: only there it is seen who measures there.
    os.environ[WAIT_VARIABLE] = "no"


onstart:
    PRESENCE.tell(STUDY.name)
    sweep(Path("results", STUDY.name))
    jobs = list(workflow.dag.needrun_jobs())
    planned = {job.rule.name for job in jobs}
    if "image" in planned:
        or_exit(lambda: check_hub(config["container_base"]))
    if planned & MEASURING:
        or_exit(lambda: CLUSTER.check_named(PLACEMENT.values()))
    if not workflow.local_exec:
        for job in jobs:
            if job.rule.name in MEASURING:
                told = job.resources.get("slurm_extra")
                or_exit(
                    lambda: CLUSTER.check_alone(
                        job.rule.name, node_of(job.wildcards), told
                    )
                )
    elif planned & MEASURING:
        claims = [(job.rule.name, job.resources.get("node")) for job in jobs]
        limit = workflow.global_resources.get("node")
        or_exit(lambda: check_node(limit, claims, MEASURING))
        or_exit(lambda: announce_study(STUDY.name, wait=config["wait"]))
    TERMINAL.live = live(planned)
    atexit.register(tell_end)


onsuccess:
    tell_end(well=True)
    for path, reason in failed_environments(CALL.targets).items():
        sys.exit(f"framewatt: {path}: found an environment that failed: {reason}")


onerror:
    tell_end()
