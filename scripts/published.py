"""Rule published: the page of all papers, from their verdicts, tables and figures."""

from pathlib import Path

from framewatt.base.files import write_text
from framewatt.papers import PAPERS
from framewatt.papers.page import build_page, build_summary, read_material
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Build the page and its summary."""
    materials = [read_material(paper, map(Path, job.input.files)) for paper in PAPERS.values()]
    write_text(Path(job.output.page), build_page(materials, job.params.given))
    write_text(Path(job.output.summary), build_summary(materials))


run_rule(main)
