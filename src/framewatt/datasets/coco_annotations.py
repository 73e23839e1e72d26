"""COCO's instances JSON: which images there are, and what is annotated on each.

Source: T.-Y. Lin et al., Microsoft COCO, ECCV 2014, and cocodataset.org, data format.
"""

import reprlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Never, TypeGuard, TypeVar

from framewatt.base.errors import FramewattError
from framewatt.base.files import parse_json
from framewatt.base.schema import unseen
from framewatt.datasets.options import LARGEST

LARGEST_SIDE = 65535
"""Pixels of a side, as many as a JPEG may have."""

LARGEST_PIXELS = 2**26
"""Pixels of an image, fewer than those from which Pillow takes it for a decompression bomb."""

_LARGEST_ID = 2**63 - 1
_ONE = {"images": "image", "annotations": "annotation", "categories": "category"}
"""What an entry of each list is called."""

_shown = reprlib.repr
_Entry = TypeVar("_Entry")


@dataclass(frozen=True)
class Annotation:
    """An object on an image.

    Attributes:
        place: file, id and image, for messages.
        category: its category's id, one of those listed.
        crowd: whether it is many objects in one.
        content: its whole entry in the file.
    """

    place: str
    category: int
    crowd: bool
    content: Mapping[str, Any]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height in pixels of its image; it may reach beyond it, or be empty.

        Raises:
            FramewattError: it has no such box.
        """
        value = self.content.get("bbox")
        if not isinstance(value, list) or len(value) != 4 or not all(map(_number, value)) or min(value[2:]) < 0:
            allowed = f"[left, top, width, height] in pixels, {LARGEST} at most, width and height from 0"
            _refuse(self.place, f"the bbox {_shown(value)}", allowed)
        left, top, width, height = map(float, value)
        return left, top, width, height

    @property
    def area(self) -> float | None:
        """Pixels of its image that it has; None where the file has none.

        Raises:
            FramewattError: it is no number from 0.
        """
        value = self.content.get("area")
        if value is not None and not (_number(value) and value >= 0):
            _refuse(self.place, f"the area {_shown(value)}", f"pixels, 0 to {LARGEST}")
        return None if value is None else float(value)


@dataclass(frozen=True)
class Listed:
    """An image.

    Attributes:
        number: its id.
        file_name: as in the file, not yet looked at.
        size: (height, width) in pixels.
        annotations: what is on it, in the file's order.
    """

    number: int
    file_name: str
    size: tuple[int, int]
    annotations: list[Annotation] = field(default_factory=list)


@dataclass(frozen=True)
class Instances:
    """The content of a file.

    Attributes:
        path: the file.
        categories: names of the categories by id, in order of ids.
        images: in order of ids.
    """

    path: Path
    categories: Mapping[int, str]
    images: list[Listed]


def read_instances(path: Path) -> Instances:
    """Read a file of annotations.

    An object's box, area and mask are checked only where they are used: of images that are not chosen they do not
    matter.

    Args:
        path: JSON with the lists `images`, `annotations` and `categories`.

    Raises:
        FramewattError: there is no such file, it is no such JSON, an id, or an image's file, is there twice, an
            annotation is of an image or a category that is not listed, or there are no annotations.
    """
    if not path.is_file():
        raise FramewattError(f"{path}: there is no such file. Use instances JSON as COCO publishes it.")
    try:
        content = parse_json(path.read_text(encoding="utf-8"), any_number=True)
    except (OSError, ValueError) as error:
        raise FramewattError(
            f"{path}: it is not JSON: {str(error).rstrip('.')}. Use instances as COCO publishes them."
        ) from error
    categories = _by_id(path, content, "categories", _category)
    images = _by_id(path, content, "images", _image)
    # Ids that differ with names that do not: a class, or an image, would be counted as two.
    _refuse_twice(path, "categories", categories)
    _refuse_twice(path, "images", {number: image.file_name for number, image in images.items()})

    def add(place: str, number: int, entry: Mapping[str, Any]) -> None:
        annotation = _annotation(place, number, entry, images, categories)
        images[entry["image_id"]].annotations.append(annotation)

    _by_id(path, content, "annotations", add)
    in_order = {number: categories[number] for number in sorted(categories)}
    return Instances(path, in_order, [images[number] for number in sorted(images)])


def _by_id(
    path: Path, content: Any, key: str, make: Callable[[str, int, Mapping[str, Any]], _Entry]
) -> dict[int, _Entry]:
    """Return what is made of each entry of a list, by its id.

    Args:
        path: the file, for messages.
        content: of the file.
        key: the list's.
        make: of an entry's place for messages, its id, and the entry.
    """
    entries = content.get(key) if isinstance(content, Mapping) else None
    if not isinstance(entries, list) or not entries:
        _refuse(str(path), f"no {key}", f"a list of one or more under {key!r}, as in COCO's instances")
    entries_by_id: dict[int, _Entry] = {}
    for index, entry in enumerate(entries):
        number = entry.get("id") if isinstance(entry, Mapping) else None
        if not _whole(number, _LARGEST_ID):
            _refuse(f"{path}: {key}[{index}]", f"the id {_shown(number)}", f"a whole number, 0 to {_LARGEST_ID}")
        if number in entries_by_id:
            _refuse(f"{path}: {key}[{index}]", f"the id {number} a second time", "each once")
        entries_by_id[number] = make(f"{path}: {_ONE[key]} {number}", number, entry)
    return entries_by_id


def _category(place: str, _number: int, entry: Mapping[str, Any]) -> str:
    name = entry.get("name")
    if not isinstance(name, str) or not name or unseen(name):
        _refuse(place, f"the name {_shown(name)}", "text of characters that are seen")
    return name


def _image(place: str, number: int, entry: Mapping[str, Any]) -> Listed:
    name, height, width = (entry.get(key) for key in ("file_name", "height", "width"))
    if not isinstance(name, str) or not name:
        _refuse(place, f"the file_name {_shown(name)}", "the name of its file")
    if not (_whole(height, LARGEST_SIDE) and height and _whole(width, LARGEST_SIDE) and width):
        _refuse(place, f"height {_shown(height)}, width {_shown(width)}", f"pixels, 1 to {LARGEST_SIDE} each")
    if height * width > LARGEST_PIXELS:
        _refuse(place, f"{width}x{height} pixels", f"{LARGEST_PIXELS} in all")
    return Listed(number, name, (height, width))


def _annotation(
    place: str, number: int, entry: Mapping[str, Any], images: Collection[int], categories: Collection[int]
) -> Annotation:
    of, category, crowd = entry.get("image_id"), entry.get("category_id"), entry.get("iscrowd", 0)
    for key, value, known in (("image_id", of, images), ("category_id", category, categories)):
        if type(value) is not int or value not in known:
            _refuse(place, f"{key} {_shown(value)}", "one that the file lists")
    if type(crowd) is not int or crowd not in (0, 1):
        _refuse(place, f"iscrowd {_shown(crowd)}", "0 or 1")
    return Annotation(f"{place} of image {of}", int(entry["category_id"]), bool(crowd), entry)


def _refuse_twice(path: Path, key: str, names: Mapping[int, str]) -> None:
    first: dict[str, int] = {}
    for number, name in names.items():
        if first.setdefault(name, number) != number:
            _refuse(f"{path}: {_ONE[key]} {number}", f"the name {_shown(name)} of {first[name]} too", "one for each")


def _whole(value: Any, most: int) -> TypeGuard[int]:
    """Return whether it is a whole number from 0 to the most."""
    return type(value) is int and 0 <= value <= most


def _number(value: Any) -> bool:
    """Return whether it is a number, and neither NaN nor beyond LARGEST."""
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST


def _refuse(place: str, problem: str, allowed: str) -> Never:
    raise FramewattError(f"{place}: it has {problem}. Use {allowed}. Get the file again, or correct it.")
