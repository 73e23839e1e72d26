"""`make merge ARCHIVES="a.zip b.zip" [STUDY=…]`: one study that several machines measured, as one results tree."""

import argparse
import subprocess
import sys

from framewatt.base.cli import run, say
from framewatt.base.ending import scratch_folder
from framewatt.package.confined import Limits
from framewatt.package.merge import merge
from framewatt.package.paths import archives_of, name_of


def main() -> None:
    """Verify the packages, lay them out, and have Snakemake make all that follows from them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", required=True)
    parser.add_argument("--study", default="")
    Limits.add_arguments(parser)
    args = parser.parse_args()
    archives, name = archives_of(args.archives), name_of(args.study)
    with scratch_folder() as scratch:
        study = merge(archives, name, scratch, Limits.from_arguments(args))
    say(f"study: {study}; making its statistics, figures, report and package")
    words = ["--cores", "1", "archive", "--config", f"study={study}"]
    raise SystemExit(subprocess.run([sys.executable, "-m", "snakemake", *words], check=False).returncode)


if __name__ == "__main__":
    run(main)
