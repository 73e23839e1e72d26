"""Wheels that are carried to a machine without a network: chosen by the locks, divided, put together, checked."""

import runpy
from pathlib import Path

import pytest
from checkout import ROOT

from framewatt.base.errors import FramewattError
from framewatt.gpu.wheels import NEEDED, divide, locked, requirements, size_of

FROM_WHEELS = runpy.run_path(str(ROOT / "scripts" / "from_wheels.py"))
LOCK = """\
# a comment
contourpy==1.3.2 ; python_version < '3.11' \\
    --hash=sha256:aa
contourpy==1.4.0 ; python_version >= '3.11' \\
    --hash=sha256:bb \\
    --hash=sha256:cc
    # via matplotlib
httpx[http2]==0.28.1 \\
    --hash=sha256:dd
pyreadline3==3.5 ; sys_platform == 'win32' \\
    --hash=sha256:ee
"""


@pytest.mark.parametrize(("text", "size_b"), [("60MB", 60_000_000), ("1.5 gb", 1_500_000_000), ("100", 100)])
def test_a_size_is_bytes(text: str, size_b: int) -> None:
    assert size_of(text) == size_b


@pytest.mark.parametrize("text", ["", "0MB", "60 parts", "-1MB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(FramewattError, match=r"SIZE: .* is not a size\. Use 60MB or 1GB\."):
        size_of(text)


def test_a_lock_has_one_requirement_a_name_that_holds_for_the_interpreter(tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    path.write_text(LOCK)
    httpx = {"httpx": "httpx==0.28.1 --hash=sha256:dd"}
    assert locked(path, "3.12") == {"contourpy": "contourpy==1.4.0 --hash=sha256:bb --hash=sha256:cc", **httpx}
    assert locked(path, "3.10") == {"contourpy": "contourpy==1.3.2 --hash=sha256:aa", **httpx}


def test_the_workflows_packages_and_any_package_of_a_lock_can_be_brought_along() -> None:
    wanted = requirements(ROOT, "3.12", ["onnxruntime_gpu"])
    assert wanted["snakemake"].startswith("snakemake==9.")
    assert wanted["onnxruntime-gpu"].startswith("onnxruntime-gpu==")
    assert "--hash=sha256:" in wanted["onnxruntime-gpu"]
    assert "uv" not in wanted
    with pytest.raises(FramewattError, match="EXTRA: no lock in envs/ has 'no-such-package'"):
        requirements(ROOT, "3.12", ["no-such-package"])


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A folder of three wheels, of 10, 300 and 2500 bytes."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name, size_b in (("small", 10), ("middle", 300), ("large", 2500)):
        (folder / f"{name}-1-py3-none-any.whl").write_bytes(bytes(i % 251 for i in range(size_b)))
    return folder


def test_a_wheel_that_is_larger_than_a_part_is_cut_and_put_together_again(wheels: Path, tmp_path: Path) -> None:
    folders = divide(wheels, tmp_path / "parts", size_b=1300, parts=3)
    assert all(sum(path.stat().st_size for path in folder.iterdir()) <= 1300 for folder in folders)
    again = tmp_path / "again"
    again.mkdir()
    found = FROM_WHEELS["joined"](folders, again)
    assert {path.name: path.read_bytes() for path in found} == {p.name: p.read_bytes() for p in wheels.iterdir()}


def test_pieces_of_more_than_nine_parts_are_put_together_in_their_order(wheels: Path, tmp_path: Path) -> None:
    folders = divide(wheels, tmp_path / "parts", size_b=520, parts=20)
    assert len(folders) > 9
    again = tmp_path / "again"
    again.mkdir()
    # A folder and its parts, too: no piece counts twice.
    found = FROM_WHEELS["joined"]([tmp_path / "parts", *reversed(folders)], again)
    assert {path.name: path.read_bytes() for path in found} == {p.name: p.read_bytes() for p in wheels.iterdir()}


def test_too_few_parts_are_refused_with_how_many_it_takes(wheels: Path, tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"need 3 parts of 0\.0013 MB\. Use PARTS=3"):
        divide(wheels, tmp_path / "parts", size_b=1300, parts=2)
    assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (
            lambda folders: next(folders[0].glob("large*")).unlink(),
            "large-1-py3-none-any.whl: the checksum of the 2 pieces",
        ),
        (
            lambda folders: next(folders[-1].rglob("small*")).write_bytes(b"x"),
            "small-1-py3-none-any.whl: the checksum of",
        ),
        (lambda folders: (folders[0] / "SHA256SUMS").write_text("aa  ../x.whl\n"), "hold 2 different lists SHA256SUMS"),
    ],
)
def test_wheels_that_are_not_whole_are_never_installed(wheels: Path, tmp_path: Path, spoil, reason: str) -> None:
    folders = divide(wheels, tmp_path / "parts", size_b=1300, parts=3)
    spoil(folders)
    with pytest.raises(SystemExit, match=reason):
        FROM_WHEELS["joined"](folders, tmp_path)


def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "SHA256SUMS").write_text("aa  ../x.whl\n")
    with pytest.raises(SystemExit, match=r"lists '\.\./x\.whl', which is not a wheel"):
        FROM_WHEELS["joined"]([tmp_path], tmp_path)


def test_the_list_of_needed_packages_has_one_name_in_both_files() -> None:
    assert FROM_WHEELS["NEEDED"] == NEEDED
