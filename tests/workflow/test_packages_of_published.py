"""Studies of papers' raw results, and of own runs beside them: packed, verified, rebuilt byte for byte."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import authors_files
import pytest
import stand_ins
import yaml
from checkout import ROOT, Checkout
from package_tools import packed, passes_its_own_tools


@pytest.mark.thorough
def test_a_study_beside_the_results_of_a_papers_authors(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    stand_ins.install(checkout)
    authors_files.write_itu2023(tmp_path / "authors")
    study = yaml.safe_load((ROOT / "config/studies/itu2023-cpu.yaml").read_text())
    checkout.write_study("itu2023-cpu", **stand_ins.small(study, repetitions=2))
    package = packed(checkout, "itu2023-cpu", f"{stand_ins.CONFIG} published_itu2023={tmp_path / 'authors'}")
    with zipfile.ZipFile(package) as archive:
        assert any("/results/itu2023-cpu/authors/itu2023_verdicts.csv" in name for name in archive.namelist())
    passes_its_own_tools(package, tmp_path)
    shutil.rmtree(tmp_path / "authors")
    before = package.read_bytes()
    again = packed(checkout, "itu2023-cpu", stand_ins.CONFIG)
    assert again.read_bytes() == before, "it stands when the authors' files are gone"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("study", "write"),
    [
        ("georgiou2022-published", authors_files.write_georgiou2022),
        ("itu2023-published", authors_files.write_itu2023),
    ],
)
def test_a_study_of_files(study: str, write: Callable[[Path], None], tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "checkout")
    write(tmp_path / "authors")
    config = f"published_{study.partition('-')[0]}={tmp_path / 'authors'} trust_profiles=True"
    package = packed(checkout, study, config)
    before = package.read_bytes()
    package.unlink()
    answer = checkout.snakemake("archive", config=f"study={study} {config}")
    assert answer.code == 0, answer.text
    assert package.read_bytes() == before, "`archive` alone gives the bytes of `all archive`"
    passes_its_own_tools(package, tmp_path)
