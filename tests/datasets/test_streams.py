"""Streams of tokens: cut into segments without a copy, stored once, and mapped when they are loaded."""

import struct
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from resident import needs_proc, resident_mb

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.datasets.contract import Arrays
from framewatt.datasets.mapped import mapped, write_npz
from framewatt.datasets.ragged import IGNORED
from framewatt.datasets.record import record_of
from framewatt.datasets.segments import by_frequency, make_segments, renumber
from framewatt.datasets.storing import load_arrays, save_arrays

TRAIN = np.arange(11)
TEST = np.array([5, 6, 7, 8, 9, 10])


def stream(train: np.ndarray = TRAIN, test: np.ndarray = TEST, segment: int = 3, vocabulary: int = 11) -> Arrays:
    return make_segments(
        train, test, segment=segment, vocabulary=vocabulary, about={"synthetic": True}, task="language_modelling"
    )


def test_each_segment_has_its_tokens_and_the_token_after_each() -> None:
    data = stream()
    assert data.x_train.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert data.y_train.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert data.x_test.tolist() == [[5, 6, 7], [8, 9, 0]]
    assert data.y_test.tolist() == [[6, 7, 8], [9, 10, IGNORED]]
    assert data.more_test["targets"].tolist() == [[6, 7, 8], [9, 10, 0]]
    assert (data.lengths_train.tolist(), data.lengths_test.tolist()) == ([3, 3, 3], [3, 2])
    assert list(data.inputs_test) == ["input_ids", "targets"]
    assert (data.task, data.classes, data.segment, data.input_shape) == ("language_modelling", 11, 3, (3,))


def test_what_is_left_out_of_training_is_counted() -> None:
    told = {"synthetic": True, "vocabulary": 11, "train_tokens": 11, "test_tokens": 6}
    assert stream().about == {**told, "train_tokens_left_out": 1}
    assert stream(segment=10).about["train_tokens_left_out"] == 0


@pytest.mark.parametrize("segment", [1, 2, 3, 4, 5, 7, 50])
@pytest.mark.parametrize("count", [2, 3, 7, 8, 9, 50])
def test_every_test_token_but_the_first_is_predicted_once(count: int, segment: int) -> None:
    test = np.random.default_rng(count).integers(11, size=count)
    data = stream(np.zeros(51, np.int64), test, segment)
    assert data.labels(test=True).tolist() == test[1:].tolist()
    assert data.x_test[data.y_test != IGNORED].tolist() == test[:-1].tolist()
    assert data.lengths_test.sum() == count - 1


def test_training_segments_are_the_stream_itself() -> None:
    train = np.arange(1000) % 11
    data = stream(train, segment=7)
    for values in (data.x_train, data.y_train, data.more_train["targets"], data.labels(test=False)):
        assert np.shares_memory(values, train)
    assert data.labels(test=False).tolist() == train[1:995].tolist()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"segment": 0}, "segment: 0 is too small. Use 1 token or more"),
        ({"segment": -3}, "segment: -3 is too small"),
        ({"test": TEST[:1]}, "test tokens: there are 1. Use 2 or more"),
        ({"test": TEST[:0]}, "test tokens: there are 0. Use 2 or more"),
        ({"train": TRAIN[:3]}, "training tokens: there are 3. Use 4 or more, for one segment"),
        ({"train": TRAIN[:0]}, "training tokens: there are 0. Use 4 or more"),
        ({"vocabulary": 10}, "training tokens: ids are 0 to 10. Use 0 to 9"),
        ({"train": TRAIN - 1}, "training tokens: ids are -1 to 9. Use 0 to 10"),
        ({"test": TEST + 1}, "test tokens: ids are 6 to 11. Use 0 to 10"),
        ({"train": TRAIN.astype(np.int32)}, r"training tokens have shape \(11,\), int32. Use \(n,\) int64"),
        ({"test": TEST.reshape(2, 3)}, r"test tokens have shape \(2, 3\), int64. Use \(n,\) int64"),
    ],
)
def test_what_is_no_stream_is_refused(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(FramewattError, match=f"^{reason}"):
        stream(**changed)


def test_the_record_counts_tokens_and_lists_no_vocabulary() -> None:
    data = stream(np.zeros(300_000, np.int64), segment=100, vocabulary=267_735)
    record = record_of("some", {}, "0", data, [])
    assert (record["task"], record["classes"], record["longest"]) == ("language_modelling", 267_735, 100)
    assert (record["train_units"], record["test_units"]) == (299_900, 5)
    assert (record["train_samples"], record["test_samples"]) == (2999, 1)
    assert len(str(record)) < 1000


def saved(folder: Path, data: Arrays, name: str = "some.npz") -> Path:
    save_arrays(folder / name, data)
    return folder / name


def test_the_file_holds_each_stream_once_and_gives_the_same_arrays_back(tmp_path: Path) -> None:
    data = stream(np.arange(100_000) % 11, segment=7)
    path = saved(tmp_path, data)
    assert path.stat().st_size < 8 * (100_000 + 6) + 4096
    with np.load(path) as content:
        assert {"tokens_train", "tokens_test", "segment"} < set(content.files)
        assert content["tokens_train"].tolist() == (np.arange(99_996) % 11).tolist()
    again = load_arrays(path)
    for name in ("x_train", "y_train", "x_test", "y_test", "lengths_train", "lengths_test"):
        assert np.array_equal(getattr(again, name), getattr(data, name)), name
    assert np.array_equal(again.more_test["targets"], data.more_test["targets"])
    assert (again.about, again.classes, again.segment) == (data.about, 11, 7)
    assert sha256_of(saved(tmp_path, again, "again.npz")) == sha256_of(path)


def test_any_reader_of_zip_finds_the_file_whole(tmp_path: Path) -> None:
    with zipfile.ZipFile(saved(tmp_path, stream())) as packed:
        assert packed.testzip() is None


def test_what_is_mapped_is_aligned_and_what_is_written_into_it_stays_out_of_the_file(tmp_path: Path) -> None:
    path = saved(tmp_path, stream())
    before = path.read_bytes()
    data = load_arrays(path)
    for values in (data.x_train, data.y_train):
        assert values.flags.aligned
        assert values.flags.writeable
        assert type(values) is np.ndarray
    data.x_train[:] = 9
    assert path.read_bytes() == before
    assert load_arrays(path).x_train[0].tolist() == [0, 1, 2]


@needs_proc
def test_a_long_stream_is_not_read_until_it_is_looked_at(tmp_path: Path) -> None:
    path = saved(tmp_path, stream(np.zeros(25_000_000, np.int64), segment=100))
    loaded_mb, read_mb = resident_mb(
        path, "data = load_arrays(path)", "data.x_train[-1].sum(); data.labels(test=False).sum()"
    )
    assert loaded_mb < 20
    # Had the first number been that of a process whose memory is not counted, this one would be small, too.
    assert read_mb > 180


def content(**changed: Any) -> dict[str, Any]:
    """What a file of streams holds, with some of it changed, or left out by None."""
    whole = {
        "tokens_train": TRAIN,
        "tokens_test": TEST,
        "segment": np.int64(3),
        "class_count": np.int64(11),
        "about": np.array("{}"),
        "task": np.array("language_modelling"),
    }
    return {name: values for name, values in {**whole, **changed}.items() if values is not None}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"tokens_train": TRAIN.astype(np.int32)}, r"tokens_train is of shape \(11,\), int32. Use \(n,\) int64"),
        ({"tokens_train": TRAIN.astype(">i8")}, r"tokens_train is of shape \(11,\), >i8. Use \(n,\) int64"),
        ({"tokens_train": np.zeros((4, 5), np.int64, order="F")}, r"tokens_train is of shape \(4, 5\), int64"),
        ({"tokens_test": np.int64(3)}, r"tokens_test is of shape \(\), int64. Use \(n,\) int64"),
        ({"tokens_train": None}, "There is no item named 'tokens_train.npy' in the archive"),
        ({"tokens_test": None}, "There is no item named 'tokens_test.npy' in the archive"),
        ({"tokens_train": TRAIN[:0]}, "training tokens: there are 0. Use 4 or more"),
        ({"tokens_train": TRAIN[:3]}, "training tokens: there are 3. Use 4 or more"),
        ({"segment": np.int64(0)}, "segment: 0 is too small. Use 1 token or more"),
        ({"class_count": np.int64(10)}, "data set: targets are 6 to 10. Use 0 to 9"),
        ({"tokens_test": TEST - 6}, "data set: tokens are -1 to 3. Use 0 to 10"),
    ],
)
def test_a_file_of_no_streams_is_one_line(tmp_path: Path, changed: dict[str, Any], reason: str) -> None:
    path = tmp_path / "some.npz"
    write_npz(path, content(**changed))
    with pytest.raises(FramewattError, match=rf"some\.npz: cannot read .*{reason}.* Remove the file") as caught:
        load_arrays(path)
    assert "\n" not in str(caught.value)


def test_a_compressed_stream_is_refused(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "some.npz", **content())
    with pytest.raises(FramewattError, match="tokens_train is compressed or encrypted"):
        load_arrays(tmp_path / "some.npz")


def test_a_stream_of_objects_is_refused_before_it_is_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "some.npz", **content(tokens_train=np.array([print], object)), allow_pickle=True)
    with pytest.raises(FramewattError, match=r"tokens_train is of shape \(1,\), object. Use \(n,\) int64"):
        load_arrays(tmp_path / "some.npz")


def test_a_stream_that_lies_where_no_framework_takes_it_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "some.npz", "w") as packed:
        for name, values in content().items():
            with packed.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asanyarray(values))
    with pytest.raises(FramewattError, match="tokens_train begins at byte 174"):
        load_arrays(tmp_path / "some.npz")


def test_a_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, stream())
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(FramewattError, match=r"some\.npz: cannot read a data set"):
            load_arrays(path)


def test_a_file_that_does_not_hold_what_it_says_is_refused(tmp_path: Path) -> None:
    """A map beyond the end of a file would end the process when it is looked at, without a word."""
    path = saved(tmp_path, stream())
    whole = path.read_bytes()
    lies = {
        "tokens_train has 80 bytes for 99 values": (b"'shape': (10,), }", b"'shape': (99,), }"),
        "tokens_train has 80 bytes for -9 values": (b"'shape': (10,), }", b"'shape': (-9,), }"),
        "tokens_train is not where the file's directory has it": (b"PK\x03\x04", b"PK\x03\x05"),
        "tokens_train is of shape .10,., float64": (b"'<i8'", b"'<f8'"),
        "tokens_train is of shape .10,., int64. Use .n,. int64": (
            b"'fortran_order': False",
            b"'fortran_order': True ",
        ),
        "tokens_train is .npy of version": (b"\x93NUMPY\x01", b"\x93NUMPY\x09"),
        "magic string is not correct": (b"\x93NUMPY\x01", b"\x93NUMPI\x01"),
    }
    for reason, (old, new) in lies.items():
        path.write_bytes(whole.replace(old, new, 1))
        with pytest.raises(ValueError, match=reason):
            mapped(path, "tokens_train")
        with pytest.raises(FramewattError, match=r"some\.npz: cannot read a data set"):
            load_arrays(path)


def test_a_stream_that_says_twice_to_be_longer_than_its_file_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, stream())
    changed = bytearray(path.read_bytes().replace(b"'shape': (10,), }  ", b"'shape': (9999,), }", 1))
    # The first entry of the archive's directory, whose sizes stand 20 bytes behind its begin.
    entry = changed.index(b"PK\x01\x02")
    struct.pack_into("<II", changed, entry + 20, *[128 + 8 * 9999] * 2)
    path.write_bytes(changed)
    with pytest.raises(ValueError, match=r"tokens_train ends at byte 80\d\d\d, and the file at \d+"):
        mapped(path, "tokens_train")


def test_any_byte_may_be_wrong_and_the_answer_is_one_line_or_arrays(tmp_path: Path) -> None:
    path = saved(tmp_path, stream())
    whole = path.read_bytes()
    told = []
    for place in range(0, len(whole), 5):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        try:
            assert load_arrays(path).x_train.shape == (3, 3)
        except FramewattError as error:
            told.append(str(error))
    assert len(told) > len(whole) / 15
    assert not [line for line in told if "\n" in line]


def test_segments_that_are_no_stream_are_not_saved(tmp_path: Path) -> None:
    data = stream()
    copied = replace(data, x_train=data.x_train.copy())
    with pytest.raises(FramewattError, match="training segments are not cut from one stream in memory"):
        saved(tmp_path, copied)
    with pytest.raises(FramewattError, match="test segments do not follow each other in one stream"):
        saved(tmp_path, calibrated(data, [0, 0]))
    short_first = replace(
        data,
        x_test=np.array([[5, 6, 0], [7, 8, 9]]),
        y_test=np.array([[6, 7, IGNORED], [8, 9, 10]]),
        more_test={"targets": np.array([[6, 7, 0], [8, 9, 10]])},
        lengths_test=np.array([2, 3]),
    )
    with pytest.raises(FramewattError, match="test segments do not follow each other in one stream"):
        saved(tmp_path, short_first)


def calibrated(data: Arrays, rows: list[int]) -> Arrays:
    """Some training segments as a test set, as calibration takes them."""
    return replace(
        data,
        x_test=data.x_train[rows],
        y_test=data.y_train[rows],
        more_test={"targets": data.more_train["targets"][rows]},
        lengths_test=data.lengths_train[rows],
    )


def test_any_segments_may_be_tested_and_the_first_ones_learnt() -> None:
    data = calibrated(stream(), [2, 0])
    assert data.labels(test=True).tolist() == [7, 8, 9, 1, 2, 3]
    first = {name: getattr(data, name)[:2] for name in ("x_train", "y_train")}
    fewer = replace(data, **first, more_train={"targets": first["y_train"]})
    assert fewer.labels(test=False).tolist() == [1, 2, 3, 4, 5, 6]


X, Y = np.array([[0, 1, 2], [3, 4, 0]]), np.array([[1, 2, 3], [4, 5, IGNORED]])
TARGETS = {"targets": np.array([[1, 2, 3], [4, 5, 0]])}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"class_count": None}, "segments of tokens have no class_count"),
        ({"more_test": {}}, r"inputs after segments are \[\]"),
        ({"more_train": {"target": X}}, r"inputs after segments are \['target'\]"),
        ({"segment": 4}, r"segments have shapes \(3, 3\) int64, .*. Use \(3, 4\) int64 for all three"),
        ({"x_train": np.zeros((3, 3), np.float32)}, r"segments have shapes \(3, 3\) float32"),
        ({"y_train": np.zeros((2, 3), np.int64)}, r"segments have shapes \(3, 3\) int64, \(2, 3\) int64"),
        ({"lengths_test": np.array([3, 0])}, r"test segments have \[3, 0\] tokens. Use one segment or more of 1 to 3"),
        ({"lengths_test": np.array([3, 4])}, r"test segments have \[3, 4\] tokens"),
        (
            {"y_test": np.array([[1, 2, 3], [4, 5, 0]])},
            "targets are not the labels. Use the labels",
        ),
        ({"more_test": {"targets": Y}}, "targets are not the labels. Use the labels"),
        ({"x_test": np.array([[0, 9, 2], [3, 4, 0]])}, "labels are not the token after each"),
        ({"x_test": np.array([[0, 1, 2], [3, 11, 0]])}, "tokens are 0 to 11. Use 0 to 10"),
        ({"class_count": 5}, "targets are 1 to 5. Use 0 to 4"),
    ],
)
def test_arrays_that_are_no_segments_are_told(changed: dict[str, Any], reason: str) -> None:
    fine = replace(stream(), x_test=X, y_test=Y, more_test=TARGETS, lengths_test=np.array([3, 2]))
    with pytest.raises(FramewattError, match=f"data set: .*{reason}"):
        replace(fine, **changed)


def test_ids_are_given_by_falling_frequency_and_among_equals_by_the_old_id() -> None:
    tokens = np.array([3, 1, 3, 0, 2, 2, 4])
    ranks = by_frequency(tokens, 6)
    assert ranks.tolist() == [2, 3, 0, 1, 4, 5]
    renumber(tokens, ranks)
    assert tokens.tolist() == [1, 3, 1, 2, 0, 0, 4]


def test_a_long_stream_is_renumbered_whole() -> None:
    tokens = np.arange(3_000_001) % 5
    renumber(tokens, np.array([4, 3, 2, 1, 0]))
    assert np.array_equal(tokens, 4 - np.arange(3_000_001) % 5)
