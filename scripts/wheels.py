"""`make wheels WHEELS=dir SIZE=60MB PARTS=2`: a folder of wheels for a machine without a network, see `make gpu`."""

import argparse
from pathlib import Path

from framewatt.base.cli import run, say
from framewatt.gpu.wheels import fill, requirements, size_of


def main() -> None:
    """Download by the locks' hashes, and divide into parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheels", type=Path, required=True, help="folder that does not exist yet")
    parser.add_argument("--size", default="1GB", help="of a part at most")
    parser.add_argument("--parts", type=int, default=1, help="how many there may be")
    parser.add_argument("--python-version", default="3.12", help="of the interpreter that will use them")
    parser.add_argument("--without", default="", help="names of packages that it has")
    parser.add_argument("--extra", default="", help="names of further packages of any lock")
    args = parser.parse_args()
    wanted = requirements(Path(), args.python_version, args.extra.split())
    size_b = size_of(args.size)
    folders = fill(args.wheels, wanted, args.without.split(), args.python_version, size_b, args.parts)
    for folder in folders:
        say(f"{folder}: {sum(path.stat().st_size for path in folder.iterdir()) / 1e6:.1f} MB")
    say(f'There: make gpu WHEELS="{" ".join(map(str, folders))}"')


if __name__ == "__main__":
    run(main)
