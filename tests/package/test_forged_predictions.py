"""Packages whose predictions were changed: verify recounts accuracy from them."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from forger import Forger, assert_noticed, put
from package_factory import CELL

from framewatt.base.files import read_json
from framewatt.package.verification.opened import open_package
from framewatt.package.verification.statement import statement_of
from framewatt.package.verify import problems_of
from framewatt.runs.predictions import NAME, as_bytes, predictions_entry, read_right

RECORD, BITS = "run.json", NAME


def right_of(forger: Forger) -> tuple[Path, np.ndarray]:
    path = forger.run(CELL) / BITS
    return path, read_right(path, read_json(forger.run(CELL) / RECORD)["predictions"])


def one_more_right(forger: Forger) -> None:
    """In the file and in what the record states of it, and not in the accuracy."""
    path, right = right_of(forger)
    right[np.flatnonzero(~right)[0]] = True
    path.write_bytes(as_bytes(right))
    forger.record(CELL, put("predictions", predictions_entry(right)))


def other_bits(forger: Forger) -> None:
    path, right = right_of(forger)
    path.write_bytes(as_bytes(np.roll(right, 1)))


def fewer_samples(forger: Forger) -> None:
    path, right = right_of(forger)
    path.write_bytes(as_bytes(right[:-10]))
    forger.record(CELL, put("predictions", predictions_entry(right[:-10])))


def huge(forger: Forger) -> None:
    forger.record(CELL, put("predictions.samples", 10**9))


def pickled(forger: Forger) -> None:
    path = forger.run(CELL) / BITS
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    path.with_name(f"{BITS}.npy").rename(path)
    forger.record(CELL, put("predictions.sha256", hashlib.sha256(path.read_bytes()).hexdigest()))


def linked(forger: Forger) -> None:
    path = forger.run(CELL) / BITS
    path.rename(forger.folder / BITS)
    path.symlink_to(forger.folder / BITS)


@pytest.mark.parametrize(
    ("edit", "essence"),
    [
        (lambda forger: (forger.run(CELL) / BITS).unlink(), "b1/1: right.bits cannot be opened"),
        (one_more_right, "quality.accuracy: the record states 0.9, right.bits gives 0.902778"),
        (lambda forger: forger.record(CELL, put("quality.accuracy.value", 325 / 360)), "right.bits gives 0.9"),
        (other_bits, "right.bits was changed after its record was written"),
        (fewer_samples, "right.bits: the record states 350 answers, the data set has 360"),
        (huge, "right.bits: 85 bytes are not a plain file of 125000047 bytes"),
        (pickled, "right.bits: .* bytes are not a plain file of"),
        (linked, "right.bits"),
        (
            lambda forger: forger.record(CELL, put("predictions.right", 323)),
            "324 right answers are not the",
        ),
        (lambda forger: forger.record(CELL, put("predictions.samples", 0)), "predictions.samples: 0 is less than"),
        (lambda forger: forger.record(CELL, put("predictions.sha256", "x")), "predictions.sha256: 'x' does not match"),
        (
            lambda forger: forger.record(CELL, put("quality.accuracy.value", None)),
            "has none, and right.bits has",
        ),
        (
            lambda forger: forger.record(CELL, lambda record: record.pop("predictions") and None),
            "b1/1/right.bits: no file of a run",
        ),
        (lambda forger: (forger.run(CELL) / "right.npy").write_bytes(b"x"), "b1/1/right.npy: no file of a run"),
    ],
)
def test_other_predictions_than_the_runs_are_noticed(
    forger: Forger, edit: Callable[[Forger], object], essence: str
) -> None:
    edit(forger)
    forger.mend()
    assert_noticed(forger, essence)


def test_a_package_from_before_they_were_kept_is_believed_and_says_so(forger: Forger) -> None:
    for path in forger.results.glob(f"measure/*/*/{BITS}"):
        path.unlink()
    forger.every_record(lambda record: record.pop("predictions") and None)
    forger.follow(open_package(forger.folder).study.settings)
    forger.mend()
    assert list(problems_of(forger.folder)) == []
    said = "\n".join(statement_of(open_package(forger.folder), None))
    assert "accuracy of 6 runs, for their predictions are not stored" in said
