"""Rule published: the page of the published studies, from their verdicts, tables and figures."""

from pathlib import Path

from framewatt.base.files import write_text
from framewatt.base.spreadsheet import read_csv
from framewatt.published import beyond
from framewatt.published.page import Material, build_page, build_summary
from framewatt.published.tables import plain_table
from framewatt.published.written import read_verdicts
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Build the page and its summary."""
    folder = Path(job.input.verdicts[0]).parent
    frames = {Path(path).stem: read_csv(path) for path in job.input.tables}
    materials = []
    for study in job.params.papers:
        own = {name.removeprefix(f"{study}_"): frame for name, frame in frames.items() if name.startswith(f"{study}_")}
        shown = beyond.CAPTIONS[study]
        tables = [plain_table(f"{study}_{name}", shown[name], own[name]) for name in shown if len(own[name])]
        figures = [Path(path) for path in job.input.figures if Path(path).stem.startswith(f"{study}_")]
        verdicts = read_verdicts(folder / f"{study}_verdicts.csv")
        materials.append(Material(study, verdicts, beyond.FACTS[study](own), tables, figures))
    write_text(Path(job.output.page), build_page(materials, job.params.given))
    write_text(Path(job.output.summary), build_summary(materials))


run_rule(main)
