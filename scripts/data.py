"""Rule data: a data set as canonical arrays, and the record of what they are."""

from pathlib import Path

from framewatt.datasets import make_arrays
from framewatt.datasets.contract import save_arrays
from framewatt.files import sha256_of, write_json

arrays = make_arrays(snakemake.params.definition)
path = Path(snakemake.output.arrays)
save_arrays(path, arrays)
record = {
    "dataset": snakemake.wildcards.dataset,
    "definition": dict(snakemake.params.definition),
    "sha256": sha256_of(path),
    "input_shape": list(arrays.input_shape),
    "classes": arrays.classes,
    "train_samples": len(arrays.x_train),
    "test_samples": len(arrays.x_test),
}
write_json(Path(snakemake.output.record), record)
