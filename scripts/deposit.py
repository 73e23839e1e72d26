"""`make deposit ARCHIVE=x.zip`: a draft on Zenodo, in the sandbox by default; a dry run unless confirmed."""

import argparse
import os
from pathlib import Path

from framewatt.base.cli import run, say
from framewatt.package.deposit import Deposit, verified
from framewatt.package.deposit_server import OTHERS_TOKEN, SANDBOX, TOKENS, ZENODO, Server, address_of, clean_token


def main() -> None:
    """Say what would be done, or do it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, required=True)
    parser.add_argument("--server", default=SANDBOX, help=f"{SANDBOX}, {ZENODO}, or one that ALLOW_HOST names")
    parser.add_argument("--confirm", action="store_true", help="really upload")
    args = parser.parse_args()
    address = address_of(args.server, os.environ.get("ALLOW_HOST", "").split())
    variable = TOKENS.get(address, OTHERS_TOKEN)
    token = clean_token(os.environ.get(variable), variable) if args.confirm else ""
    package = verified(args.archive)
    size = args.archive.stat().st_size / 1e6
    say(f"{args.archive.name} ({size:.1f} MB, verified), {package.metadata['title']!r}, as a draft on {address}")
    if not args.confirm:
        say("dry run: nothing was sent; add CONFIRM=1 to upload")
        return
    page = Deposit(package, Server(address, token, variable)).upload()
    say(f"uploaded; look at it and publish it here: {page}")


if __name__ == "__main__":
    run(main)
