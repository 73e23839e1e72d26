"""Rule verdicts_alizadeh2024: every number of the paper beside what its own tables give."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.published import alizadeh2024
from framewatt.published.written import write_verdicts


def main() -> None:
    """Recount the paper's numbers, and write the verdicts."""
    verdicts = alizadeh2024.recount(Path(snakemake.input.claims).parent)
    write_verdicts(alizadeh2024.STUDY, verdicts, map(Path, snakemake.output.verdicts))


run(main)
