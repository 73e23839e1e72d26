"""One combination of levels over time, both frameworks: ITU 2023, figure 1."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from framewatt.figures import notes, style
from framewatt.figures.power_traces import TracedRun
from framewatt.figures.published import frameworks

_ROWS = {
    "power_w": ("power (W)", 1.0),
    "temperature_c": ("temperature (°C)", 1.0),
    "memory_used_b": ("memory (GiB)", 2.0**-30),
    "utilization_percent": ("GPU util. (%)", 1.0),
    "memory_utilization_percent": ("memory util. (%)", 1.0),
}
_DASHES = ("-", (0, (2, 1)), ":")

TITLE = "itu2023, Figure 1: one combination over time"


@style.styled
def draw(runs: Sequence[TracedRun], combination: str) -> Figure:
    """A row of panels a quantity, a column a framework; vertical lines where an epoch ends.

    Args:
        runs: of one combination of levels, every repetition of either framework.
        combination: the levels in words.
    """
    if not runs:
        return notes.empty(TITLE, "No raw results are given.")
    present = [name for name in frameworks.NAMES if any(run.record["cell"]["framework"] == name for run in runs)]
    figure = Figure(figsize=(1.2 + 4.0 * len(present), 1.3 + 1.25 * len(_ROWS)), layout="constrained")
    panels = figure.subplots(len(_ROWS), len(present), squeeze=False, sharex="col", sharey="row")
    for column, framework in enumerate(present):
        mine = [run for run in runs if run.record["cell"]["framework"] == framework]
        panels[0, column].set_title(frameworks.NAMES[framework])
        panels[-1, column].set_xlabel("seconds since the first reading")
        for axes, quantity in zip(panels[:, column], _ROWS, strict=True):
            for dash, run in zip(_DASHES, mine, strict=False):
                _line(axes, run, quantity, dash)
            axes.yaxis.set_major_locator(MaxNLocator(4))
    for axes, (label, _) in zip(panels[:, 0], _ROWS.values(), strict=True):
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
    how = "Vertical lines: ends of epochs. Solid and dashed: repetition 1 and 2, each from its own first reading."
    return notes.finish(figure, TITLE, "", [combination, how])


def _line(axes: Axes, run: TracedRun, quantity: str, dash: object) -> None:
    own = run.power[run.power["quantity"] == quantity]
    start_ns = int(run.power["monotonic_ns"].min())
    seconds = (own["monotonic_ns"].to_numpy() - start_ns) * 1e-9
    look = frameworks.LOOKS[run.record["cell"]["framework"]].colour
    axes.plot(seconds, np.asarray(own["value"], dtype=float) * _ROWS[quantity][1], color=look, lw=0.9, ls=dash)
    for epoch in run.record["epochs"]:
        end_ns = run.record["windows"][f"epoch-{epoch['epoch']}"]["end_monotonic_ns"]
        axes.axvline((end_ns - start_ns) * 1e-9, color="#999999", lw=0.5, ls=dash, zorder=1)
