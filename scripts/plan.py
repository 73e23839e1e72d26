"""Rule plan: what will be measured, in which order, and what the tests can show."""

from pathlib import Path

from framewatt.base.files import write_json
from framewatt.base.identity import ROOT
from framewatt.planning.job_hashes import JobHashes, sources_of
from framewatt.planning.plan import plan_of, planned_cells
from framewatt.statistics.best_set import not_compared
from framewatt.statistics.power import samples_sentence
from framewatt.stopping.history import note_change
from framewatt.study.study import FileStudy, MeasuredStudy, MergedStudy
from framewatt.workflow.folder import mark_owner
from framewatt.workflow.setup import load_setup
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Write the study's plan, and print its size and what its tests can show."""
    mark_owner(Path(job.output.record).parents[1], Path(job.input.study))
    setup = load_setup(job.config, ROOT)
    study = setup.studies[job.wildcards.study]
    if isinstance(study, MeasuredStudy):
        sources = sources_of(study, job.params.mode, ROOT, job.params.host)
        plan = plan_of(JobHashes(study, setup.datasets, sources, job.params.placement))
        note_change(Path(job.output.record).parents[1], plan)
    else:
        assert isinstance(study, FileStudy | MergedStudy)
        plan = plan_of(study)
    write_json(Path(job.output.record), plan)
    most = "at most " if "stopping" in plan else ""
    print(
        f"{plan['study']}: {most}{len(plan['order'])} runs of {len(plan['cells'])} cells.",
        plan["significance"]["sentence"],
    )
    if sentence := samples_sentence(planned_cells(plan), plan["settings"]["statistics"]):
        print(sentence)
    if reason := not_compared(planned_cells(plan), plan["settings"]["statistics"]["compare"]):
        print(f"no cell is compared with another: {reason}")
    for reason in dict.fromkeys(entry["reason"] for entry in plan["unsupported"]):
        cells = [entry["cell"] for entry in plan["unsupported"] if entry["reason"] == reason]
        print(f"not measured, since {reason}: {', '.join(cells)}")
    if "stopping" in plan:
        print(plan["stopping"]["sentence"])
    if plan["left_out"]:
        empty = ", ".join(plan["cells_without_runs"])
        print(f"{len(plan['left_out'])} runs left out by the study" + (f"; none is left of {empty}" if empty else ""))


run_rule(main)
