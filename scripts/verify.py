"""`make verify ARCHIVE=x.zip`: whether a package is whole and tells the truth about itself."""

import tempfile
from pathlib import Path

from framewatt.cli import arguments, run
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of, summary_of


def main() -> None:
    """Say what is wrong with it, and end with 1 then."""
    package = arguments(__doc__, "archive").archive
    with tempfile.TemporaryDirectory(prefix="framewatt-") as scratch:
        folder = unpack(package, Path(scratch))
        problems = list(problems_of(folder))
        for problem in problems:
            print(problem)
        if problems:
            raise SystemExit(f"framewatt: {package}: {len(problems)} problems")
        print(f"{package}: {summary_of(folder)}")


if __name__ == "__main__":
    run(main)
