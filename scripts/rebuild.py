"""`make rebuild ARCHIVE=x.zip`: frames, statistics, tables, figures and report again, from raw traces and records."""

import argparse
import time
from pathlib import Path

from framewatt.base.cli import run, say
from framewatt.base.ending import scratch_folder
from framewatt.base.errors import FramewattError
from framewatt.package.confined import Limits, check, rebuild_confined
from framewatt.package.paths import empty_folder
from framewatt.package.rebuild import not_compared_in
from framewatt.package.verification.earlier import but_for_added


def main() -> None:
    """Rebuild what verify believes into a folder, compare, and end with 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, required=True)
    parser.add_argument("--target", type=Path, required=True)
    Limits.add_arguments(parser)
    args = parser.parse_args()
    limits = Limits.from_arguments(args)
    begin = time.monotonic()
    with empty_folder(args.target):
        with scratch_folder() as scratch:
            problems = check(args.archive, scratch, limits, rebuild=False)["problems"]
        if problems:
            raise FramewattError(f"{args.archive}: {problems[-1]}. Use a package that make verify accepts.")
        differences = rebuild_confined(args.archive, args.target, limits)
    for difference in differences:
        say(difference)
    if differences:
        raise FramewattError(
            f"{args.archive}: {len(differences)} files differ from the rebuilt ones. Compare them in {args.target}."
        )
    (results,) = (args.target / "package").glob("*/data/results/*")
    left = not_compared_in(results)
    but = but_for_added(results)
    but += f" but those that are not compared ({', '.join(left)})" if left else ""
    took_s = time.monotonic() - begin
    say(f"{args.archive}: rebuilt in {took_s:.0f} s, every file byte for byte{but}; see {args.target}")


if __name__ == "__main__":
    run(main)
