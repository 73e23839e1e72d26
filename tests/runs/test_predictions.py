"""Which test samples a run answered right: kept, read back, and refused where they are not what the record says."""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framewatt.base.errors import FramewattError
from framewatt.datasets.contract import Images
from framewatt.runs.predictions import as_bytes, predictions_entry, read_right
from framewatt.runs.worker import with_predictions, without_quality
from framewatt.tasks.classification import Classification
from framewatt.tasks.quality import described

RIGHT = np.array([True, False, True, True, False, False, True, True, False, True])


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "right.bits"
    path.write_bytes(as_bytes(RIGHT))
    return path


@pytest.mark.parametrize("samples", [1, 7, 8, 9, 360, 10_000])
def test_answers_come_back_as_they_were_in_a_bit_a_sample(tmp_path: Path, samples: int) -> None:
    right = np.random.default_rng(samples).random(samples) < 0.9
    path = tmp_path / "right.bits"
    path.write_bytes(as_bytes(right))
    assert np.array_equal(read_right(path, predictions_entry(right)), right)
    assert path.stat().st_size <= samples // 8 + 60
    assert predictions_entry(right)["right"] == right.sum()


def rewritten(content: bytes, **told: Any) -> tuple[bytes, dict[str, Any]]:
    """A file and a record that has its hash."""
    return content, {**predictions_entry(RIGHT), "sha256": hashlib.sha256(content).hexdigest(), **told}


BEHIND = as_bytes(RIGHT)[:-1] + bytes([as_bytes(RIGHT)[-1] | 1])


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (rewritten(as_bytes(RIGHT)[:-1]), "40 bytes are not a plain file of 41"),
        (rewritten(as_bytes(RIGHT) + b"\0"), "42 bytes are not a plain file of 41"),
        (rewritten(as_bytes(RIGHT), samples=11), "does not start with 'framewatt: right answers to 11"),
        (rewritten(as_bytes(RIGHT), samples=999_999_999), "bytes are not a plain file of 125000046"),
        (
            rewritten(as_bytes(~RIGHT), sha256=predictions_entry(RIGHT)["sha256"]),
            "was changed after its record was written",
        ),
        (rewritten(as_bytes(~RIGHT)), "4 right answers are not the recorded 6"),
        (rewritten(BEHIND), "bits after the last of 10 samples"),
        (rewritten(b"\x80\x04" + as_bytes(RIGHT)[2:]), "does not start with"),
        (rewritten(b""), "0 bytes are not"),
    ],
    ids=["shorter", "longer", "of others", "huge", "other bits", "other count", "padding", "a pickle", "empty"],
)
def test_a_file_that_is_not_what_the_record_says_is_refused(
    kept: Path, file: tuple[bytes, dict[str, Any]], message: str
) -> None:
    content, told = file
    kept.write_bytes(content)
    with pytest.raises(FramewattError, match=message):
        read_right(kept, told)


def test_no_link_is_followed_and_nothing_but_a_file_is_read(kept: Path, tmp_path: Path) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(kept)
    os.mkfifo(pipe)
    for path in (link, pipe, tmp_path, tmp_path / "nowhere"):
        with pytest.raises(FramewattError, match="Restore the file"):
            read_right(path, predictions_entry(RIGHT))


def test_the_answers_are_those_of_which_the_accuracy_is(tmp_path: Path) -> None:
    labels = np.array([0, 1, 2, 1, 0])
    data = Images(np.zeros((1, 1, 2, 2), np.float32), labels[:1], np.zeros((5, 1, 2, 2), np.float32), labels)
    outputs = np.eye(3)[[0, 1, 1, 1, 2]]
    judged = Classification().judge(outputs, data)
    assert judged.right is not None
    assert (judged.right.mean(), judged.right.tolist()) == (judged.values["accuracy"], [True, True, False, True, False])
    assert Classification().judge(np.full((5, 3), np.nan), data).right is None


def test_a_result_has_a_file_only_where_accuracy_is_known(tmp_path: Path) -> None:
    path = tmp_path / "right.bits"
    result = {"quality": described({"accuracy": 0.6}, None), "right": RIGHT}
    random = without_quality(result, "weights are random")
    assert with_predictions(random, path).keys() == {"quality"}
    assert not path.exists()
    assert with_predictions(result, path)["predictions"] == predictions_entry(RIGHT)
    assert np.array_equal(read_right(path, predictions_entry(RIGHT)), RIGHT)
