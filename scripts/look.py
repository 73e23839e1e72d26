"""Rule look: whether the study goes on after a block, as a file that Snakemake asks."""

from pathlib import Path

from framewatt.base.files import read_json, write_json
from framewatt.base.terminal import lasting
from framewatt.planning.plan import planned_cells
from framewatt.planning.planned import planned_runs
from framewatt.stopping.path import path_of
from framewatt.stopping.record import why
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Look at the results, and print whether the study goes on."""
    plan = read_json(Path(job.input.plan))
    records = planned_runs(job.input.plan, job.input.records).values()
    path = path_of(planned_cells(plan), plan["settings"], records)
    lasting(why(path))
    write_json(Path(job.output.record), {"blocks": int(job.wildcards.block), "stops": path.stopped})


run_rule(main)
