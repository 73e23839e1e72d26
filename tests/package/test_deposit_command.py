"""`make deposit`: a dry run unless it is confirmed, of a package that verifies."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from package_factory import ROOT, make_package
from zenodo import TOKEN, Zenodo


def command(package: Path, zenodo: Zenodo, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The script behind `make deposit`."""
    given = {"PYTHONPATH": str(ROOT / "src"), "ALLOW_HOST": "127.0.0.1", **environment}
    line = [sys.executable, "-P", "scripts/deposit.py", "--archive", str(package), "--server", zenodo.address, *words]
    return subprocess.run(line, cwd=ROOT, env={**os.environ, **given}, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_package(tmp_path_factory.mktemp("made"))


def test_without_confirmation_nothing_is_sent(genuine: Path, zenodo: Zenodo) -> None:
    done = command(genuine, zenodo, DEPOSIT_TOKEN=TOKEN)
    assert (done.returncode, zenodo.asked) == (0, []), done.stderr
    assert "verified), 'A trial', as a draft on" in done.stdout
    assert "dry run: nothing was sent; add CONFIRM=1 to upload" in done.stdout


def test_the_command_uploads_and_keeps_the_token_to_itself(genuine: Path, zenodo: Zenodo) -> None:
    done = command(
        genuine, zenodo, "--confirm", **{"DEPOSIT_TOKEN": f" {TOKEN}\n", "ZENODO_SANDBOX_TOKEN": "tok_of_zenodo"}
    )
    assert done.returncode == 0, done.stderr
    assert f"publish it here: {zenodo.address}/deposit/1" in done.stdout
    assert zenodo.drafts[1]["metadata"]["creators"] == [{"name": "Doe, Jane"}]
    kept = "".join(path.read_text() for path in genuine.parent.glob("*.deposit.json"))
    assert TOKEN not in done.stdout + done.stderr + kept
    assert zenodo.tokens == {f"Bearer {TOKEN}"}


def test_a_package_that_does_not_verify_is_not_sent(genuine: Path, zenodo: Zenodo, tmp_path: Path) -> None:
    with zipfile.ZipFile(genuine) as whole, zipfile.ZipFile(tmp_path / "changed.zip", "w") as changed:
        for name in whole.namelist():
            changed.writestr(name, whole.read(name) + (b" " if name.endswith(".html") else b""))
    for name in ("changed.zip", "none.zip"):
        done = command(tmp_path / name, zenodo, "--confirm", DEPOSIT_TOKEN=TOKEN)
        assert done.returncode == 1
        assert done.stderr.startswith("framewatt: ")
        assert done.stderr.count("\n") == 1
    assert zenodo.asked == []


@pytest.mark.parametrize("token", ["", "tok_1\n2345678", "tok_für_zenodo"])
def test_a_token_that_is_none_is_one_line(genuine: Path, zenodo: Zenodo, token: str) -> None:
    done = command(genuine, zenodo, "--confirm", DEPOSIT_TOKEN=token)
    assert done.returncode == 1
    assert done.stderr.startswith("framewatt: deposit: there ")
    assert done.stderr.count("\n") == 1
    assert "tok_" not in done.stderr
    assert zenodo.asked == []
