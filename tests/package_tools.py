"""What a genuine package must pass: framewatt's own tools."""

from pathlib import Path

from checkout import ROOT, Checkout

from framewatt.package.rebuild import rebuild
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of


def packed(checkout: Checkout, study: str, config: str) -> Path:
    """The package of a study, made by `all archive`."""
    answer = checkout.snakemake("all", "archive", config=f"study={study} {config}")
    assert answer.code == 0, answer.text
    (package,) = (checkout.root / "results" / study / "archive").glob("*.zip")
    return package


def passes_its_own_tools(package: Path, folder: Path) -> None:
    """Verified, and rebuilt byte for byte by the code of the real checkout, in an empty folder."""
    assert list(problems_of(unpack(package, folder / "unpacked"))) == []
    assert rebuild(package, folder / "again", ROOT) == []
