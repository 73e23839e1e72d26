"""What is derived is made again from raw traces and records, and compared: `make verify REBUILD=1`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from package_factory import ROOT, pack, results_tree

from framewatt.package.rebuild import DERIVED, rebuild

TABLE = "tables/energy_time.csv"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package whose table, and all that the table follows from, the workflow made."""
    root = tmp_path_factory.mktemp("made")
    results = results_tree(root)
    shutil.rmtree(results / "report")
    rebuild(pack(root, results), root / "first", ROOT)
    for folder in DERIVED:
        if (root / "first" / "rebuilt" / "results" / "trial" / folder).is_dir():
            shutil.copytree(
                root / "first" / "rebuilt" / "results" / "trial" / folder, results / folder, dirs_exist_ok=True
            )
    pack(root, results)
    return root


def call(script: str, *words: object) -> subprocess.CompletedProcess[str]:
    """A script as make calls it."""
    line = [sys.executable, "-P", ROOT / "scripts" / script, *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def verify(package: Path) -> subprocess.CompletedProcess[str]:
    """As `make verify REBUILD=1` calls it."""
    return call("verify.py", "--archive", package, "--rebuild")


def test_a_good_package_is_believed_as_a_whole(made: Path) -> None:
    done = verify(made / "framewatt-trial-0.1.0.zip")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "files made again, byte for byte" in done.stdout
    assert "REBUILD=1" not in done.stdout


def test_derived_files_that_follow_from_nothing_or_are_missing_are_named(made: Path, tmp_path: Path) -> None:
    root = shutil.copytree(made, tmp_path / "copy", ignore=shutil.ignore_patterns("first"))
    results = root / "results" / "trial"
    (results / TABLE).write_text("another,row\n")
    (results / "statistics" / "comparisons.csv").unlink()
    done = verify(pack(root, results))
    assert done.returncode == 1
    assert f"results/trial/{TABLE}: differs" in done.stdout
    assert "comparisons.csv: records and traces give it, and it is missing from the package" in done.stdout
    assert "what does not hold: derived files (2)" in done.stderr
    # The package's code is not this checkout's, which may derive otherwise than it did: that is said.
    assert "made by other code than this checkout's: with" in done.stderr


def test_a_package_is_rebuilt_within_limits(made: Path, tmp_path: Path) -> None:
    package = made / "framewatt-trial-0.1.0.zip"
    done = call("rebuild.py", "--archive", package, "--target", tmp_path / "again")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every file byte for byte" in done.stdout
    short = call("rebuild.py", "--archive", package, "--target", tmp_path / "short", "--memory-gb", "0.2")
    assert short.returncode == 1
    assert "memory" in short.stderr
    assert "Traceback" not in short.stderr
    assert not (tmp_path / "short").exists()


def test_a_package_that_is_not_believed_is_not_rebuilt(made: Path, tmp_path: Path) -> None:
    root = shutil.copytree(made, tmp_path / "copy", ignore=shutil.ignore_patterns("first"))
    frame = root / "results" / "trial" / "aggregate" / "runs.csv"
    frame.write_text(frame.read_text().replace("rapl", "perf"))
    done = call("rebuild.py", "--archive", pack(root, root / "results" / "trial"), "--target", tmp_path / "again")
    assert done.returncode == 1
    assert "Use a package that make verify accepts" in done.stderr
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("limit", ["nan", "inf", "-1", "0", "many"])
def test_a_limit_that_is_none_is_refused(made: Path, limit: str) -> None:
    done = call("verify.py", "--archive", made / "framewatt-trial-0.1.0.zip", f"--memory-gb={limit}")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
