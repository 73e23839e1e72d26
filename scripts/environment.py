"""Rule environment: a framework's environment from its lock or its image, or the host's interpreter."""

from pathlib import Path

from framewatt.base.files import write_json
from framewatt.environments.framework import build_locked, describe_host, describe_image
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Make or describe the framework's environment, and write its record."""
    name, record_path = job.wildcards.environment, Path(job.output.record)
    source = Path(job.input.source[0]) if job.input.source else Path()
    if job.wildcards.mode == "host":
        record = describe_host(name, job.params.host_python)
    elif job.wildcards.mode == "container":
        record = describe_image(name, source, Path("envs") / name / "requirements.txt")
    else:
        record = build_locked(name, source, record_path.parent, Path(job.log[0]))
    write_json(record_path, {**record, "attempt": job.params.attempt})
    print(f"environment {name}: {record['reason'] or 'ready'}")


run_rule(main)
