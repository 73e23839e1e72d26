"""Lays a figure out once, so that it lies the same in every process and every format."""

from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure


def settle(figure: Figure) -> None:
    """Lay the figure out and round where its axes came to lie; a second call changes nothing.

    The constraint solver's last bits differ from process to process, and SVG's ids are hashes of exact positions.

    Args:
        figure: with all that takes part in its layout.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = (round(edge, 6) for edge in axes.get_position(original=True).bounds)
        axes.set_position((left, bottom, width, height))


def renderer_of(figure: Figure) -> RendererAgg:
    """What tells how wide texts are; one for all of them, since a text without one makes and keeps a whole canvas."""
    renderer: RendererAgg = FigureCanvasAgg(figure).get_renderer()
    return renderer
