"""Rule image: an environment as a container image."""

import tempfile
from pathlib import Path

from framewatt.base.cli import run
from framewatt.environments.images import base_arguments, build_image, fetch_packages


def main() -> None:
    """Fetch the packages of the lock and build the image from them."""
    definition, image, log = Path(snakemake.input.definition), Path(snakemake.output.image), Path(snakemake.log[0])
    image.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".packages-", dir=image.parent) as packages:
        fetch_packages(Path(snakemake.input.locks[0]), Path(packages), log)
        arguments = base_arguments(snakemake.params.base, Path("resources/images/base.sif"))
        build_image(definition, image, arguments, [f"{Path(packages).absolute()}:/mnt"], log.absolute())
    print(f"image {snakemake.wildcards.environment}: {image.stat().st_size / 1e6:.0f} MB")


run(main)
