"""Rule base_image: a Debian with Python, from this machine's own package mirror."""

from pathlib import Path

from framewatt.base.cli import run
from framewatt.environments.images import build_image, debian_mirror


def main() -> None:
    """Build it."""
    definition, image = Path(snakemake.input.definition), Path(snakemake.output.image)
    build_image(definition, image, [f"mirror={debian_mirror()}"], [], Path(snakemake.log[0]).absolute())


run(main)
