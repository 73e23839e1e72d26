"""Rule base_image: a Debian with Python, from this machine's own package mirror."""

from pathlib import Path

from framewatt.environments.images import build_image, debian_mirror
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Build it."""
    definition, image = Path(job.input.definition), Path(job.output.image)
    build_image(definition, image, [f"mirror={debian_mirror()}"], [], Path(job.log[0]).absolute())


run_rule(main)
