"""Arrays are, value for value, what the model zoos' own preprocessing makes of the same images."""

from pathlib import Path

import numpy as np
import pytest
from samples import sample
from stages import run_program

from framewatt.datasets.imagefolder import make
from framewatt.datasets.selection import chosen


def pixels_of(arrays: object) -> np.ndarray:
    """The resized pixels of a data set from 0 to 1, shape (n, height, width, 3)."""
    return np.round(np.moveaxis(arrays.x_test, 1, -1) * 255).astype(np.uint8)


def official(preprocessing: str, environment: str, images: Path, folder: Path, pixels: np.ndarray) -> np.ndarray:
    np.save(folder / "pixels.npy", pixels)
    script = Path(__file__).with_name("official_preprocessing.py")
    run_program(environment, script, preprocessing, images, folder / "pixels.npy", folder / "official.npy")
    return np.load(folder / "official.npy")


@pytest.mark.parametrize(
    ("preprocessing", "environment", "tolerance"),
    [("torch", "torch", 1e-6), ("caffe", "tensorflow/cpu", 1e-4), ("tf", "tensorflow/cpu", 1e-6)],
)
def test_arrays_are_what_the_zoo_makes_itself(
    tmp_path: Path, preprocessing: str, environment: str, tolerance: float
) -> None:
    images = sample("imagefolder-flowers-ccby") / "val"
    names = sorted(images.glob("*/*.jpg"))
    arrays = make(folder=images, preprocessing=preprocessing)
    pixels = pixels_of(make(folder=images, preprocessing="unit"))
    found = official(preprocessing, environment, images, tmp_path, pixels)
    if preprocessing == "torch":
        # The data set's order is a seeded choice; the zoo read the files by name.
        found = found[chosen(len(names), None, "images", seed=0)]
    np.testing.assert_allclose(arrays.x_test, found, rtol=0, atol=tolerance)
