"""`make rebuild ARCHIVE=x.zip`: frames, statistics, tables, figures and report again, from raw traces and records."""

import time

from framewatt.cli import arguments, run
from framewatt.identity import ROOT
from framewatt.package.rebuild import rebuild


def main() -> None:
    """Rebuild into a folder, compare, and end with 1 where anything differs."""
    args = arguments(__doc__, "archive", "target")
    begin = time.monotonic()
    differences = rebuild(args.archive, args.target, ROOT)
    for difference in differences:
        print(difference)
    if differences:
        raise SystemExit(f"framewatt: {args.archive}: {len(differences)} files differ; both are in {args.target}")
    print(f"{args.archive}: rebuilt in {time.monotonic() - begin:.0f} s, every file byte for byte; see {args.target}")


if __name__ == "__main__":
    run(main)
