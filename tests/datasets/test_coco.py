"""Photographs with objects in COCO's form, as they are read."""

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from coco_factory import OPTIONS, PARTS, SIZE, annotation, content, encoded, photograph, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pycocotools import mask as tools
from pycocotools.coco import COCO
from samples import sample

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.datasets import make_arrays
from framewatt.datasets.contract import Arrays
from framewatt.datasets.objects import encode_mask
from framewatt.datasets.record import record_of
from framewatt.datasets.sources import fetch_source
from framewatt.datasets.storing import load_arrays, save_arrays
from framewatt.tasks import task_of
from framewatt.tasks.boxes import BOX, MASK

REAL = {
    "module": "coco",
    "size": 320,
    "masks": True,
    "train": ["annotations/instances_train2017.json", "train2017"],
    "test": ["annotations/instances_val2017.json", "val2017"],
}


def read(folder: Path, **changes: Any) -> Arrays:
    return make_arrays({**OPTIONS, **changes}, {"folder": folder})


def image_of(arrays: Arrays, number: int) -> int:
    """The place of a test image, which its colour tells."""
    return [round(float(image[0, 0, 0]) * 25.5) for image in arrays.x_test].index(number)


def numbers_on(arrays: Arrays, number: int) -> range:
    place = image_of(arrays, number)
    return range(*arrays.y_test.starts[place : place + 2])


@pytest.fixture(scope="module")
def real() -> Arrays:
    return make_arrays(REAL, {"folder": sample("coco2017-ccby")})


def test_images_are_half_as_large_and_padded_below(tmp_path: Path) -> None:
    arrays = read(write(tmp_path))
    assert (arrays.x_train.shape, arrays.x_test.shape) == ((2, 3, 32, 32), (3, 3, 32, 32))
    assert arrays.x_test.dtype == np.float32
    image = arrays.x_test[image_of(arrays, 3)]
    assert np.unique(image[:, :16]).tolist() == pytest.approx([30 / 255, 50 / 255, 100 / 255])
    assert not image[:, 16:].any()
    stretched = read(tmp_path, resize="stretch").x_test
    assert stretched[:, 1] == pytest.approx(100 / 255)


@pytest.mark.parametrize(
    ("preprocessing", "green"), [("unit", 100 / 255), ("torch", (100 / 255 - 0.456) / 0.224), ("tf", 100 / 127.5 - 1)]
)
def test_values_are_as_asked_for_and_the_padding_is_0_in_all(tmp_path: Path, preprocessing: str, green: float) -> None:
    arrays = read(write(tmp_path), preprocessing=preprocessing)
    assert arrays.x_test[:, 1, :16] == pytest.approx(green)
    assert not arrays.x_test[:, :, 16:].any()
    assert "padded with 0" in arrays.about["preprocessing"]


def test_objects_have_boxes_classes_masks_and_areas_of_their_square(tmp_path: Path) -> None:
    arrays = read(write(tmp_path))
    objects, (crowd, thing) = arrays.y_test, numbers_on(arrays, 3)
    assert objects.boxes[thing].tolist() == [4, 2, 20, 10]
    assert objects.boxes[crowd].tolist() == [0, 0, 8, 16]
    # Ids 1, 13 and 90 are classes 0, 1 and 2.
    assert (objects.classes[crowd], objects.classes[thing], arrays.classes) == (0, 1, 3)
    assert (bool(objects.crowd[crowd]), bool(objects.crowd[thing])) == (True, False)
    wanted = np.zeros((2, 32, 32), np.uint8)
    wanted[0, :16, :8] = 1
    wanted[1, 2:10, 4:20] = 1
    assert np.array_equal([objects.mask(crowd), objects.mask(thing)], wanted)
    assert (objects.areas[crowd], objects.areas[thing]) == (128, 128)
    assert len(numbers_on(arrays, 2)) == 0
    assert arrays.task == "segmentation"


def test_stretched_boxes_and_masks_go_with_their_image(tmp_path: Path) -> None:
    arrays = read(write(tmp_path), resize="stretch")
    (thing,) = numbers_on(arrays, 1)
    assert arrays.y_test.boxes[thing].tolist() == [4, 4, 20, 20]
    rows, columns = np.nonzero(arrays.y_test.mask(thing))
    assert [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1] == [4, 4, 20, 20]


def test_without_masks_areas_are_those_of_the_file_or_of_boxes_and_masks_are_not_read(tmp_path: Path) -> None:
    said = content()
    said["test"]["annotations"][0] |= {"area": 100.0, "segmentation": "no such thing"}
    del said["test"]["annotations"][1]["area"], said["test"]["annotations"][1]["segmentation"]
    said["test"]["annotations"][2]["area"] = 0
    arrays = read(write(tmp_path, said), masks=False)
    assert (arrays.task, arrays.y_test.masked) == ("detection", False)
    assert arrays.y_test.areas[numbers_on(arrays, 1)[0]] == 25
    assert arrays.y_test.areas[numbers_on(arrays, 3)].tolist() == [128, 128]


def test_the_record_names_classes_and_counts_what_it_should(tmp_path: Path) -> None:
    record = record_of("some", OPTIONS, "0", read(write(tmp_path)), [])
    assert record["class_names"] == ["person", "stop sign", "toothbrush"]
    assert record["category_ids"] == [1, 13, 90]
    assert record["test_objects_per_class"] == [1, 2, 0]
    assert (record["test_images_without_objects"], record["test_crowds"], record["masks"]) == (1, 1, True)
    assert record["original_files"] == 7
    assert set(record["test_annotations"].values()) == {0}
    assert record["decoder"].startswith("Pillow ")
    assert str(tmp_path) not in json.dumps(record)


def test_a_choice_is_seeded_and_does_not_depend_on_the_order_in_the_file(tmp_path: Path) -> None:
    folder, said = write(tmp_path), content()
    few = read(folder, test_samples=2, train_samples=1)
    assert (len(few.x_train), len(few.x_test)) == (1, 2)
    said["test"]["images"].reverse()
    again = read(write(tmp_path, said), test_samples=2, train_samples=1)
    assert np.array_equal(few.x_test, again.x_test)
    assert any(not np.array_equal(few.x_test, read(folder, test_samples=2, seed=seed).x_test) for seed in range(1, 5))
    with pytest.raises(FramewattError, match="train_samples: there are 2"):
        read(folder, train_samples=3)


@pytest.mark.parametrize("changes", [{"train": None}, {"train_samples": 0}])
@pytest.mark.parametrize("masks", [True, False])
def test_there_may_be_nothing_to_learn_from(tmp_path: Path, changes: dict[str, Any], masks: bool) -> None:
    arrays = read(write(tmp_path / "data"), masks=masks, **changes)
    assert (arrays.x_train.shape, len(arrays.y_train)) == ((0, 3, 32, 32), 0)
    save_arrays(tmp_path / "data.npz", arrays)
    found = load_arrays(tmp_path / "data.npz")
    assert (found.task, found.y_train.masked) == (arrays.task, masks)


def test_annotations_of_which_nothing_is_left_are_left_out_and_counted(tmp_path: Path) -> None:
    said = content()
    thin = [5.0, 5.0, 5.1, 5.0, 5.1, 9.0, 5.0, 9.0]
    said["test"]["annotations"] = [
        annotation(1, 1, bbox=[8, 4, 0, 16]),
        annotation(2, 1, bbox=[8, 4, 32, 0.0]),
        annotation(3, 1, bbox=[64, 0, 10, 10]),
        annotation(4, 1, bbox=[-30, -30, 30, 62]),
        annotation(5, 1, bbox=[1e9, 1e9, 1e9, 1e9]),
        annotation(6, 1, bbox=[30, 5, 1e-30, 5]),
        annotation(7, 1, bbox=[0, 0, 1e-30, 1e-30]),
        annotation(8, 2, segmentation=[thin]),
        annotation(9, 2, segmentation=[[1, 1, 9, 9]]),
        annotation(10, 3, segmentation=[[1, 1, 9, 9], [70.0, 4.0, 90.0, 4.0, 90.0, 20.0], thin]),
        annotation(11, 3, bbox=[-4, 4, 100, 16]),
        annotation(12, 3, bbox=[8, 4, 56.009, 16]),
    ]
    arrays = read(write(tmp_path, said))
    assert arrays.about["test_annotations"] == {
        "empty_box_left_out": 7,
        "empty_mask_left_out": 3,
        "polygon_of_two_points_left_out": 2,
        "box_cut": 1,
    }
    assert arrays.y_test.boxes.tolist() == [[0, 2, 32, 10], [4, 2, 32, 10]]
    assert [len(numbers_on(arrays, number)) for number in (1, 2, 3)] == [0, 0, 2]
    boxes = read(tmp_path, masks=False)
    assert boxes.about["test_annotations"]["empty_box_left_out"] == 7
    assert len(boxes.y_test.boxes) == 5


@pytest.mark.parametrize(("mode", "red"), [("L", 112), ("CMYK", 200), ("P", 200), ("RGBA", 200), ("1", 255)])
def test_images_in_other_colours_are_converted(tmp_path: Path, mode: str, red: int) -> None:
    folder, image = write(tmp_path), PIL.Image.new("RGB", SIZE[::-1], (200, 80, 50) if mode != "1" else (255, 255, 255))
    kind = "JPEG" if mode in ("L", "CMYK") else "PNG"
    (folder / "val" / "001.png").write_bytes(encoded(image.quantize(4) if mode == "P" else image.convert(mode), kind))
    arrays = read(folder)
    assert min(np.abs(image[0, :16] * 255 - red).max() for image in arrays.x_test) <= 1


def test_an_image_of_more_than_eight_bits_is_told(tmp_path: Path) -> None:
    image = PIL.Image.fromarray(np.full(SIZE, 40_000, np.uint16))
    (write(tmp_path) / "val" / "001.png").write_bytes(encoded(image))
    with pytest.raises(FramewattError, match=r"val/001.png: it has pixels of mode I;16. Use eight bits a colour"):
        read(tmp_path)


def test_an_image_is_not_turned_by_its_exif_since_its_annotations_are_not(tmp_path: Path) -> None:
    folder, image, exif = write(tmp_path), photograph(1), PIL.Image.Exif()
    image.paste((255, 255, 255), (0, 0, 32, 32))
    exif[0x0112] = 6
    (folder / "val" / "001.png").write_bytes(encoded(image, "JPEG", quality=100, exif=exif))
    with PIL.Image.open(folder / "val" / "001.png") as turned:
        assert turned.getexif()[0x0112] == 6
    found = read(folder).x_test
    (photo,) = [one for one in found if one[0, 0, 0] > 0.9]
    assert photo[:, :16, :15].min() > 0.95
    assert photo[0, :16, 17:].max() < 0.1


def test_real_photographs_are_read_with_every_annotation(real: Arrays) -> None:
    record = record_of("coco", REAL, "0", real, [])
    assert (record["train_samples"], record["test_samples"], record["classes"]) == (40, 40, 80)
    assert (sum(record["train_objects_per_class"]), sum(record["test_objects_per_class"])) == (466, 403)
    assert (record["train_crowds"], record["test_crowds"], record["original_files"]) == (6, 6, 82)
    assert (record["category_ids"][0], record["category_ids"][11], record["category_ids"][-1]) == (1, 13, 90)
    assert record["class_names"][:3] == ["person", "bicycle", "car"]
    assert not any([*record["train_annotations"].values(), *record["test_annotations"].values()])
    assert 0 <= real.x_test.min() < real.x_test.max() <= 1


def test_masks_of_real_photographs_lie_in_their_boxes(real: Arrays) -> None:
    objects = real.y_test
    for number, (left, top, right, bottom) in enumerate(objects.boxes):
        rows, columns = np.nonzero(objects.mask(number))
        assert objects.areas[number] == len(rows)
        # Half a pixel for the middle of one, and a half for how COCO's tools round outlines.
        assert left - 1 <= columns.min() <= columns.max() + 1 <= right + 1
        assert top - 1 <= rows.min() <= rows.max() + 1 <= bottom + 1


def test_they_are_written_and_read_and_twice_the_same_bytes(real: Arrays, tmp_path: Path) -> None:
    save_arrays(tmp_path / "once.npz", real)
    save_arrays(tmp_path / "again.npz", make_arrays(REAL, {"folder": sample("coco2017-ccby")}))
    assert (tmp_path / "once.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    found = load_arrays(tmp_path / "once.npz")
    assert np.array_equal(found.x_test, real.x_test)
    for name, values in real.y_test.arrays().items():
        assert np.array_equal(found.y_test.arrays()[name], values), name


def perfect(data: Arrays) -> np.ndarray:
    """What a detector gives that finds every object but crowds."""
    objects: Any = data.y_test
    found = np.full((len(objects), int(np.diff(objects.starts).max()), BOX + MASK**2), -1, np.float32)
    for image, first in enumerate(objects.starts[:-1]):
        for place, number in enumerate(range(first, objects.starts[image + 1])):
            if objects.crowd[number]:
                continue
            box = objects.boxes[number]
            found[image, place, :BOX] = [*box, 0.9, objects.classes[number]]
            if objects.masked:
                middles = (np.arange(MASK) + 0.5) / MASK * (box[2:] - box[:2])[:, None] + box[:2, None]
                found[image, place, BOX:] = objects.mask(number)[np.ix_(*middles[::-1].astype(int))].ravel()
    return found


@pytest.mark.parametrize("changes", [{}, {"resize": "stretch", "size": 300}, {"size": 513}])
def test_who_finds_every_object_of_real_photographs_has_a_precision_of_1(changes: dict[str, Any]) -> None:
    boxes = make_arrays({**REAL, **changes, "masks": False}, {"folder": sample("coco2017-ccby")})
    judged = task_of("detection").judge(perfect(boxes)[..., :BOX], boxes)
    assert judged.values == {"box_ap": pytest.approx(1), "box_ap50": pytest.approx(1), "box_ap75": pytest.approx(1)}
    assert judged.facts["objects_per_image"] == (403 - 6) / 40


def test_masks_of_real_photographs_can_be_found(real: Arrays) -> None:
    judged = task_of("segmentation").judge(perfect(real), real)
    assert judged.values["mask_box_ap"] == pytest.approx(1)
    # 28 cells are not the pixels of a large object.
    assert judged.values["mask_ap50"] > 0.99
    assert judged.values["mask_ap"] > 0.8


def test_boxes_and_masks_of_real_photographs_are_where_cocos_own_tools_have_them(real: Arrays) -> None:
    """In the photograph's own size nothing is scaled: all is as the file has it."""
    folder, content_of = sample("coco2017-ccby"), {}
    for one in json.loads((folder / REAL["test"][0]).read_text())["annotations"]:
        content_of.setdefault(one["image_id"], []).append(one)
    annotated = COCO(str(folder / REAL["test"][0]))
    arrays = make_arrays({**REAL, "size": 640, "train": None}, {"folder": folder})
    listed = sorted(annotated.loadImgs(annotated.getImgIds()), key=lambda image: image["id"])
    order = np.random.default_rng(0).permutation(len(listed))
    objects, kinds = arrays.y_test, sorted(annotated.getCatIds())
    compared = 0
    for place, index in enumerate(order):
        image = listed[index]
        height, width = image["height"], image["width"]
        if max(height, width) != 640:
            continue
        with PIL.Image.open(folder / "val2017" / image["file_name"]) as photo:
            pixels = np.asarray(photo.convert("RGB")).transpose(2, 0, 1) / np.float32(255)
        assert np.array_equal(arrays.x_test[place, :, :height, :width], pixels)
        numbers = range(*objects.starts[place : place + 2])
        for number, one in zip(numbers, content_of[image["id"]], strict=True):
            left, top, wide, high = one["bbox"]
            np.testing.assert_allclose(objects.boxes[number], [left, top, left + wide, top + high], rtol=1e-6)
            assert kinds[objects.classes[number]] == one["category_id"]
            assert np.array_equal(objects.mask(number)[:height, :width], annotated.annToMask(one)), one["id"]
            compared += 1
    assert compared > 300


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arrays(np.uint8, st.tuples(st.integers(1, 32), st.just(32)), elements=st.integers(0, 1)),
    st.sampled_from(["polygons", "runs", "text"]),
)
def test_a_mask_comes_back_from_whatever_it_was_written_as(tmp_path: Path, mask: np.ndarray, form: str) -> None:
    """From a file on, in an image that is as wide as its square; its tightest box comes back too."""
    if not mask.any():
        return
    counts: Any = encode_mask(mask).tolist()
    if form == "text":
        counts = tools.encode(np.asfortranarray(mask))["counts"].decode()
    segmentation: Any = {"size": list(mask.shape), "counts": counts}
    if form == "polygons":
        pixels = np.argwhere(mask).tolist()
        segmentation = [[x, y, x + 1, y, x + 1, y + 1, x, y + 1] for y, x in pixels]
    rows, columns = np.nonzero(mask)
    left, top, right, bottom = (int(edge) for edge in (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1))
    said = content()
    said["test"]["images"][0] |= {"height": mask.shape[0], "width": 32}
    box = [left, top, right - left, bottom - top]
    said["test"]["annotations"] = [annotation(7, 1, bbox=box, segmentation=segmentation)]
    folder = write(tmp_path, said)
    (folder / "val" / "001.png").write_bytes(encoded(photograph(1, mask.shape)))
    objects = read(folder, train=None).y_test
    assert np.array_equal(objects.mask(0)[: len(mask)], mask)
    assert objects.boxes.tolist() == [[left, top, right, bottom]]
    assert objects.areas.tolist() == [mask.sum()]


def test_archives_are_unpacked_into_one_folder_by_their_checksums(tmp_path: Path) -> None:
    """As COCO publishes them: one archive with all annotations, and one with the images of each split."""
    folder, waiting = write(tmp_path / "original"), tmp_path / ".coco.downloads"
    waiting.mkdir()
    files = []
    for part in ("annotations", "train", "val"):
        archive = waiting / f"{part}.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            for path in sorted((folder / part).iterdir()):
                packed.write(path, path.relative_to(folder))
        size_b, checksum = archive.stat().st_size, f"sha256:{sha256_of(archive)}"
        files.append({"url": f"http://127.0.0.1:9/{part}.zip", "checksum": checksum, "size_b": size_b})
    fetch_source("coco", {"title": "COCO", "page": "", "files": files}, tmp_path / "coco")
    found, wanted = read(tmp_path / "coco"), read(folder)
    assert np.array_equal(found.x_test, wanted.x_test)
    assert found.about == wanted.about


def test_they_are_made_without_cocos_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which are not in the environment in which data sets are made."""
    for name in [name for name in sys.modules if name.startswith("pycocotools")] + ["pycocotools"]:
        monkeypatch.setitem(sys.modules, name, None)
    assert read(write(tmp_path)).y_test.masked


def test_parts_are_named_as_they_are_in_the_folder(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "images").symlink_to(tmp_path / "val")
    assert len(read(tmp_path, test=[PARTS["test"][0], "images"]).x_test) == 3
