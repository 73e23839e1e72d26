"""The figure and the table of what was known after each block."""

from matplotlib.figure import Figure
from stopping_factory import CELLS, path

from framewatt.figures.stopping import draw
from framewatt.report.facts import _look_row
from framewatt.stopping.path import Path
from framewatt.stopping.record import frame_of, record_of

LEVELS = {cell.id: cell.to_dict() for cell in CELLS}
COMPARED = ["runtime", "provider"]


def drawn(found: Path, estimated: bool = False) -> Figure:
    figure: Figure = draw(frame_of(found), LEVELS, found.rule.width, estimated, COMPARED)
    figure.draw_without_rendering()
    return figure


def test_a_row_of_panels_a_group_with_the_ratios_and_the_evidence() -> None:
    found = path(8)
    figure = drawn(found)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "infer resnet50 digits batch 1 fp32",
        "Evidence that torch takes less",
        "infer resnet50 digits batch 64 fp32",
        "Evidence that torch takes less",
    ]

    assert figure.axes[0].get_ylabel() == "ratio to torch\n(logarithmic)"
    for axes in figure.axes:
        # A title that is wider than its panel would lie on the next one.
        width = axes._left_title.get_window_extent().width
        assert width <= 1.1 * axes.get_window_extent().width
    assert len(figure.axes[1].get_lines()) == 3, "two choices and the threshold"
    evidence = figure.axes[1].get_lines()[0]
    assert list(evidence.get_xdata()) == [step.blocks for step in found.steps]
    assert evidence.get_ydata()[-1] >= 60

    low, high = figure.axes[0].get_ylim()
    assert low < 1
    assert high > 1.2


def test_the_width_of_intervals_is_drawn_where_that_is_the_rule() -> None:
    found = path(8, noise=0.005, until={"interval": 0.05})
    figure = drawn(found)
    assert figure.axes[1].get_title(loc="left") == "Half-width of the interval"
    shares = figure.axes[1].get_lines()[0].get_ydata()
    assert shares[-1] <= 5 < shares[0]


def test_with_fixed_looks_widths_are_drawn_and_the_table_names_the_lowest_end() -> None:
    found = path(8, noise=0.02, looks="fixed")
    figure = drawn(found)
    assert figure.axes[1].get_title(loc="left") == "Half-width of the interval"
    assert len(figure.axes[1].get_lines()) == 2, "two choices and no width to reach"
    assert not any("Dashed" in text.get_text() for text in figure.texts)
    group = next(iter(record_of(found)["steps"][-1]["groups"].values()))
    _, near, ratio, evidence, enough, settled = _look_row(group, LEVELS, COMPARED, by_width=False)
    assert (near, evidence, enough, settled) == ("tensorflow", "", "", "yes")
    assert ratio.startswith("1.2")


def test_what_is_estimated_says_so_and_what_is_empty_too() -> None:
    assert any("estimated" in text.get_text() for text in drawn(path(8), estimated=True).texts)
    nothing = path(8, change={(cell.id, block): None for cell in CELLS for block in range(1, 9)})
    assert any(
        "No two choices" in text.get_text() for text in drawn(nothing).findobj(match=lambda o: hasattr(o, "get_text"))
    )


def test_the_table_names_the_choice_that_is_least_surely_told_from_the_best() -> None:
    groups = record_of(path(8))["steps"][-1]["groups"]
    leader, near, ratio, _, enough, settled = _look_row(next(iter(groups.values())), LEVELS, COMPARED, by_width=False)
    assert (leader, near, enough, settled) == ("torch", "tensorflow", "60.0", "yes")
    assert ratio.startswith("1.2")
    nothing = {"leader": None, "threshold": 60.0, "settled": True, "others": [], "without": ["torch-b1"]}
    assert _look_row(nothing, LEVELS, COMPARED, by_width=False) == ["none", "none", "", "", "", "yes"]
