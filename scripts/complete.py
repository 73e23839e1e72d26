"""Rule complete: fails, after the report is written, where a planned run does not count or an environment lacks."""

import sys
from pathlib import Path

from framewatt.base.files import read_json, write_text
from framewatt.base.identity import ROOT
from framewatt.base.terminal import lasting
from framewatt.planning.blocks import plan_until
from framewatt.planning.due import due_of, plan_is_due
from framewatt.planning.job_hashes import JobHashes, sources_of
from framewatt.planning.missing import missing_of
from framewatt.planning.placement import placement_of
from framewatt.planning.plan import plan_of
from framewatt.planning.planned import records_of
from framewatt.planning.staleness import OTHER_INPUT, SET_ASIDE
from framewatt.profiling.collection import failed_profiles
from framewatt.profiling.operators import failed_timelines
from framewatt.profiling.repeated import failed_repetitions
from framewatt.study.study import MeasuredStudy
from framewatt.workflow.setup import load_setup
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Print what is missing, and end with an error where anything is."""
    lasting(f"report: {job.input.report}")
    plan = plan_until(read_json(Path(job.input.plan)), job.input.stopping)
    again, stale = {}, []
    if plan["source"] == "measure":
        setup = load_setup(job.config, ROOT)
        assert isinstance(setup.study, MeasuredStudy)
        sources = sources_of(setup.study, job.params.mode, ROOT, job.params.host)
        hashes = JobHashes(setup.study, setup.datasets, sources, placement_of(read_json(Path(job.input.plan))))
        results = Path(job.input.plan).parents[1]
        now = plan_of(hashes)
        if plan_is_due(now, results):
            sys.exit(f"framewatt: {job.input.plan}: the plan is of another study file. Run snakemake all.")
        due = due_of(hashes, now, results, Path("resources"), lambda rule, path: False)
        aside = [name for name, reason in due.runs.items() if reason == SET_ASIDE]
        if aside:
            lasting(f"runs set aside, since others disturbed them: {len(aside)}; the same command measures them again")
        again = {name: reason for name, reason in due.runs.items() if reason != SET_ASIDE}
        # Weights that were deleted are not missed; those of other data, and exports of other weights, are wrong.
        models = {**due.weights, **due.exports, **due.checks}
        stale = [f"{name}: {reason}" for name, reason in models.items() if reason.startswith(OTHER_INPUT)]
    missing = missing_of(
        plan,
        (record for _, record in records_of(plan, job.input.records)),
        (read_json(Path(path)) for path in job.input.environments),
        again,
    )
    profiles = failed_profiles(job.input.profiled, missing.accepted)
    timelines = failed_timelines(job.input.about, missing.accepted)
    repeated = failed_repetitions(job.input.repeated, missing.accepted)
    for line in [*stale, *missing.lines, *profiles, *timelines, *repeated]:
        print(f"missing: {line}", file=sys.stderr)
    if stale:
        sys.exit(
            f"framewatt: {len(stale)} models were made from other data or weights than exist now. Run snakemake again."
        )
    if missing.error:
        sys.exit(f"framewatt: {missing.error}")
    for failed, what, key in (
        (profiles, "a profile", "profile"),
        (timelines, "joules by operator", "operators"),
        (repeated, "operators alone", "repeated_operators"),
    ):
        if failed:
            sys.exit(
                f"framewatt: cells without {what}: {len(failed)}; the report lists them, and the next snakemake "
                f"repeats those that failed; or leave `{key}` out of the study"
            )
    write_text(Path(job.output.done), "\n".join([missing.count, *missing.lines, ""]))


run_rule(main)
