"""Examples of what a detector finds: what is kept of its outputs, and a file that somebody may have changed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from detections_factory import found_near, shapes

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json, sha256_of, sha256_of_files, write_json
from framewatt.datasets.contract import Arrays
from framewatt.datasets.storing import save_arrays
from framewatt.prepare import training
from framewatt.prepare.examples import LARGEST, NAME, NOT_PASSED_ON, Examples, keep_examples, read_examples
from framewatt.tasks import task_of


def kept(folder: Path, outputs: np.ndarray, data: Arrays) -> Examples:
    task: Any = task_of(data.task)
    return read_examples(folder / NAME, keep_examples(folder, outputs, task, data)["examples"])


@pytest.mark.parametrize("masks", [False, True])
def test_what_is_read_is_what_was_there_and_what_was_found(tmp_path: Path, *, masks: bool) -> None:
    data = shapes(masks=masks)
    outputs = found_near(data)
    shown = kept(tmp_path, outputs, data)
    objects: Any = data.y_test
    assert (shown.size, shown.class_names, shown.without_pixels) == ((64, 64), ("circle", "box", "triangle"), None)
    assert len(shown.images) == 2
    for number, image in enumerate(shown.images):
        assert image.pixels is not None
        assert np.abs(image.pixels / 255 - data.x_test[number].transpose(1, 2, 0)).max() <= 0.5 / 255 + 1e-6
        own = range(objects.starts[number], objects.starts[number + 1])
        assert [one.box for one in image.objects] == [tuple(objects.boxes[one].tolist()) for one in own]
        assert [one.kind for one in image.objects] == objects.classes[list(own)].tolist()
        rows = outputs[number][outputs[number, :, 4] >= 0]
        assert image.detected == len(rows)
        assert [one.score for one in image.detections] == pytest.approx(np.sort(rows[:, 4])[::-1], abs=1e-4)
        assert sorted(one.kind for one in image.detections) == sorted(rows[:, 5].tolist())
        assert all((one.runs is not None) == masks for one in (*image.objects, *image.detections))
        if masks:
            for one, number_of in zip(image.objects, own, strict=True):
                assert one.runs is not None
                assert one.runs[1::2].sum() == objects.mask(number_of).sum()


def test_of_many_detections_those_that_count_are_kept_with_how_many_there_were(tmp_path: Path) -> None:
    data = shapes()
    outputs = np.tile(found_near(data)[:, :1], (1, 300, 1))
    outputs[..., 4] = np.random.default_rng(0).random(outputs.shape[:2])
    image = kept(tmp_path, outputs, data).images[0]
    assert (image.detected, len(image.detections)) == (300, 100)
    assert image.detections[-1].score == pytest.approx(np.sort(outputs[0, :, 4])[-100], abs=1e-4)
    assert (tmp_path / NAME).stat().st_size < 200_000


def test_photographs_are_not_passed_on(tmp_path: Path) -> None:
    data = shapes()
    unsaid = {key: value for key, value in data.about.items() if key != "synthetic"}
    for about in (unsaid | {"synthetic": False}, unsaid):
        shown = kept(tmp_path, found_near(data), replace(data, about=about))
        assert shown.without_pixels == NOT_PASSED_ON
        assert all(image.pixels is None for image in shown.images)
        assert (tmp_path / NAME).stat().st_size < 10_000


def test_pixels_that_are_none_or_too_many_are_left_out_for_a_reason(tmp_path: Path) -> None:
    data = shapes()
    normalised = replace(data, x_test=data.x_test * 4 - 2)
    assert kept(tmp_path, found_near(data), normalised).without_pixels == "values of pixels are not from 0 to 1"
    large = shapes(images=1, size=LARGEST + 8)
    assert kept(tmp_path, found_near(large), large).without_pixels == f"images have sides of more than {LARGEST} pixels"


def test_outputs_that_are_no_detections_leave_the_reason(tmp_path: Path) -> None:
    data, task = shapes(), task_of("detection")
    told = keep_examples(tmp_path, np.full_like(found_near(data), np.nan), task, data)  # type: ignore[arg-type]
    assert told == {"examples": None, "examples_reason": "outputs are not numbers"}
    assert not list(tmp_path.iterdir())


def test_the_stage_keeps_them_beside_the_weights_whose_hash_they_are_no_part_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = shapes()
    save_arrays(tmp_path / "data.npz", data)
    (made := tmp_path / "made").mkdir()
    detector = SimpleNamespace(
        **{"task": task_of("detection"), "setup": lambda: None, "facts": dict, "batches": lambda epoch: [epoch]},
        **{"run": lambda batch: batch, "loss_of": float, "evaluate": lambda: found_near(data)},
        check_learns=lambda: None,
        save=lambda folder: (folder / "weights.pt").write_text("weights"),
    )
    monkeypatch.setattr(training, "make_training", lambda *_: detector)
    job = {"engine": "torch", "model": "ssd_small", "device": "cpu", "provider": "native", "threads": 1, "seed": 0}
    job |= {"batch_size": 8, "data": str(tmp_path / "data.npz"), "body": None, "folder": str(made)}
    for weights, epochs in (("trained", 2), ("seeded", 0)):
        write_json(tmp_path / "job.json", {**job, "weights": weights, "training": {"epochs": 2}})
        training.main(str(tmp_path / "job.json"))
        record = read_json(made / training.RECORD)
        assert len(record["epochs"]) == epochs
        assert ("examples" in record) == bool(epochs)
        assert record["weights_sha256"] == sha256_of_files([made / "weights.pt"], made)
        if epochs:
            assert len(read_examples(made / NAME, record["examples"]).images) == 2
            (made / NAME).unlink()
        (made / training.RECORD).unlink()
    assert not (made / NAME).exists()


Edit = Callable[[dict[str, Any]], object]
IMAGE = "images"
HOSTILE: dict[str, Edit] = {
    "a huge canvas": lambda c: c.update(size=[10**9, 10**9]),
    "no canvas": lambda c: c.update(size=[0, 64]),
    "more images": lambda c: c[IMAGE].append(c[IMAGE][0]),
    "pixels of another size": lambda c: c[IMAGE][0].update(pixels="00" * 7),
    "pixels that are none": lambda c: c[IMAGE][0].update(pixels="zz" * 64 * 64 * 3),
    "a score above 1": lambda c: c[IMAGE][0]["detections"][0].update(score=1.5),
    "a score as text": lambda c: c[IMAGE][0]["detections"][0].update(score="high"),
    "a detection without a score": lambda c: c[IMAGE][0]["detections"][0].update(score=None),
    "an object with a score": lambda c: c[IMAGE][0]["objects"][0].update(score=0.5),
    "a box that ends before it begins": lambda c: c[IMAGE][0]["objects"][0].update(box=[5, 5, 1, 9]),
    "a box of three edges": lambda c: c[IMAGE][0]["objects"][0].update(box=[5, 5, 9]),
    "a class below 0": lambda c: c[IMAGE][0]["objects"][0].update({"class": -1}),
    "a class that is half": lambda c: c[IMAGE][0]["objects"][0].update({"class": 0.5}),
    "a mask of all pixels and more": lambda c: c[IMAGE][0]["objects"][0].update(mask=[0, 10**6]),
    "a mask that goes back": lambda c: c[IMAGE][0]["objects"][0].update(mask=[5000, -904]),
    "fewer detections than it says": lambda c: c[IMAGE][0].update(found=50),
    "the least sure first": lambda c: c[IMAGE][0]["detections"].reverse(),
    "words that are none": lambda c: c.update(class_names=[1, 2, 3]),
    "an image that is a text": lambda c: c.update(images=["x"]),
    "no reason for no pixels": lambda c: [image.update(pixels=None) for image in c[IMAGE]],
    "nothing": lambda c: c.clear(),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_is_none_is_refused_in_a_line(what: str, tmp_path: Path) -> None:
    data = shapes(masks=True)
    kept(tmp_path, found_near(data), data)
    content = read_json(tmp_path / NAME)
    HOSTILE[what](content)
    write_json(tmp_path / NAME, content)
    told = {"images": 2, "sha256": sha256_of(tmp_path / NAME)}
    with pytest.raises(FramewattError, match=r"json does not hold examples as framewatt writes them: .+\. Train"):
        read_examples(tmp_path / NAME, told)


def test_another_file_than_was_told_of_is_refused(tmp_path: Path) -> None:
    data = shapes()
    task: Any = task_of(data.task)
    told = keep_examples(tmp_path, found_near(data), task, data)["examples"]
    (tmp_path / NAME).write_text(json.dumps(read_json(tmp_path / NAME)))
    with pytest.raises(FramewattError, match=r"was changed after its record was written \(checksum differs\)"):
        read_examples(tmp_path / NAME, told)
    (tmp_path / NAME).unlink()
    with pytest.raises(FramewattError, match="is missing, and the record of the weights names it"):
        read_examples(tmp_path / NAME, told)
