"""Folders in COCO's form with a fault: each is one line that says what was found, where, and what is allowed."""

import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from coco_factory import CROWD, OPTIONS, PARTS, SQUARE, annotation, content, encoded, photograph, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import sample

from framewatt.base.errors import FramewattError
from framewatt.datasets import make_arrays

VAL = "annotations/instances_val.json"
NAN, HUGE = float("nan"), 10**400


def told(folder: Path, **changes: Any) -> str:
    """The error of a folder, without the folder's name."""
    with pytest.raises(FramewattError) as error:
        make_arrays({**OPTIONS, **changes}, {"folder": folder}, "some")
    line = str(error.value).replace(f"{folder}/", "")
    assert line.startswith("data set some: ")
    assert len(line) < 400
    assert "\n" not in line
    return line.removeprefix("data set some: ")


Change = Callable[[dict[str, Any]], Any]


def of(key: str, index: int, **changes: Any) -> Change:
    """Changes an entry of a list of the test set's file."""
    return lambda said: said[key][index].update(changes)


def without(key: str, index: int, name: str) -> Change:
    return lambda said: said[key][index].pop(name)


FIRST = f"{VAL}: annotation 7 of image 1: "
"""Of the first annotation."""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda said: said.pop("images"), f"{VAL}: it has no images. Use a list of one or more under 'images'"),
        (lambda said: said.update(images=[]), f"{VAL}: it has no images. Use a list of one or more"),
        (lambda said: said.update(images={}), f"{VAL}: it has no images. Use a list of one or more"),
        (lambda said: said.pop("annotations"), f"{VAL}: it has no annotations. Use a list of one or more"),
        (lambda said: said.update(annotations=[]), f"{VAL}: it has no annotations. Use a list of one or more"),
        (lambda said: said.update(annotations=[[1]]), f"{VAL}: annotations[0]: it has the id None. Use a whole"),
        (lambda said: said.pop("categories"), f"{VAL}: it has no categories. Use a list of one or more"),
        (of("annotations", 0, image_id=4), f"{VAL}: annotation 7: it has image_id 4. Use one that the file lists"),
        (of("annotations", 0, image_id="1"), f"{VAL}: annotation 7: it has image_id '1'. Use one that the file"),
        (of("annotations", 0, image_id=True), f"{VAL}: annotation 7: it has image_id True. Use one that the file"),
        (of("annotations", 0, image_id=1.0), f"{VAL}: annotation 7: it has image_id 1.0. Use one that the file"),
        (of("annotations", 0, image_id=[1]), f"{VAL}: annotation 7: it has image_id [1]. Use one that the file"),
        (without("annotations", 0, "image_id"), f"{VAL}: annotation 7: it has image_id None. Use one that the"),
        (of("annotations", 0, category_id=2), f"{VAL}: annotation 7: it has category_id 2. Use one that the file"),
        (of("annotations", 0, category_id=NAN), f"{VAL}: annotation 7: it has category_id nan. Use one that the"),
        (of("annotations", 0, iscrowd=2), f"{VAL}: annotation 7: it has iscrowd 2. Use 0 or 1"),
        (of("annotations", 0, iscrowd=None), f"{VAL}: annotation 7: it has iscrowd None. Use 0 or 1"),
        (of("annotations", 1, id=7), f"{VAL}: annotations[1]: it has the id 7 a second time. Use each once"),
        (of("annotations", 1, id="8"), f"{VAL}: annotations[1]: it has the id '8'. Use a whole number, 0 to 92233"),
        (of("annotations", 1, id=HUGE), f"{VAL}: annotations[1]: it has the id 10000000"),
        (of("annotations", 1, id=-1), f"{VAL}: annotations[1]: it has the id -1. Use a whole number, 0 to"),
        (of("images", 1, id=1), f"{VAL}: images[1]: it has the id 1 a second time. Use each once"),
        (of("images", 1, file_name="001.png"), f"{VAL}: image 2: it has the name '001.png' of 1 too. Use one for"),
        (of("images", 1, file_name=""), f"{VAL}: image 2: it has the file_name ''. Use the name of its file"),
        (of("images", 1, file_name=2), f"{VAL}: image 2: it has the file_name 2. Use the name of its file"),
        (of("images", 1, height=0), f"{VAL}: image 2: it has height 0, width 64. Use pixels, 1 to 65535 each"),
        (of("images", 1, width="64"), f"{VAL}: image 2: it has height 32, width '64'. Use pixels, 1 to 65535 each"),
        (of("images", 1, width=NAN), f"{VAL}: image 2: it has height 32, width nan. Use pixels, 1 to 65535 each"),
        (of("images", 1, width=10**9), f"{VAL}: image 2: it has height 32, width 1000000000. Use pixels, 1 to"),
        (of("images", 1, width=65535, height=65535), f"{VAL}: image 2: it has 65535x65535 pixels. Use 67108864"),
        (of("categories", 1, id=90), f"{VAL}: categories[1]: it has the id 90 a second time. Use each once"),
        (
            of("categories", 1, name="stop sign"),
            f"{VAL}: category 13: it has the name 'stop sign' of 1 too. Use one",
        ),
        (of("categories", 1, name="a\x1b[2Jb"), f"{VAL}: category 1: it has the name 'a\\x1b[2Jb'. Use text of"),
        (of("categories", 1, name=None), f"{VAL}: category 1: it has the name None. Use text of characters that"),
        (of("categories", 1, name="human"), "annotations/instances_train.json: it has other categories than in"),
        (of("annotations", 0, bbox=[1, 2, 3]), f"{FIRST}it has the bbox [1, 2, 3]. Use [left, top, width, height]"),
        (
            of("annotations", 0, bbox=[1, 2, 3, NAN]),
            f"{FIRST}it has the bbox [1, 2, 3, nan]. Use [left, top, width",
        ),
        (of("annotations", 0, bbox=[1, 2, 3, 1e999]), f"{FIRST}it has the bbox [1, 2, 3, inf]. Use [left, top,"),
        (of("annotations", 0, bbox=[HUGE, 2, 3, 4]), f"{FIRST}it has the bbox [1000000000000"),
        (of("annotations", 0, bbox=[1, 2, -3, 4]), f"{FIRST}it has the bbox [1, 2, -3, 4]. Use [left, top, width"),
        (of("annotations", 0, bbox=[1, 2, "3", 4]), f"{FIRST}it has the bbox [1, 2, '3', 4]. Use [left, top"),
        (of("annotations", 0, bbox=[1, 2, True, 4]), f"{FIRST}it has the bbox [1, 2, True, 4]. Use [left, top"),
        (
            without("annotations", 0, "bbox"),
            f"{FIRST}it has the bbox None. Use [left, top, width, height] in pixels",
        ),
        (of("annotations", 0, area=-1), f"{FIRST}it has the area -1. Use pixels, 0 to 1000000000"),
        (of("annotations", 0, area=NAN), f"{FIRST}it has the area nan. Use pixels, 0 to 1000000000"),
        (of("annotations", 0, area=HUGE), f"{FIRST}it has the area 1000000000000"),
        (without("annotations", 0, "segmentation"), f"{FIRST}it has a segmentation of type NoneType. Use polygons"),
        (
            of("annotations", 0, segmentation=[]),
            f"{FIRST}it has no polygon. Use polygons, or size and counts; else",
        ),
        (
            of("annotations", 0, segmentation=[[*SQUARE[:-1], NAN]]),
            f"{FIRST}it has nan in a polygon. Use pixels of",
        ),
        (of("annotations", 0, segmentation=[[*SQUARE[:-1], HUGE]]), f"{FIRST}it has 1000000000"),
        (of("annotations", 0, segmentation=[[*SQUARE, 3]]), f"{FIRST}it has a polygon that is no list of pairs of"),
        (
            of("annotations", 1, segmentation={**CROWD, "size": [64, 32]}),
            f"{VAL}: annotation 8 of image 3: it has runs of size [64, 32]. Use [32, 64], its height and width",
        ),
        (
            of("annotations", 1, segmentation={**CROWD, "counts": [0, 512, 1535]}),
            f"{VAL}: annotation 8 of image 3: it has runs of 2047 pixels in all. Use 32 x 64 = 2048",
        ),
        (
            of("annotations", 1, segmentation={**CROWD, "counts": "0`01"}),
            f"{VAL}: annotation 8 of image 3: it has runs of 1",
        ),
    ],
)
def test_a_fault_of_the_annotations_names_file_and_annotation(tmp_path: Path, change: Change, message: str) -> None:
    said = content()
    change(said["test"])
    assert told(write(tmp_path, said)).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "it is not JSON: Expecting value"),
        (b"{" * 100_000, "it is not JSON: "),
        (b"[" * 100_000, "it is not JSON: nested too deep"),
        (b'{"images": [], "images": []}', "it is not JSON: the key 'images'"),
        (b'{"images": \xff}', "it is not JSON: 'utf-8' codec can't decode byte 0xff"),
        (b'{"images": ' + b"9" * 5000 + b"}", "it is not JSON: Exceeds the limit"),
        (b"\xef\xbb\xbf{}", "it is not JSON: Unexpected UTF-8 BOM"),
        (b"null", "it has no categories. Use a list"),
        (b"[]", "it has no categories. Use a list"),
        (b'"images"', "it has no categories. Use a list"),
    ],
)
def test_a_file_that_is_no_such_json_is_named(tmp_path: Path, text: bytes, message: str) -> None:
    (write(tmp_path) / VAL).write_bytes(text)
    assert told(tmp_path).startswith(f"{VAL}: {message}")


def test_what_is_wrong_of_images_that_are_not_chosen_does_not_count(tmp_path: Path) -> None:
    said = content()
    said["train"]["annotations"][0]["bbox"] = [1, 2, 3, NAN]
    write(tmp_path, said)
    seeds = [seed for seed in range(10) if np.random.default_rng(seed).permutation(2)[0] == 1]
    assert len(make_arrays({**OPTIONS, "train_samples": 1, "seed": seeds[0]}, {"folder": tmp_path}).x_train) == 1
    assert "annotation 1 of image 11: it has the bbox [1, 2, 3, nan]" in told(tmp_path)


def replaced(content: bytes | None, name: str = "val/002.png") -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        if content is not None:
            (folder / name).write_bytes(content)

    return change


def linked(target: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / "val" / "002.png").rename(folder / "elsewhere.png")
        (folder / "val" / "002.png").symlink_to(target)

    return change


def piped(folder: Path) -> None:
    (folder / "val" / "002.png").unlink()
    os.mkfifo(folder / "val" / "002.png")


def bomb(side: int) -> bytes:
    """A PNG of a few bytes that says that it has that many pixels on each side."""
    start = encoded(PIL.Image.new("L", (1, 1)))
    header = b"IHDR" + side.to_bytes(4) * 2 + start[24:29]
    return start[:12] + header + zlib.crc32(header).to_bytes(4) + start[33:]


WHOLE = encoded(photograph(2), "JPEG")
TURNED = encoded(photograph(2, (64, 32)), "JPEG")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replaced(None), "val/002.png: there is no such file. Get every image that the annotations list"),
        (replaced(b""), "val/002.png: the image is damaged: cannot identify image file"),
        (replaced(b"GIF89a"), "val/002.png: the image is damaged: cannot identify image file"),
        (replaced(encoded(photograph(2), "GIF")), "val/002.png: the image is damaged: cannot identify image file"),
        (replaced(WHOLE[:-30]), "val/002.png: the image is damaged: image file is truncated"),
        (replaced(WHOLE[: len(WHOLE) // 2]), "val/002.png: the image is damaged: "),
        (replaced(encoded(photograph(2))[:-40]), "val/002.png: the image is damaged: "),
        (replaced(TURNED), "val/002.png: it has 32x64 pixels, its annotations 64x32. Get the image"),
        (replaced(bomb(8_000)), "val/002.png: it has 8000x8000 pixels, its annotations 64x32"),
        (replaced(bomb(60_000)), "val/002.png: the image is damaged: Image size (3600000000 pixels) exceeds limit"),
        (linked("../elsewhere.png"), "val: it has '002.png', a link out of the folder. Use files in that folder"),
        (linked("/dev/zero"), "val: it has '002.png', a link out of the folder. Use files in that folder"),
        (linked("002.png"), "val: it has '002.png', "),
        (linked("nowhere.png"), "val/002.png: there is no such file"),
        (piped, "val/002.png: there is no such file"),
    ],
)
def test_a_fault_of_an_image_names_its_file(tmp_path: Path, change: Callable[[Path], None], message: str) -> None:
    change(write(tmp_path))
    assert told(tmp_path).startswith(message)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../train/011.png", "val: it has '../train/011.png', a name that leaves its folder. Use files in that"),
        ("a/../../train/011.png", "val: it has 'a/../../train/011.png', a name that leaves its folder"),
        ("/etc/passwd", "val: it has '/etc/passwd', an absolute name. Use files in that folder"),
        ("..\\train\\011.png", "val: it has '..\\\\train\\\\011.png', an absolute name"),
        ("C:/011.png", "val: it has 'C:/011.png', an absolute name"),
        ("001.png\0.png", "val: it has '001.png\\x00.png', a name that leaves its folder"),
        ("x" * 5000, f"val: it has '{'x' * 100}', which names no file"),
        ("\ud800.png", "val: it has '\\ud800.png', which names no file"),
        ("a\nb.png", "val/a b.png: there is no such file"),
        (".", "val: there is no such file. Get every image"),
    ],
)
def test_a_name_that_is_no_file_of_the_folder_is_told(tmp_path: Path, name: str, message: str) -> None:
    said = content()
    said["test"]["images"][1]["file_name"] = name
    assert told(write(tmp_path, said)).startswith(message)


def test_a_link_within_the_folder_and_a_file_below_it_are_fine(tmp_path: Path) -> None:
    said = content()
    said["test"]["images"][1]["file_name"] = "below/two.png"
    folder = write(tmp_path, said)
    (folder / "val" / "below").mkdir()
    (folder / "val" / "below" / "two.png").symlink_to("../002.png")
    assert len(make_arrays(OPTIONS, {"folder": folder}).x_test) == 3


TWICE = "it is the file of two images, to learn from or to test with. Give each image its own file."


def test_a_test_image_that_is_learnt_from_is_told(tmp_path: Path) -> None:
    allowed = {f"val/00{number}.png: {TWICE}" for number in (1, 2, 3)}
    assert told(write(tmp_path), train=PARTS["test"]) in allowed
    (tmp_path / "again").symlink_to("val")
    assert told(tmp_path, train=[VAL, "again"]) in allowed


@pytest.mark.parametrize("name", ["./001.png", "link.png"])
def test_a_file_of_two_images_is_told_by_whatever_name(tmp_path: Path, name: str) -> None:
    said = content()
    said["test"]["images"][1]["file_name"] = name
    write(tmp_path, said)
    (tmp_path / "val" / "link.png").symlink_to("001.png")
    assert told(tmp_path) in {f"val/{one}: {TWICE}" for one in ("001.png", "link.png")}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"test": [VAL]},
            f"test: ['{VAL}'] is not possible. Use names of a file of annotations and of a folder of images",
        ),
        ({"test": [VAL, "val", "val"]}, "test: ['annotations"),
        (
            {"test": ["../a.json", "val"]},
            "test: ['../a.json', 'val'], a name that leaves its folder is not possible. Use nam",
        ),
        (
            {"train": ["/a.json", "val"]},
            "train: ['/a.json', 'val'], an absolute name is not possible. Use names of a file",
        ),
        ({"test": ["a.json", "val"]}, "a.json: there is no such file. Use instances JSON as COCO publishes it"),
        ({"test": ["val", "val"]}, "val: there is no such file. Use instances JSON as COCO publishes it"),
        (
            {"test": [VAL, "images"]},
            f"images: there is no such folder. Put the images there that {Path(VAL).name} lists",
        ),
        ({"test": [VAL, VAL]}, f"{VAL}: there is no such folder. Put the images there that {Path(VAL).name} lists"),
        ({"test": "val"}, "test: 'val' is not possible. Use a list, each text"),
        ({"size": 31}, "size: 31 is not possible. Use a whole number, 32 to 4096"),
        ({"resize": "crop"}, "resize: 'crop' is not possible. Use fit, stretch"),
        ({"preprocessing": "torchvision"}, "preprocessing: 'torchvision' is not possible. Use unit, torch, caffe, tf"),
        ({"test_samples": 4}, "test_samples: there are 3, and config/datasets.yaml wants 4"),
    ],
)
def test_an_option_that_cannot_be_is_told(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    assert told(write(tmp_path), **changes).startswith(message)


def test_images_of_a_test_set_without_annotations_are_told(tmp_path: Path) -> None:
    """As COCO's own test sets are published."""
    said = content()
    del said["test"]["annotations"]
    assert told(write(tmp_path, said)).startswith(f"{VAL}: it has no annotations")


def test_bytes_that_are_changed_at_random_are_an_image_or_one_line(tmp_path: Path) -> None:
    """No other error comes out of the decoder, whatever the bytes are."""
    exif = PIL.Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "maker"
    photo = next(sample("imagefolder-flowers-ccby").glob("val/roses/*.jpg")).read_bytes()
    with PIL.Image.open(next(sample("imagefolder-flowers-ccby").glob("val/roses/*.jpg"))) as image:
        size = image.size[::-1]
    seeds = [(photo, size), (encoded(photograph(2), "JPEG", exif=exif, progressive=True), (32, 64))]
    seeds += [(encoded(photograph(2)), (32, 64)), (encoded(photograph(2).quantize(4)), (32, 64))]
    draw, whole, lines = np.random.default_rng(0), 0, []
    said = content()["test"]
    for number in range(400):
        start, (height, width) = seeds[number % len(seeds)]
        changed = bytearray(start)
        for place in draw.integers(0, min(len(changed), 700), draw.integers(1, 8)):
            changed[place] = draw.integers(256)
        said["images"] = [{"id": 1, "file_name": "001.png", "height": height, "width": width}]
        said["annotations"] = [annotation(1, 1)]
        folder = tmp_path / "some"
        write(folder, {**content(), "test": said})
        (folder / "val" / "001.png").write_bytes(changed)
        try:
            make_arrays({**OPTIONS, "train": None}, {"folder": folder})
            whole += 1
        except FramewattError as error:
            lines.append(str(error))
    assert len(lines) > 50
    assert whole > 50
    assert all("val/001.png: " in line for line in lines)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([HUGE, -HUGE, 1e308]),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(max_size=5), parts, max_size=3),
    max_leaves=5,
)


def places_in(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Of every part of a value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place, *(inner for key in keys for inner in places_in(value[key], (*place, key)))]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.booleans())
def test_any_part_that_becomes_anything_else_is_read_or_one_line(
    tmp_path: Path, data: st.DataObject, masks: bool
) -> None:
    said = content()
    part: Any = said
    *above, last = data.draw(st.sampled_from([place for place in places_in(said["test"]) if place]))
    for key in ("test", *above):
        part = part[key]
    part[last] = data.draw(JSON)
    folder = write(tmp_path, said)
    try:
        made = make_arrays({**OPTIONS, "masks": masks}, {"folder": folder})
    except FramewattError as error:
        line = str(error)
    else:
        line = ""
        assert np.isfinite(made.y_test.boxes).all()
        assert made.y_test.masked == masks
    assert not line or ". Use " in line
    assert len(line.replace(str(folder), "")) < 700


def test_a_faulty_file_says_which_of_many_images_is_the_first(tmp_path: Path) -> None:
    said = content()
    for one in said["test"]["annotations"]:
        one["bbox"] = None
    assert json.loads(json.dumps(said)) == said
    lines = {told(write(tmp_path, said)) for _ in range(5)}
    assert len(lines) == 1
