"""Names of points: beside them, each at the side where it covers the least of what is there, and as their ids."""

from collections.abc import Sequence

from matplotlib.axes import Axes

_FONT_PT = 6.5
_LETTER_PT = 0.55 * _FONT_PT
_POINT_PT = 5.0
"""Half the width of a point's marker."""

_PANEL_PT = (215.0, 200.0)
"""Width and height of a panel, about: places are only compared."""

_SIDES = ((1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1))
"""Where a name may stand, as a direction from its point, in the order of preference."""

_Box = tuple[float, float, float, float]


_POINT = "point-"


def point_of(cell: str) -> str:
    """The id that the point of a cell's mean has in an SVG, by which a page finds it."""
    return f"{_POINT}{cell}"


def name_points(axes: Axes, points: Sequence[tuple[float, float]], names: Sequence[str]) -> None:
    """Write a name beside each point, once the axes have their scales and limits.

    Args:
        axes: the panel.
        points: x and y of each.
        names: of each.
    """
    to_share = axes.transScale + axes.transLimits
    places = [
        (float(x) * _PANEL_PT[0], float(y) * _PANEL_PT[1]) for x, y in (to_share.transform(point) for point in points)
    ]
    taken: list[_Box] = [(x - _POINT_PT, y - _POINT_PT, x + _POINT_PT, y + _POINT_PT) for x, y in places]
    for point, place, name in zip(points, places, names, strict=True):
        boxes = {side: _box(place, name, side) for side in _SIDES}
        side = min(boxes, key=lambda one: (_cost(boxes[one], taken), _SIDES.index(one)))
        taken.append(boxes[side])
        axes.annotate(
            name,
            point,
            (side[0] * (_POINT_PT + 1), side[1] * (_POINT_PT + 1)),
            textcoords="offset points",
            fontsize=_FONT_PT,
            ha={1: "left", 0: "center", -1: "right"}[side[0]],
            va={1: "bottom", 0: "center", -1: "top"}[side[1]],
            zorder=6,
        )


def _box(place: tuple[float, float], name: str, side: tuple[int, int]) -> _Box:
    """The rectangle that a name at a side of its point covers, in points."""
    width, height, away = _LETTER_PT * len(name), 1.2 * _FONT_PT, _POINT_PT + 1
    left = place[0] + {1: away, 0: -width / 2, -1: -away - width}[side[0]]
    low = place[1] + {1: away, 0: -height / 2, -1: -away - height}[side[1]]
    return (left, low, left + width, low + height)


def _cost(box: _Box, taken: Sequence[_Box]) -> float:
    """Area that a rectangle shares with others, or has outside of the panel."""
    panel = (0.0, 0.0, *_PANEL_PT)
    whole = (box[2] - box[0]) * (box[3] - box[1])
    return sum(_shared(box, one) for one in taken) + whole - _shared(box, panel)


def _shared(a: _Box, b: _Box) -> float:
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return max(width, 0.0) * max(height, 0.0)
