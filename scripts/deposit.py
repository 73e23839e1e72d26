"""`make deposit ARCHIVE=x.zip`: a draft on Zenodo, the sandbox unless told otherwise; a dry run unless confirmed."""

import argparse
import os
from pathlib import Path

from framewatt.cli import run
from framewatt.errors import FramewattError
from framewatt.package.deposit import SANDBOX, TOKENS, ZENODO, Deposit, metadata_of


def main() -> None:
    """Say what would be done, or do it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, required=True)
    parser.add_argument("--server", default=SANDBOX, help=f"{SANDBOX}, {ZENODO}, or another that speaks the same")
    parser.add_argument("--confirm", action="store_true", help="really upload")
    args = parser.parse_args()
    metadata = metadata_of(args.archive)
    size = args.archive.stat().st_size / 1e6
    print(f"{args.archive.name} ({size:.1f} MB), {metadata['title']!r}, as a draft on {args.server}")
    if not args.confirm:
        print("dry run: nothing was sent; add CONFIRM=1 to upload")
        return
    variable = TOKENS.get(args.server, TOKENS[SANDBOX])
    token = os.environ.get(variable)
    if not token:
        raise FramewattError(f"deposit: found no token in {variable}; allowed: a token of {args.server}")
    print(f"uploaded; look at it and publish it here: {Deposit(args.archive, args.server, token).upload()}")


if __name__ == "__main__":
    run(main)
