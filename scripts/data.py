"""Rule data: a data set as canonical arrays, and the record of what they are."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.files import sha256_of, write_json
from framewatt.datasets import make_arrays
from framewatt.datasets.record import record_of
from framewatt.datasets.sources import origin_of
from framewatt.datasets.storing import save_arrays
from framewatt.tasks import task_for


def main() -> None:
    """Make the arrays from the folders of their sources, or from files, which come in the order of the definition."""
    definition, path = snakemake.params.definition, Path(snakemake.output.arrays)
    sources = definition.get("sources", {})
    given = [*sources, *definition.get("files", [])]
    folders = dict(zip(given, map(Path, snakemake.input.folders), strict=True))
    arrays = make_arrays(definition, folders, snakemake.wildcards.dataset)
    task_for(arrays)
    save_arrays(path, arrays)
    origins = [origin_of(source, folders[argument]) for argument, source in sources.items()]
    record = record_of(snakemake.wildcards.dataset, definition, sha256_of(path), arrays, origins)
    write_json(Path(snakemake.output.record), record)


run(main)
