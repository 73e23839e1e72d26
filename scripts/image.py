"""Rule image: an environment as a container image."""

import tempfile
from pathlib import Path

from framewatt.environments.images import base_arguments, build_image, fetch_packages
from framewatt.workflow.snakemake_api import RuleJob, run_rule


def main(job: RuleJob) -> None:
    """Fetch the packages of the lock and build the image from them."""
    definition, image, log = Path(job.input.definition), Path(job.output.image), Path(job.log[0])
    image.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".packages-", dir=image.parent) as packages:
        fetch_packages(Path(job.input.locks[0]), Path(packages), log)
        arguments = base_arguments(job.params.base, Path("resources/images/base.sif"))
        build_image(definition, image, arguments, [f"{Path(packages).absolute()}:/mnt"], log.absolute())
    print(f"image {job.wildcards.environment}: {image.stat().st_size / 1e6:.0f} MB")


run_rule(main)
