"""`make verify ARCHIVE=x.zip [REBUILD=1 SIGNERS=…]`: whether a package is complete and consistent."""

import argparse
from pathlib import Path

from framewatt.base.cli import run, say
from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.package.confined import Limits, check
from framewatt.package.signature import signed_by


def main() -> None:
    """Print what is wrong with it, and end with 1; else print what was proven, and what was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, required=True)
    parser.add_argument("--rebuild", action="store_true", help="make all that is derived again, and compare")
    parser.add_argument("--signers", type=Path, help="who may have signed it, a line each: who, public key")
    Limits.add_arguments(parser)
    args = parser.parse_args()
    signed = signed_by(args.archive, args.signers)
    limits = Limits.from_arguments(args)
    with scratch_folder() as scratch:
        outcome = check(args.archive, scratch, limits, args.rebuild)
    for line in [*outcome["problems"][:-1], *outcome["said"]]:
        say(line)
    if outcome["problems"]:
        raise FramewattError(f"{args.archive}: {outcome['problems'][-1]}")
    say(f"{args.archive}: nothing is wrong with it; {signed}")


if __name__ == "__main__":
    run(main)
