"""Images as squares: boxes and masks stay on what they are of."""

from fractions import Fraction

import numpy as np
import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framewatt.datasets.preprocessing import placing

SIDES = st.integers(1, 70)
SHAPES = st.sampled_from(["fit", "stretch"])
PARTS = st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted)


@settings(deadline=None)
@given(SIDES, SIDES, SIDES, SHAPES)
def test_an_image_fills_its_square_in_one_direction_at_least(height: int, width: int, side: int, shape: str) -> None:
    inner = placing((height, width), side, shape).inner
    assert max(inner) == side
    for found, length in zip(inner, (height, width), strict=True):
        wanted = side if shape == "stretch" else max(1, side * length / max(height, width))
        assert abs(found - wanted) <= 0.5


@settings(deadline=None)
@given(SIDES, SIDES, SIDES, SHAPES, PARTS, PARTS)
def test_a_box_is_scaled_as_its_image(
    height: int, width: int, side: int, shape: str, across: list[float], down: list[float]
) -> None:
    placed = placing((height, width), side, shape)
    (left, right), (top, bottom) = (np.array(across) * width).tolist(), (np.array(down) * height).tolist()
    box = placed.box(left, top, right - left, bottom - top)
    assert box.dtype == np.float32
    assert 0 <= box[0] <= box[2] <= placed.inner[1]
    assert 0 <= box[1] <= box[3] <= placed.inner[0]
    scales = np.array([placed.inner[1] / width, placed.inner[0] / height] * 2)
    assert box / scales == pytest.approx([left, top, right, bottom], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("box", "kept"),
    [
        ((0, 0, 40, 20), [0, 0, 20, 10]),
        ((-5, 2, 10, 30), [0, 1, 2.5, 10]),
        ((30, 10, 100, 5), [15, 5, 20, 7.5]),
        ((-1e9, -1e9, 2e9, 2e9), [0, 0, 20, 10]),
    ],
)
def test_a_box_is_cut_at_the_edges_of_its_image_and_not_of_the_square(box: tuple, kept: list[float]) -> None:
    assert placing((20, 40), 20, "fit").box(*box).tolist() == kept


@pytest.mark.parametrize("box", [(40, 0, 5, 5), (-9, 0, 9, 5), (3, 3, 0, 4), (3, 3, 4, 0), (3, 30, 4, 4)])
def test_of_a_box_that_is_empty_or_outside_nothing_is_left(box: tuple) -> None:
    left, top, right, bottom = placing((20, 40), 20, "fit").box(*box)
    assert right <= left or bottom <= top


@settings(deadline=None)
@given(SIDES, SIDES, st.integers(1, 90), SHAPES, st.integers(0, 2**32 - 1))
def test_a_pixel_of_a_mask_is_that_under_its_middle(height: int, width: int, side: int, shape: str, seed: int) -> None:
    mask = np.random.default_rng(seed).integers(0, 2, (height, width)).astype(np.uint8)
    placed = placing((height, width), side, shape)
    made = placed.mask(mask)
    rows, columns = placed.inner
    under = [
        [int(Fraction(2 * place + 1, 2) * length / inner) for place in range(inner)]
        for inner, length in ((rows, height), (columns, width))
    ]
    assert np.array_equal(made[:rows, :columns], mask[np.ix_(*under)])
    assert made.sum() == made[:rows, :columns].sum()


@settings(deadline=None)
@given(SIDES, SIDES, st.integers(1, 90), SHAPES, st.data())
def test_a_scaled_mask_ends_where_its_scaled_box_does(
    height: int, width: int, side: int, shape: str, data: st.DataObject
) -> None:
    """Within half a pixel of the square: it has each pixel whose middle is in the box, and no other."""
    left, top = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    right, bottom = data.draw(st.integers(left + 1, width)), data.draw(st.integers(top + 1, height))
    mask = np.zeros((height, width), np.uint8)
    mask[top:bottom, left:right] = 1
    placed = placing((height, width), side, shape)
    box, scaled = placed.box(left, top, right - left, bottom - top), placed.mask(mask)
    for edges, filled in ((box[::2], scaled.any(axis=0)), (box[1::2], scaled.any(axis=1))):
        if scaled.any():
            places = np.flatnonzero(filled)
            assert abs(places[0] - edges[0]) <= 0.5001
            assert abs(places[-1] + 1 - edges[1]) <= 0.5001
    if not scaled.any():
        assert min(box[2] - box[0], box[3] - box[1]) <= 1


def test_an_image_and_its_mask_are_scaled_alike() -> None:
    """To within half a pixel of the photograph, on whose edge a middle may lie; its corner would be a whole one off."""
    down, across = np.ogrid[:480, :640]
    mask = ((down - 170) ** 2 + (across - 410) ** 2 < 100**2).astype(np.uint8)
    image = PIL.Image.fromarray(mask * 255).convert("RGB")
    for shape, side in (("fit", 320), ("fit", 213), ("stretch", 300), ("fit", 800)):
        placed = placing(mask.shape, side, shape)
        pixels, scaled = placed.pixels(image)[..., 0] / 255, placed.mask(mask)
        rows, columns = placed.inner
        assert pixels.shape == (rows, columns)
        weights = [np.average(np.arange(values.shape[1]), weights=values.sum(axis=0)) for values in (pixels, scaled)]
        assert weights[0] == pytest.approx(weights[1], abs=0.5 * columns / 640 + 0.01)
        assert pixels.sum() == pytest.approx(scaled.sum(), rel=0.01)
