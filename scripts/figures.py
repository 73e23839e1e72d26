"""One figure of a study, as SVG, PDF and PNG."""

from pathlib import Path

from framewatt.figures.names import FIGURES
from framewatt.figures.save import save
from framewatt.tables.results import Results
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Draw the figure and write it in each format."""
    figure = FIGURES[job.wildcards.figure]
    save(figure.draw(Results(job.input, job.params)), map(Path, job.output))


run_rule(main)
