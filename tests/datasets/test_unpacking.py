"""Archives from outside: each that is not plainly files in folders is refused, and nothing of it is left."""

import gzip
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.sources import unpack_archive


def entry(name: str, content: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> tuple:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(content), kind, link
    return info, content


def archive_of(path: Path, *entries: tuple) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for info, content in entries:
            tar.addfile(info, BytesIO(content))
    return path


def test_files_and_folders_are_unpacked(tmp_path: Path) -> None:
    archive = archive_of(
        tmp_path / "x.tar.gz",
        entry("data", b"", tarfile.DIRTYPE),
        entry("data/a", b"first"),
        entry("./data/sub/b", b"second"),
    )
    unpack_archive(archive, tmp_path / "target")
    found = {
        p.relative_to(tmp_path / "target").as_posix(): p.read_bytes() for p in (tmp_path / "target").glob("*/**/[ab]")
    }
    assert found == {"data/a": b"first", "data/sub/b": b"second"}


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([entry("/tmp/evil")], "an absolute name"),
        ([entry("C:\\evil")], "an absolute name"),
        ([entry("data/../../evil")], "a name that leaves its folder"),
        ([entry("data/link", b"", tarfile.SYMTYPE, "/etc/passwd")], "something other than a plain file"),
        ([entry("data/link", b"", tarfile.LNKTYPE, "data/a")], "something other than a plain file"),
        ([entry("data/device", b"", tarfile.CHRTYPE)], "something other than a plain file"),
        ([entry("data/pipe", b"", tarfile.FIFOTYPE)], "something other than a plain file"),
        ([entry("data/a"), entry("./data/a")], "the name twice"),
        ([entry("data/big", bytes(5000))], "too many bytes"),
        ([entry("data/a", bytes(600)), entry("data/b", bytes(600))], "too many bytes"),
    ],
)
def test_what_does_not_belong_into_a_data_set_is_refused(tmp_path: Path, entries: list, reason: str) -> None:
    archive = archive_of(tmp_path / "x.tar.gz", entry("data/first"), *entries)
    with pytest.raises(FramewattError, match=f"it has {reason}. Use plain files in folders"):
        unpack_archive(archive, tmp_path / "inside" / "target", largest_b=1000)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["x.tar.gz"]


def test_an_archive_that_is_cut_short_is_told(tmp_path: Path) -> None:
    whole = archive_of(tmp_path / "x.tar.gz", entry("data/a", bytes(range(256)) * 400)).read_bytes()
    for length in (0, 10, len(whole) // 2):
        (tmp_path / "x.tar.gz").write_bytes(whole[:length])
        with pytest.raises(FramewattError, match=r"x.tar.gz: it is not a readable archive"):
            unpack_archive(tmp_path / "x.tar.gz", tmp_path / "target")
        assert not (tmp_path / "target").exists()
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(b"no tar file" * 100))
    with pytest.raises(FramewattError, match=r"x.tar.gz: it is not a readable archive"):
        unpack_archive(tmp_path / "x.tar.gz", tmp_path / "target")


def zip_of(path: Path, *entries: tuple[str, bytes, int]) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for name, content, mode in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            packed.writestr(info, content)
    return path


def test_a_zip_is_unpacked_too(tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "x.zip", ("raw/", b"", 0o40755), ("raw/a", b"first", 0o100644), ("raw/b", b"second", 0))
    unpack_archive(archive, tmp_path / "target")
    assert [(tmp_path / "target/raw" / name).read_bytes() for name in "ab"] == [b"first", b"second"]


@pytest.mark.parametrize(
    ("name", "mode", "found"),
    [
        ("../evil", 0o100644, "a name that leaves its folder"),
        ("/evil", 0o100644, "an absolute name"),
        ("link", 0o120777, "something other than a plain file"),
        ("large", 0o100644, "too many bytes"),
    ],
)
def test_a_hostile_zip_is_refused(tmp_path: Path, name: str, mode: int, found: str) -> None:
    archive = zip_of(tmp_path / "x.zip", ("fine", b"x", 0o100644), (name, bytes(200), mode))
    with pytest.raises(FramewattError, match=f"{name}.*it has {found}"):
        unpack_archive(archive, tmp_path / "target", largest_b=100 if name == "large" else 1000)
    assert not (tmp_path / "target").exists()
    assert not (tmp_path / "evil").exists()
