"""One figure of a study, as SVG, PDF and PNG."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.figures.names import FIGURES
from framewatt.figures.save import save
from framewatt.tables.results import Results


def main() -> None:
    """Draw the figure and write it in each format."""
    figure = FIGURES[snakemake.wildcards.figure]
    save(figure.draw(Results(snakemake.input, snakemake.params)), map(Path, snakemake.output))


run(main)
