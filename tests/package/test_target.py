"""Where a package is signed or made again: a folder that cannot take it is one true line, before anything is done."""

import subprocess
from pathlib import Path

import pytest
from package_factory import pack, results_tree
from test_rebuilding import call
from test_signature import key

UNWRITABLE = Path("/proc/framewatt")
"""The kernel's folder, in which not even root makes a file."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("package")
    return pack(root, results_tree(root))


def rebuild(package: Path, target: Path) -> str:
    """What make rebuild says where it refuses."""
    done = call("rebuild.py", "--archive", package, "--target", target)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("name", "why"),
    [("file", "File exists"), ("file/below", "Not a directory"), (str(UNWRITABLE), "No such file or directory")],
)
def test_a_target_that_cannot_be_written_is_told(package: Path, tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "file").write_text("in the way")
    assert f"{tmp_path / name} cannot be written ({why}). Use an empty folder, or a new one" in (
        rebuild(package, tmp_path / name)
    )
    assert (tmp_path / "file").read_text() == "in the way"


def test_what_an_ended_rebuild_left_is_told_with_the_way_on(package: Path, tmp_path: Path) -> None:
    (tmp_path / "again" / "package").mkdir(parents=True)
    assert (
        f"{tmp_path / 'again'} holds what an earlier make rebuild left, finished or not. Remove {tmp_path / 'again'} "
        "and run it again, or use an empty folder, or a new one, where you may write (TARGET=…)."
    ) in rebuild(package, tmp_path / "again")


def test_files_of_anyone_are_not_called_a_rebuilds(package: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    said = rebuild(package, tmp_path)
    assert "holds files. Use an empty" in said
    assert "Remove" not in said


def test_a_refused_package_leaves_no_new_folder_and_an_old_one(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"none")
    (tmp_path / "old").mkdir()
    for name in ("old", "new"):
        assert "is not a readable zip file" in rebuild(tmp_path / "x.zip", tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "x.zip"]


def test_a_signature_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    jane = key(tmp_path / "keys", "jane")
    package = tmp_path / "x.zip"
    package.write_bytes(b"PK")
    package.with_name("x.zip.sig").mkdir()
    done = call("sign.py", "--archive", package, "--key", jane)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert f"sign: {package}.sig cannot be written (Is a directory). Copy the package into a" in done.stderr
    assert not list(tmp_path.glob(".*"))


def test_a_package_in_a_read_only_folder_is_told_when_it_is_signed(tmp_path: Path) -> None:
    jane = key(tmp_path / "keys", "jane")
    folder = tmp_path / "read-only"
    folder.mkdir()
    (folder / "x.zip").write_bytes(b"PK")
    if subprocess.run(["chattr", "+i", folder], capture_output=True, check=False).returncode:
        folder.chmod(0o555)
    try:
        done = call("sign.py", "--archive", folder / "x.zip", "--key", jane)
        if done.returncode == 0:
            pytest.skip("root may write everywhere here, and no folder can be made immutable")
    finally:
        subprocess.run(["chattr", "-i", folder], capture_output=True, check=False)
        folder.chmod(0o755)
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
