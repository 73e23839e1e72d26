"""Rule plan: what will be measured, in which order, and what the tests can show."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.files import write_json
from framewatt.base.identity import ROOT
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.job_sources import sources_of
from framewatt.planning.plan import plan_of, planned_cells
from framewatt.statistics.best_set import not_compared
from framewatt.statistics.power import samples_sentence
from framewatt.stopping.history import note_change
from framewatt.workflow.folder import mark_owner
from framewatt.workflow.setup import load_setup


def main() -> None:
    """Write the study's plan, and say what it comes to."""
    mark_owner(Path(snakemake.output.record).parents[1], Path(snakemake.input.study))
    setup = load_setup(snakemake.config, ROOT)
    study = setup.studies[snakemake.wildcards.study]
    if study.measures:
        sources = sources_of(study, snakemake.params.mode, ROOT, snakemake.params.host)
        study = JobHashes(study, setup.datasets, sources, snakemake.params.placement)
    plan = plan_of(study)
    if plan["source"] == "measure":
        note_change(Path(snakemake.output.record).parents[1], plan)
    write_json(Path(snakemake.output.record), plan)
    most = "at most " if "stopping" in plan else ""
    print(
        f"{plan['study']}: {most}{len(plan['order'])} runs of {len(plan['cells'])} cells.",
        plan["significance"]["sentence"],
    )
    if said := samples_sentence(planned_cells(plan), plan["settings"]["statistics"]):
        print(said)
    if said := not_compared(planned_cells(plan), plan["settings"]["statistics"]["compare"]):
        print(f"no cell is compared with another: {said}")
    for reason in dict.fromkeys(entry["reason"] for entry in plan["unsupported"]):
        cells = [entry["cell"] for entry in plan["unsupported"] if entry["reason"] == reason]
        print(f"not measured, since {reason}: {', '.join(cells)}")
    if "stopping" in plan:
        print(plan["stopping"]["sentence"])
    if plan["left_out"]:
        empty = ", ".join(plan["cells_without_runs"])
        print(f"{len(plan['left_out'])} runs left out by the study" + (f"; none is left of {empty}" if empty else ""))


run(main)
