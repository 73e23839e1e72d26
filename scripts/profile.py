"""Rule profile: what cProfile dumps hold, checked, with a record of how reading each of them went."""

from pathlib import Path

from framewatt.profiling.collection import read_names, read_profiles, summary, write_profiles
from framewatt.profiling.dump import Trust, read_checksums
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Read, check, write."""
    given, output, study = job.input, job.output, job.wildcards.study
    trust = Trust(read_checksums(Path(given.checksums)), every=job.params.trust)
    runs, record = read_profiles(map(Path, given.dumps), read_names(Path(given.names)), trust)
    write_profiles(study, runs, record, output)
    for line in summary(record):
        print(f"{study}: {line}")


run_rule(main)
