"""Rule verdicts_<paper>: every printed number of a paper compared with its recount; further tables and figures."""

from pathlib import Path

from framewatt.figures.save import save
from framewatt.papers import PAPERS
from framewatt.papers.contract import Sources
from framewatt.papers.verdicts import write_plain, write_verdicts
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Recount the paper and write its verdicts, tables and figures."""
    paper = PAPERS[job.params.paper]
    recounted = paper.recount(Sources.from_input(job.input))
    output = job.output
    write_verdicts(paper.name, recounted.verdicts, map(Path, output.verdicts))
    for path in map(Path, output.tables):
        write_plain(recounted.tables[path.stem.removeprefix(f"{paper.name}_")], path)
    for path in map(Path, output.figures):
        save(recounted.figures[path.stem.removeprefix(f"{paper.name}_")], [path])


run_rule(main)
