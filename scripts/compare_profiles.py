"""Rule compare_profiles: georgiou2022's Tables 5 to 8 beside what the profiles give."""

from pathlib import Path

import pandas as pd

from framewatt import tables
from framewatt.profiling.collection import read_names
from framewatt.published.georgiou2022_profiles import compare

functions, profiles = pd.read_parquet(snakemake.input.functions), pd.read_csv(snakemake.input.record)
resources = Path(snakemake.input.published[0]).parent
comparison = compare(functions, profiles, resources, read_names(Path(snakemake.input.names)))
for path in map(Path, snakemake.output):
    tables.write_table(tables.functions_published(comparison), path)
