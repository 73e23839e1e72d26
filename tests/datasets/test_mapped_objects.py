"""Images with objects from a file: mapped, so that none is read before it is asked for, and batches are the same."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from resident import needs_proc, resident_mb

from framewatt.base.errors import FramewattError
from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.datasets.mapped import is_mapped
from framewatt.datasets.objects import Targets
from framewatt.datasets.storing import load_arrays, save_arrays
from framewatt.tasks.detection import Segmentation
from framewatt.workloads.contract import Inference, Inputs, Spec, Training

ROOT = Path(__file__).parents[2]
SHAPES = {"module": "synthetic_shapes", "train_samples": 7, "test_samples": 5, "size": 32, "most": 3, "seed": 0}
SPEC = Spec(model="m", batch_size=2, device="cpu", provider="native", threads=1, seed=1, artefact=None, training={})


class Given:
    """A model in no framework: batches are the arrays that it is handed."""

    def tensors(self, arrays: Iterable[Any]) -> Inputs:
        return tuple(arrays)

    def labels(self, values: Any) -> Any:
        return values


class Answering(Given, Inference):
    setup = run = synchronize = facts = None  # type: ignore[assignment]  # nothing is run


class Learning(Given, Training):
    setup = run = synchronize = facts = evaluate = loss_of = save = None  # type: ignore[assignment]  # likewise


@pytest.fixture(scope="module")
def drawn() -> Arrays:
    return make_arrays({**SHAPES, "masks": True})


@pytest.fixture
def path(drawn: Arrays, tmp_path: Path) -> Path:
    save_arrays(tmp_path / "some.npz", drawn)
    return tmp_path / "some.npz"


def test_images_boxes_and_masks_are_mapped(path: Path) -> None:
    data = load_arrays(path)
    of_objects = {f"{split}/{name}": values for split in ("train", "test") for name, values in _objects(data, split)}
    assert {name: is_mapped(values) for name, values in of_objects.items()} == dict.fromkeys(of_objects, True)
    assert is_mapped(data.x_train)
    assert is_mapped(data.x_test)


def _objects(data: Arrays, split: str) -> Iterable[tuple[str, np.ndarray]]:
    objects: Any = getattr(data, f"y_{split}")
    return objects.arrays().items()


def test_batches_are_bit_for_bit_those_of_memory_and_are_read_before_a_window(path: Path, drawn: Arrays) -> None:
    """A slice of the file would be read when the model looks at it, within the window, and lie where none takes it."""
    data = load_arrays(path)
    pairs = zip(Answering(SPEC, data).batches(), Answering(SPEC, drawn).batches(), strict=True)
    for (found,), (wanted,) in pairs:
        assert (found.tobytes(), found.shape, found.dtype) == (wanted.tobytes(), wanted.shape, wanted.dtype)
        assert not is_mapped(found)
        assert found.flags.aligned
    for epoch in (1, 2):
        pairs = zip(Learning(SPEC, data).batches(epoch), Learning(SPEC, drawn).batches(epoch), strict=True)
        for ((images,), targets), ((same,), wanted) in pairs:
            assert isinstance(targets, Targets)
            assert images.tobytes() == same.tobytes()
            assert [part.tobytes() for part in targets] == [part.tobytes() for part in wanted]
            assert not any(is_mapped(values) for values in (images, *targets))


def test_what_is_mapped_is_judged_as_what_is_in_memory(path: Path, drawn: Arrays) -> None:
    data = load_arrays(path)
    outputs = np.zeros((5, 3, Segmentation.width), np.float32)
    outputs[..., :4] = [4, 4, 20, 20]
    outputs[..., 4], outputs[..., 6:] = 0.5, 1
    assert Segmentation().judge(outputs, data) == Segmentation().judge(outputs, drawn)


def test_the_file_is_numpy_s_as_before_so_that_its_hash_is_too(path: Path, drawn: Arrays, tmp_path: Path) -> None:
    with np.load(path) as content:
        np.savez(tmp_path / "plain.npz", **content)
    save_arrays(tmp_path / "again.npz", load_arrays(path))
    assert path.read_bytes() == (tmp_path / "plain.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_what_is_written_into_it_stays_out_of_the_file(path: Path) -> None:
    before = path.read_bytes()
    data = load_arrays(path)
    data.x_test[:] = 9
    assert path.read_bytes() == before


def test_no_training_images_are_nothing_to_be_mapped(drawn: Arrays, tmp_path: Path) -> None:
    objects: Any = drawn.y_train
    none = {name: values[:0] for name, values in objects.arrays().items()}
    nobody = replace(objects, **{**none, "starts": np.zeros(1, np.int64), "run_starts": np.zeros(1, np.int64)})
    save_arrays(tmp_path / "some.npz", replace(drawn, x_train=drawn.x_train[:0], y_train=nobody))
    data = load_arrays(tmp_path / "some.npz")
    assert (data.x_train.shape, len(data.y_train), len(data.x_test)) == ((0, 3, 32, 32), 0, 5)


def test_a_file_that_ends_early_or_is_compressed_is_one_line(path: Path, tmp_path: Path) -> None:
    """A map beyond the end of a file would end the process when it is looked at, without a word."""
    whole = path.read_bytes()
    for length in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:length])
        with pytest.raises(FramewattError, match=r"some\.npz: cannot read a data set"):
            load_arrays(path)
    path.write_bytes(whole)
    with np.load(path) as content:
        np.savez_compressed(tmp_path / "packed.npz", **content)
        np.savez(tmp_path / "wide.npz", **{**content, "x_test": content["x_test"].astype(float)})
    with pytest.raises(FramewattError, match="is compressed or encrypted"):
        load_arrays(tmp_path / "packed.npz")
    with pytest.raises(FramewattError, match=r"x_test is of shape .*, float64. Use 4 axes of float32"):
        load_arrays(tmp_path / "wide.npz")


@needs_proc
def test_images_are_not_read_until_they_are_looked_at(drawn: Arrays, tmp_path: Path) -> None:
    many = np.arange(8000) % 7
    objects: Any = drawn.y_train
    empty = {name: values[:0] for name, values in objects.arrays().items()}
    none = replace(objects, **{**empty, "starts": np.zeros(8001, np.int64), "run_starts": np.zeros(1, np.int64)})
    save_arrays(tmp_path / "some.npz", replace(drawn, x_train=drawn.x_train[many], y_train=none))
    loaded_mb, read_mb = resident_mb(tmp_path / "some.npz", "data = load_arrays(path)", "data.x_train.sum()")
    assert loaded_mb < 20
    # Had the first number been that of a process whose memory is not counted, this one would be small, too.
    assert read_mb > 90
