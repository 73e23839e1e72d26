"""Rule complete: fails, after the report is written, where a planned run does not count or an environment lacks."""

import sys
from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.files import read_json, write_text
from framewatt.base.identity import ROOT
from framewatt.base.terminal import lasting
from framewatt.planning.blocks import plan_until
from framewatt.planning.due import due_of, plan_is_due
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.job_sources import sources_of
from framewatt.planning.missing import missing_of
from framewatt.planning.placement import placement_of
from framewatt.planning.plan import plan_of
from framewatt.planning.planned import records_of
from framewatt.planning.staleness import MADE_OF_OTHER, SET_ASIDE
from framewatt.profiling.operators import failed_timelines
from framewatt.profiling.planned import failed_profiles
from framewatt.profiling.repeated import failed_repetitions
from framewatt.workflow.setup import load_setup


def main() -> None:
    """Say what is missing, and end with an error where anything is."""
    lasting(f"report: {snakemake.input.report}")
    plan = plan_until(read_json(Path(snakemake.input.plan)), snakemake.input.stopping)
    again, stale = {}, []
    if plan["source"] == "measure":
        setup = load_setup(snakemake.config, ROOT)
        sources = sources_of(setup.study, snakemake.params.mode, ROOT, snakemake.params.host)
        hashes = JobHashes(setup.study, setup.datasets, sources, placement_of(read_json(Path(snakemake.input.plan))))
        results = Path(snakemake.input.plan).parents[1]
        now = plan_of(hashes)
        if plan_is_due(now, results):
            sys.exit(f"framewatt: {snakemake.input.plan}: found the plan of another study file; allowed: snakemake all")
        due = due_of(hashes, now, results, Path("resources"), lambda rule, path: False)
        aside = [name for name, reason in due.runs.items() if reason == SET_ASIDE]
        if aside:
            lasting(f"runs set aside, since others disturbed them: {len(aside)}; the same command measures them again")
        again = {name: reason for name, reason in due.runs.items() if reason != SET_ASIDE}
        # Weights that were deleted are not missed; those of other data, and exports of other weights, are wrong.
        made = {**due.weights, **due.exports, **due.checks}
        stale = [f"{name}: {reason}" for name, reason in made.items() if reason.startswith(MADE_OF_OTHER)]
    missing = missing_of(
        plan,
        (record for _, record in records_of(plan, snakemake.input.records)),
        (read_json(Path(path)) for path in snakemake.input.environments),
        again,
    )
    profiles = failed_profiles(snakemake.input.profiled, missing.accepted)
    timelines = failed_timelines(snakemake.input.about, missing.accepted)
    repeated = failed_repetitions(snakemake.input.repeated, missing.accepted)
    for line in [*stale, *missing.lines, *profiles, *timelines, *repeated]:
        print(f"missing: {line}", file=sys.stderr)
    if stale:
        sys.exit(f"framewatt: {len(stale)} models are not of what lies there now; the next snakemake makes them again")
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
    write_text(Path(snakemake.output.done), "\n".join([missing.count, *missing.lines, ""]))


run(main)
