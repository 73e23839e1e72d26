"""What a package says beside what is read: labels, keys that come twice, bytes of the zip that are no entry's."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from forger import Forger, assert_noticed
from package_factory import CELL, make_package

from framewatt.base.errors import FramewattError
from framewatt.package.unpack import unpack

TRAIN = "data/results/trial/train/resnet50-digits-torch/train.json"
RUN = f"data/results/trial/measure/{CELL}/1/run.json"
ENTRY = "data/results/trial/measure/chain.jsonl"


def added(name: str, text: str) -> Callable[[Forger], object]:
    """A text at the end of a file."""
    return lambda forger: (forger.folder / name).write_text((forger.folder / name).read_text() + text)


def replaced(name: str, old: str, new: str) -> Callable[[Forger], object]:
    return lambda forger: forger.text(name, old, new)


FORGED: dict[str, tuple[Callable[[Forger], object], str]] = {
    "a label added": (added("bag-info.txt", "Contact-Name: Doe\n"), "bag-info.txt: it has .*, Contact-Name. A package"),
    "a label twice": (added("bag-info.txt", "Bagging-Date: 2026-01-01\n"), "bag-info.txt: it has"),
    "a folded label": (added("bag-info.txt", "  and 12 more\n"), "bag-info.txt: it has"),
    "a line that is no label": (added("bag-info.txt", "\n\n"), "bag-info.txt: it has"),
    "a label in another place": (
        replaced("bag-info.txt", r"(Bagging-Date: \S+\n)(External-Description: .*\n)", r"\2\1"),
        "bag-info.txt: it has",
    ),
    "a version of bags added": (added("bagit.txt", "BagIt-Version: 1.1\n"), "bagit.txt: not what"),
    "a key twice in a record": (
        replaced(RUN, r'"valid": true,', '"valid": false, "valid": true,'),
        "'valid' occurs twice",
    ),
    "a key twice in a record of weights": (replaced(TRAIN, r"\{", '{"status": "failed",'), "'status' occurs twice"),
    "a key twice in a file that nothing else reads": (
        lambda forger: (forger.data / "own-models.json").write_text('{"a": 1, "a": 2}'),
        "own-models.json: not JSON: the key 'a' occurs twice",
    ),
    "a key twice in the chain": (replaced(ENTRY, r"\{", '{"kind": "found", '), "'kind' occurs twice"),
    "a key twice in the crate": (
        replaced("data/ro-crate-metadata.json", r"\{", '{"@graph": [],'),
        "'@graph' occurs twice",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_can_be_read_in_two_ways_is_noticed(forger: Forger, name: str) -> None:
    edit, essence = FORGED[name]
    edit(forger)
    forger.mend()
    assert_noticed(forger, essence)


def before(content: bytes) -> bytes:
    return b"#!/bin/sh\necho hello\n" + content


def behind(content: bytes) -> bytes:
    return content + b"and more"


def commented(content: bytes) -> bytes:
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"trust me"
    return file.getvalue()


def between(content: bytes) -> bytes:
    """An entry's bytes stay, and the list names it no more."""
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        gone = archive.infolist()[3]
        archive.filelist.remove(gone)
        archive.comment = b"x"
        archive.comment = b""
    return file.getvalue()


def before_the_list(content: bytes) -> bytes:
    """An entry that the list does not name, behind the last one."""
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("framewatt-trial-0.1.0/secret.txt", "x" * 100)
        archive.filelist.pop()
    return file.getvalue()


def streamed(content: bytes) -> bytes:
    """The same entries, written where nobody could go back, so that sizes stand behind them."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise OSError

        def tell(self) -> int:
            raise OSError

    pipe = Pipe()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(pipe, "w") as again:
        for entry in archive.infolist():
            again.writestr(entry, archive.read(entry))
    return pipe.getvalue()


def with_fields(content: bytes) -> bytes:
    """The same entries, each with a field that only some programs read."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(file, "w") as again:
        for entry in archive.infolist():
            entry.extra = b"UT\x05\x00\x01\x00\x00\x00\x00"
            again.writestr(entry, archive.read(entry))
    return file.getvalue()


def another_name(content: bytes) -> bytes:
    """What the entry itself calls its file is not what the list does."""
    return content.replace(b"framewatt-trial-0.1.0/data/LICENSE", b"framewatt-trial-0.1.0/data/LICENCE", 1)


@pytest.mark.parametrize(
    "change", [before, behind, commented, between, before_the_list, streamed, with_fields, another_name]
)
def test_bytes_of_a_zip_that_are_no_entrys_are_refused(
    tmp_path: Path, change: Callable[[bytes], bytes], packed: Path
) -> None:
    package = tmp_path / packed.name
    package.write_bytes(change(packed.read_bytes()))
    with pytest.raises(FramewattError) as caught:
        unpack(package, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good package, as a zip."""
    return make_package(tmp_path_factory.mktemp("packed"))


def test_a_package_of_more_entries_than_a_small_zip_can_have_is_taken(tmp_path: Path) -> None:
    package = tmp_path / "many.zip"
    with zipfile.ZipFile(package, "w") as archive:
        for number in range(1 << 16):
            archive.writestr(f"many/{number}.txt", b"")
    with zipfile.ZipFile(package) as archive:
        from framewatt.package.unpack import problem_of_form

        assert problem_of_form(package, archive) is None
