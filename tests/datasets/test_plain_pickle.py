"""Pickles of data sets: what they hold is read, what they would run is not."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.cifar import read_plain_pickle


def pickled(path: Path, content: object, protocol: int = 2) -> Path:
    path.write_bytes(pickle.dumps(content, protocol))
    return path


class Runs:
    """Unpickling it calls a function."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple:
        return self.call


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_containers_and_arrays_of_numbers_come_back(tmp_path: Path, protocol: int) -> None:
    content = {"data": np.arange(12, dtype=np.uint8).reshape(3, 4), b"labels": [1, 2], "text": ("a", None, 1.5)}
    found = read_plain_pickle(pickled(tmp_path / "batch", content, protocol))
    assert found["data"].tolist() == content["data"].tolist()
    assert (found[b"labels"], found["text"]) == ([1, 2], ("a", None, 1.5))


def test_a_pickle_of_python_2_comes_with_its_text_as_bytes(tmp_path: Path) -> None:
    # {"data": array([[1, 2]], dtype=uint8)} as Python 2 and its numpy wrote it in 2009.
    (tmp_path / "batch").write_bytes(
        b"\x80\x02}U\x04datacnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
        b"(K\x01(K\x01K\x02tcnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U\x02\x01\x02tbs."
    )
    found = read_plain_pickle(tmp_path / "batch")
    assert list(found) == [b"data"]
    assert found[b"data"].dtype == np.uint8
    assert found[b"data"].tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (Runs(os.system, "touch ran"), "it has posix.system in a pickle. Use containers"),
        (Runs(eval, "open('ran', 'w')"), "it has (__builtin__|builtins).eval in a pickle"),
        ([Runs(np.load, "x")], "it has numpy.load in a pickle"),
        ({"data": np.array([os.getcwd], dtype=object)}, "it has an array of 'O8' in a pickle. Use numbers"),
        (Path("x"), "it has pathlib.Posix"),
    ],
)
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_anything_else_is_refused_and_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: object, reason: str, protocol: int
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FramewattError, match=f"batch: {reason}"):
        read_plain_pickle(pickled(tmp_path / "batch", content, protocol))
    assert [path.name for path in tmp_path.iterdir()] == ["batch"]


def test_every_truncation_is_told(tmp_path: Path) -> None:
    whole = pickle.dumps({"data": np.arange(6, dtype=np.uint8)}, 2)
    for length in range(len(whole)):
        (tmp_path / "batch").write_bytes(whole[:length])
        with pytest.raises(FramewattError, match="batch: it has no whole pickle"):
            read_plain_pickle(tmp_path / "batch")
