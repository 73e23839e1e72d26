"""`make fetch PAPER=… URL=… CHECKSUM=… SIZE_B=…`: raw results that a paper's authors published, by their checksum."""

import argparse
from pathlib import Path

from framewatt.base.cli import run
from framewatt.base.errors import FramewattError
from framewatt.datasets.download import Checksum
from framewatt.datasets.sources import ENDINGS, fetch_source, is_archive, name_of
from framewatt.papers import PAPERS

RAW_RESULTS = {name: paper.raw_results for name, paper in PAPERS.items() if paper.raw_results}
"""How to recognise a paper's raw results. The folder above a match is the one to name in the configuration."""


def main() -> None:
    """Download, check, unpack, and say how to go on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paper", choices=RAW_RESULTS, required=True)
    parser.add_argument("--url", required=True, help="of a .zip, .tar.gz or .tgz")
    parser.add_argument("--checksum", required=True, help="sha256:<hexadecimal>, as in the record that has the file")
    parser.add_argument("--size-b", type=int, required=True, help="bytes of the file")
    args = parser.parse_args()
    checksum = str(Checksum.parse(args.checksum))
    if args.size_b < 1:
        raise FramewattError(f"SIZE_B: {args.size_b} is not the size of a file. Use its number of bytes.")
    folder = Path("resources/raw") / args.paper
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = {"url": args.url, "checksum": checksum, "size_b": args.size_b}
    if not is_archive(name := name_of(file)):
        raise FramewattError(f"URL: {name!r} is not an archive. Use a file that ends in {', '.join(ENDINGS)}.")
    fetch_source(args.paper, {"page": args.url, "files": [file]}, folder)
    wanted = RAW_RESULTS[args.paper].folders
    folders = {path.parents[name.count("/")] for name in wanted for path in folder.rglob(name) if path.is_dir()}
    if not folders:
        raise FramewattError(
            f"{args.url}: the archive has no folder {' or '.join(wanted)}, so it does not hold the raw results of "
            f"{args.paper}. Give the address of their archive."
        )
    shallowest = min(folders, key=lambda path: (len(path.parts), path))
    print(f"fetched; now: snakemake --cores 1 published --config published_{args.paper}={shallowest}")


if __name__ == "__main__":
    run(main)
