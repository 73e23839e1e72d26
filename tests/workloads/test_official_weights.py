"""A file of official weights is known by its whole hash, or by the one that it had when it was first used."""

import hashlib
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.workloads.official import KNOWN, LEARNT, trusted


def offered(folder: Path, content: bytes) -> tuple[Path, str, str]:
    """A file called as torchvision calls its own, the digits in its name, and its whole hash."""
    whole = hashlib.sha256(content).hexdigest()
    path = folder / f"resnet50-{whole[:8]}.pth"
    path.write_bytes(content)
    return path, whole[:8], whole


@pytest.fixture
def colliding(tmp_path: Path) -> tuple[Path, bytes, str]:
    """A file, and another content whose SHA-256 begins alike: with two digits, a search of no time at all."""
    first = b"official"
    digits = hashlib.sha256(first).hexdigest()[:2]
    other = next(b"%d" % n for n in range(10**6) if hashlib.sha256(b"%d" % n).hexdigest()[:2] == digits)
    path = tmp_path / f"resnet50-{digits}.pth"
    path.write_bytes(first)
    return path, other, digits


def test_another_file_whose_hash_begins_alike_is_refused(colliding: tuple[Path, bytes, str]) -> None:
    path, other, digits = colliding
    known = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}
    assert trusted(path, digits, known)["sha256_is"] == "known"
    path.write_bytes(other)
    with pytest.raises(FramewattError, match=rf"its SHA-256 is {digits}.*, and should be {known[path.name]}\. Delete"):
        trusted(path, digits, known)


def test_a_hash_is_recorded_printed_and_compared(
    colliding: tuple[Path, bytes, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path, other, digits = colliding
    whole = hashlib.sha256(path.read_bytes()).hexdigest()
    assert trusted(path, digits, {}) == {"file": path.name, "sha256": whole, "sha256_is": "learnt now"}
    assert f"recorded its SHA-256 {whole}. Compare it with another source" in capsys.readouterr().out
    assert trusted(path, digits, {})["sha256_is"] == "as learnt"
    path.unlink()
    path.write_bytes(other)
    with pytest.raises(
        FramewattError, match=rf"should be {whole} as .*{LEARNT} recorded at its first use\. Delete the file"
    ):
        trusted(path, digits, {})


def test_what_is_learnt_of_one_file_says_nothing_of_others(tmp_path: Path) -> None:
    for content in (b"one", b"two"):
        path, prefix, whole = offered(tmp_path, content)
        assert trusted(path, prefix, {})["sha256"] == whole
    assert trusted(path, prefix, {})["sha256_is"] == "as learnt"


def test_the_digits_that_a_zoo_publishes_hold_too(tmp_path: Path) -> None:
    path, _, _ = offered(tmp_path, b"one")
    with pytest.raises(FramewattError, match=r"its SHA-256 is .*, and should be 00000000\.\.\.\. Delete the file"):
        trusted(path, "00000000", {})
    assert not (tmp_path / LEARNT).exists()


def test_every_known_hash_is_whole_and_begins_as_its_file_is_called() -> None:
    for name, whole in KNOWN.items():
        assert (len(whole), set(whole) <= set("0123456789abcdef")) == (64, True)
        assert Path(name).stem.rpartition("-")[2] == whole[:8]
