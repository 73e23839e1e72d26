"""Rule data: a data set as canonical arrays, and the record of what they are."""

from pathlib import Path

from framewatt.base.files import sha256_of, write_json
from framewatt.datasets import make_arrays
from framewatt.datasets.record import record_of
from framewatt.datasets.sources import origin_of
from framewatt.datasets.storing import save_arrays
from framewatt.tasks import task_for
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Make the arrays from the folders of their sources, or from files, which come in the order of the definition."""
    definition, path = job.params.definition, Path(job.output.arrays)
    sources = definition.get("sources", {})
    given = [*sources, *definition.get("files", [])]
    folders = dict(zip(given, map(Path, job.input.folders), strict=True))
    arrays = make_arrays(definition, folders, job.wildcards.dataset)
    task_for(arrays)
    save_arrays(path, arrays)
    origins = [origin_of(source, folders[argument]) for argument, source in sources.items()]
    record = record_of(job.wildcards.dataset, definition, sha256_of(path), arrays, origins)
    write_json(Path(job.output.record), record)


run_rule(main)
