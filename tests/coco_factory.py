"""Small folders in COCO's form, of two photographs to learn from and three to test with, to be changed at will."""

import copy
import io
import json
from pathlib import Path
from typing import Any

import PIL.Image

PARTS = {
    split: [f"annotations/instances_{folder}.json", folder] for split, folder in (("train", "train"), ("test", "val"))
}
OPTIONS: dict[str, Any] = {"module": "coco", **PARTS, "size": 32, "masks": True}
"""A definition of a data set, but for its folder."""

SIZE = (32, 64)
"""(height, width) of every image; in a square of 32 pixels all is half as large."""

CATEGORIES = [{"id": 90, "name": "toothbrush"}, {"id": 1, "name": "person"}, {"id": 13, "name": "stop sign"}]
SQUARE = [8.0, 4.0, 40.0, 4.0, 40.0, 20.0, 8.0, 20.0]
"""A polygon of the box 8, 4, 32, 16."""

CROWD = {"size": list(SIZE), "counts": [0, 32 * 16, 32 * 48]}
"""Runs: the left quarter of an image."""


def images(count: int, first: int) -> list[dict[str, Any]]:
    numbers = range(first, first + count)
    return [{"id": number, "file_name": f"{number:03}.png", "height": SIZE[0], "width": SIZE[1]} for number in numbers]


def annotation(number: int, image: int, **changes: Any) -> dict[str, Any]:
    return {
        **{"id": number, "image_id": image, "category_id": 13, "iscrowd": 0},
        **{"bbox": [8.0, 4.0, 32.0, 16.0], "area": 512.0, "segmentation": [SQUARE], **changes},
    }


def content() -> dict[str, dict[str, Any]]:
    """What the files of both splits say: of the test images one has two objects, of which one is a crowd, one none."""
    crowd = {"category_id": 1, "iscrowd": 1, "bbox": [0, 0, 16, 32], "area": 512, "segmentation": CROWD}
    found = {
        "train": {"images": images(2, 11), "annotations": [annotation(1, 11), annotation(2, 12)]},
        "test": {
            "images": images(3, 1),
            "annotations": [annotation(7, 1), annotation(8, 3, **crowd), annotation(9, 3)],
        },
    }
    return {split: copy.deepcopy({**said, "categories": CATEGORIES}) for split, said in found.items()}


def photograph(number: int, size: tuple[int, int] = SIZE) -> PIL.Image.Image:
    """An image of one colour, whose red is its number times ten."""
    return PIL.Image.new("RGB", size[::-1], (number * 10, 100, 50))


def encoded(image: PIL.Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    held = io.BytesIO()
    image.save(held, kind, **options)
    return held.getvalue()


def write(folder: Path, said: dict[str, dict[str, Any]] | None = None) -> Path:
    """A folder with what its files say, and a photograph of each image that they do not call otherwise."""
    for split, (file, images_folder) in PARTS.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / images_folder).mkdir(exist_ok=True)
        (folder / file).write_text(json.dumps((said or content())[split]))
        for image in content()[split]["images"]:
            (folder / images_folder / image["file_name"]).write_bytes(encoded(photograph(image["id"])))
    return folder
