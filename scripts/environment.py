"""Rule environment: a framework's environment from its lock, or the host's interpreter."""

from pathlib import Path

from framewatt.environments import build_locked, describe_host
from framewatt.files import write_json

name, record_path = snakemake.wildcards.environment, Path(snakemake.output.record)
if snakemake.wildcards.mode == "host":
    record = describe_host(name, snakemake.params.host_python)
else:
    record = build_locked(name, Path(snakemake.input.lock), record_path.parent, Path(snakemake.log[0]))
write_json(record_path, {**record, "attempt": snakemake.params.attempt})
print(f"environment {name}: {record['reason'] or 'ready'}")
