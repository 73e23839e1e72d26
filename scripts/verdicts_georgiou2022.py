"""Rule verdicts_georgiou2022: tables and sentences beside what the raw results give; tables and a figure."""

from pathlib import Path

import pandas as pd

from framewatt.figures.published import georgiou2022_figure1
from framewatt.figures.save import save
from framewatt.profiling.collection import read_names
from framewatt.profiling.frame import keyed
from framewatt.published import georgiou2022, georgiou2022_beyond
from framewatt.published.georgiou2022_correlations import spearman_variants
from framewatt.published.georgiou2022_profiles import compare, without_profiles
from framewatt.published.georgiou2022_raw import no_raw_results, raw_results, sums_of_watts
from framewatt.published.georgiou2022_spread import spread
from framewatt.published.georgiou2022_tables import printed_means, printed_models
from framewatt.published.written import write_plain, write_verdicts
from framewatt.runs.records import read_run, record_paths
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Read, recount, write."""
    given, output = job.input, job.output
    resources = Path(given.claims).parent

    raw = no_raw_results()
    if given.runs:
        records = record_paths(given.records)
        watts = sums_of_watts(map(read_run, records), [path.with_name("power.parquet") for path in records])
        raw = raw_results(pd.read_parquet(given.runs), watts, printed_models(resources))

    functions, profiles = without_profiles()
    if given.functions:
        functions, profiles = pd.read_parquet(given.functions), keyed(pd.read_csv(given.profiles))
    compared = compare(functions, profiles, resources, read_names(Path(given.names)))

    verdicts = georgiou2022.recount(resources, raw, compared)
    write_verdicts(georgiou2022.STUDY, verdicts, map(Path, output.verdicts))
    frames = {
        "p_value_variants": georgiou2022_beyond.p_value_variants(raw, resources),
        "spearman_variants": spearman_variants(printed_means(resources), raw, resources),
        "figure1": georgiou2022_beyond.figure1(raw),
        "outside_of_runs": georgiou2022_beyond.outside_of_runs(raw, resources),
        "medians": georgiou2022_beyond.medians(raw),
        "gpu_sums": georgiou2022_beyond.gpu_sums(raw),
        "spread": spread(raw),
        "functions": georgiou2022_beyond.left_out_functions(compared),
    }
    write_plain(frames, output)
    save(georgiou2022_figure1.draw(*georgiou2022_beyond.total_energy(raw)), map(Path, output.figure))


run_rule(main)
