"""Which node measured which block when."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from framewatt.figures import notes, style
from framewatt.frames.occupancy import Occupied, at_once_s

TITLE = "When each node measured"
_HEIGHT = 0.6
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Of blocks in turn; each bar also has the number of its block."""


@style.styled
def draw(runs: Sequence[Occupied]) -> Figure:
    """Return a row a node, a bar a run from its first to its last window, a colour a block.

    Args:
        runs: see framewatt.frames.occupancy.
    """
    if not runs:
        return notes.empty(TITLE, "No run has a window.", [])
    nodes = sorted({run.node for run in runs})
    first = min(run.span_utc[0] for run in runs)
    figure = Figure(figsize=(8.4, 1.5 + 0.6 * len(nodes)), layout="constrained")
    axes = figure.subplots()
    for run in runs:
        started, ended = ((moment - first).total_seconds() for moment in run.span_utc)
        row = nodes.index(run.node)
        colour = _COLOURS[(run.block - 1) % len(_COLOURS)]
        axes.barh(row, ended - started, left=started, height=_HEIGHT, color=colour, edgecolor="white", linewidth=0.5)
        axes.text(
            (started + ended) / 2, row, str(run.block), ha="center", va="center", fontsize="x-small", color="white"
        )
    axes.set_yticks(range(len(nodes)), [node or "this machine" for node in nodes])
    axes.invert_yaxis()
    axes.set_xlabel("seconds since the first run began")
    axes.set_ylabel("node")
    axes.set_title(TITLE)
    if len(nodes) > 1:
        words = f"more than one at once for {at_once_s(runs):.0f} s; a bar is a run, its number and colour the block"
    else:
        words = "a bar is a run, its number and colour the block"
    figure.legend(
        handles=[Patch(visible=False, label=words)], loc="outside lower center", frameon=False, handlelength=0
    )
    return figure
