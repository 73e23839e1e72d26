"""Rule verdicts_itu2023: the authors' table and sentences beside what the raw results give; tables and figures."""

from pathlib import Path

from framewatt.figures.save import save
from framewatt.published import itu2023, itu2023_beyond, itu2023_figures
from framewatt.published.itu2023_epochs import all_epochs
from framewatt.published.itu2023_raw import read_runs
from framewatt.published.written import write_plain, write_verdicts
from framewatt.runs.records import record_paths
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Read, recount, write."""
    given, output = job.input, job.output
    runs = read_runs(record_paths(given.records))
    epochs = all_epochs(runs)

    verdicts = itu2023.recount(Path(given.claims).parent, epochs, map(Path, given.authors))
    write_verdicts(itu2023.STUDY, verdicts, map(Path, output.verdicts))
    frames = {
        "epochs_beside": itu2023_beyond.epochs_beside(epochs),
        "two_ways": itu2023_beyond.two_ways(epochs),
        "repetitions": itu2023_beyond.repetitions(epochs),
        "extremes": itu2023_beyond.extremes(runs),
    }
    write_plain(frames, output)

    figures = {"itu2023_figure1": itu2023_figures.draw_series(runs)}
    figures |= {name: itu2023_figures.draw_levels(epochs, name) for name in itu2023_figures.FIGURES}
    for path in map(Path, output.figures):
        save(figures[path.stem], [path])


run_rule(main)
