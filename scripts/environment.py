"""Rule environment: a framework's environment from its lock or its image, or the host's interpreter."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.files import write_json
from framewatt.environments.framework import build_locked, describe_host, describe_image


def main() -> None:
    """Make or describe the framework's environment, and write its record."""
    name, record_path = snakemake.wildcards.environment, Path(snakemake.output.record)
    source = Path(snakemake.input.source[0]) if snakemake.input.source else Path()
    if snakemake.wildcards.mode == "host":
        record = describe_host(name, snakemake.params.host_python)
    elif snakemake.wildcards.mode == "container":
        record = describe_image(name, source, Path("envs") / name / "requirements.txt")
    else:
        record = build_locked(name, source, record_path.parent, Path(snakemake.log[0]))
    write_json(record_path, {**record, "attempt": snakemake.params.attempt})
    print(f"environment {name}: {record['reason'] or 'ready'}")


run(main)
