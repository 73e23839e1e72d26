"""Images of a data set that others made: each within its folder, of the size that is said of it, and decoded."""

from pathlib import Path
from typing import Any

from framewatt.base.errors import FramewattError
from framewatt.base.paths import problem_of_name

_DEEP = ("I", "F")
"""How modes of more than eight bits a colour begin, which Pillow would cut off."""


def within(folder: Path, name: str) -> Path:
    """A file of a folder.

    Args:
        folder: which may itself be a link.
        name: the file's, relative to the folder.

    Raises:
        FramewattError: it is not there, is no file, or is elsewhere, by its name or by a link.
    """
    path = folder / name
    try:
        problem = problem_of_name(name)
        if problem is None and not path.resolve().is_relative_to(folder.resolve()):
            problem = "a link out of the folder"
        there = problem is None and path.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        raise FramewattError(
            f"{folder}: found {name[:100]!r}, which names no file; allowed: files in that folder"
        ) from error
    if problem is not None:
        raise FramewattError(f"{folder}: found {name[:100]!r}, {problem}; allowed: files in that folder")
    if not there:
        raise FramewattError(f"{path}: found no such file; allowed: every image that the annotations list; get it")
    return path


def decoded(path: Path, size: tuple[int, int]) -> Any:
    """An image as a Pillow image, RGB; turned by nothing, since annotations are of the pixels as they are stored.

    Args:
        path: JPEG or PNG of eight bits a colour; grey and CMYK are converted.
        size: (height, width) that is said of it, which is looked at before a pixel is decoded.

    Raises:
        FramewattError: it is of another size, is damaged, or is no such image.
    """
    # Imported here because only the rule that makes the data has Pillow.
    import PIL.Image

    height, width = size
    try:
        with PIL.Image.open(path, formats=("JPEG", "PNG")) as image:
            if image.size != (width, height):
                raise FramewattError(
                    f"{path}: found {image.size[0]}x{image.size[1]} pixels; allowed: {width}x{height}, as its "
                    "annotations say; get the image again, neither turned nor scaled"
                )
            if image.mode.startswith(_DEEP):
                raise FramewattError(f"{path}: found pixels of mode {image.mode}; allowed: eight bits a colour")
            return image.convert("RGB")
    except (OSError, SyntaxError, ValueError, PIL.Image.DecompressionBombError) as error:
        raise FramewattError(f"{path}: found a damaged image: {error}; allowed: JPEG or PNG; get it again") from error


def decoder() -> str:
    """The decoding library with its version, since another version may decode a JPEG to other pixels."""
    import PIL

    return f"Pillow {PIL.__version__}"
