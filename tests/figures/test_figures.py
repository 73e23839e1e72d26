"""Figures: the same bytes every time, every run on them, and words where numbers would mislead."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from frames_factory import POWER_W, cell, epochs_frame, runs_frame, study_frame
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.text import Text
from report_factory import STATISTICS

from framewatt.base.errors import FramewattError
from framewatt.figures import deploy, energy_accuracy, energy_time, epochs, power_traces, runtime_batch
from framewatt.figures.power_traces import TracedRun, counter_power
from framewatt.figures.save import save
from framewatt.frames.factor_words import factors_of
from framewatt.frames.totals import TOTAL
from framewatt.statistics.deploy import judge_choices

ESTIMATE = "estimated, not measured"
TRAINED = [cell(runtime, "train", 16) for runtime in ("torch", "tensorflow", "mxnet")]
SECOND = 10**9


def cells_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Statistics of cells with intervals of 5 % around the mean."""
    totals = runs[runs["domain"] == TOTAL].copy()
    totals["time_per_sample_s"] = totals["duration_s"] / totals["samples_processed"]
    parts = []
    for quantity in ("energy_per_sample_j", "time_per_sample_s"):
        part = totals.groupby(["cell", *factors_of(totals)])[quantity].mean().rename("mean").reset_index()
        parts.append(part.assign(quantity=quantity, mean_low=0.95 * part["mean"], mean_high=1.05 * part["mean"]))
    return pd.concat(parts, ignore_index=True)


def traced(phase: str, *, estimated: bool) -> TracedRun:
    """A run of 10 s at POWER_W with a counter, a gauge and something that is no power."""
    start = 7 * SECOND
    time_ns = start + np.arange(0, 1001) * SECOND // 100
    domain = "cpu:estimate" if estimated else "cpu:package-0"
    counter = {"domain": domain, "quantity": "energy_j", "value": POWER_W * np.arange(0, 1001) / 100}
    gauge = {"domain": "gpu:0", "quantity": "power_instant_w", "value": 200.0}
    other = {"domain": "gpu:0", "quantity": "utilization_percent", "value": 9000.0}
    power = pd.concat([pd.DataFrame({"monotonic_ns": time_ns} | one) for one in (counter, gauge, other)])
    edges = {"train": {"setup": (0, 2), "epoch-1": (2, 5), "epoch-2": (6, 9), "steady": (2, 9)}}
    edges["infer"] = {"process": (0, 10), "setup": (0, 2), "warm_up": (2, 3), "steady": (3, 9), "evaluate": (9, 10)}
    windows = {
        name: {
            "spans_monotonic_ns": [[start + a * SECOND, start + b * SECOND]],
            "domains": {domain: {"estimated": estimated}},
        }
        for name, (a, b) in edges[phase].items()
    }
    record = {"windows": windows, "primary_window": None, "cell": cell(phase=phase, batch_size=64).to_dict()}
    return TracedRun(record, power)


def draw(name: str, *, estimated: bool = False) -> Figure:
    """A figure of a synthetic study, by its name."""
    runs = study_frame(5, estimated=estimated)
    drawings: dict[str, Callable[[], Figure]] = {
        "energy_time": lambda: energy_time.draw(runs, cells_of(runs)),
        "energy_runtime_batch": lambda: runtime_batch.draw_energy(runs, cells_of(runs)),
        "time_runtime_batch": lambda: runtime_batch.draw_time(runs, cells_of(runs)),
        "energy_accuracy": lambda: energy_accuracy.draw(runs, cells_of(runs)),
        "deploy": lambda: deploy.draw(runs, judge_choices(runs, STATISTICS)),
        "epochs": lambda: epochs.draw(epochs_frame(TRAINED, 5, estimated=estimated), runs),
        "power_traces": lambda: power_traces.draw([traced(p, estimated=estimated) for p in ("train", "infer")], runs),
    }
    return drawings[name]()


FIGURES = [
    "deploy",
    "energy_time",
    "energy_runtime_batch",
    "time_runtime_batch",
    "energy_accuracy",
    "epochs",
    "power_traces",
]


def words(figure: Figure) -> str:
    """All visible text of a figure."""
    return "\n".join(text.get_text() for text in figure.findobj(Text) if text.get_visible())


def labelled(figure: Figure, label: str) -> Iterator[Any]:
    """What was drawn under a label."""
    return (artist for artist in figure.findobj(Artist) if artist.get_label() == label)


PROGRAM = """
import sys, test_figures as t
for name in t.FIGURES:
    t.save(t.draw(name), [t.Path(sys.argv[1], f"{name}.{suffix}") for suffix in ("svg", "pdf", "png")])
"""


def test_every_format_is_byte_identical_across_processes(tmp_path: Path) -> None:
    contents = []
    for process in ("1", "2"):
        folder = tmp_path / process
        folder.mkdir()
        search = ":".join([str(Path(__file__).parent), *filter(None, sys.path)])
        # What differs between machines and days: hash seed, home, clock.
        environment = {
            "PYTHONPATH": search,
            "PYTHONHASHSEED": process,
            "HOME": str(folder),
            "SOURCE_DATE_EPOCH": process,
        }
        subprocess.run([sys.executable, "-c", PROGRAM, folder], check=True, env=environment)
        contents.append({path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()})
    assert len(contents[0]) == 3 * len(FIGURES)
    assert contents[0] == contents[1]
    for name, content in contents[0].items():
        assert not any(mark in content for mark in (b"<dc:date>", b"CreationDate", b"Software")), name


def test_the_readers_own_matplotlib_settings_change_nothing(tmp_path: Path) -> None:
    save(draw("energy_time"), [tmp_path / "a.svg"])
    with matplotlib.rc_context({"font.size": 20, "svg.hashsalt": "other", "axes.facecolor": "red"}):
        save(draw("energy_time"), [tmp_path / "b.svg"])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"'\.gif' is not a format of figures\. Use \.svg"):
        save(Figure(), [tmp_path / "a.gif"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", sorted({*FIGURES} - {"time_runtime_batch"}))
@pytest.mark.parametrize("estimated", [True, False])
def test_estimate_is_written_on_the_figure_when_and_only_when_there_is_one(name: str, estimated: bool) -> None:
    assert (ESTIMATE in words(draw(name, estimated=estimated))) == estimated


def test_times_are_measured_also_where_energy_is_estimated() -> None:
    assert ESTIMATE not in words(draw("time_runtime_batch", estimated=True))


@pytest.mark.parametrize("plot", [energy_time.draw, runtime_batch.draw_energy, energy_accuracy.draw])
def test_a_partly_estimated_study_says_so(plot: Any) -> None:
    runs = study_frame(3)
    runs.loc[runs["cell"] == runs["cell"].iloc[0], "estimated"] = True
    assert "Energy partly estimated, not measured" in words(plot(runs, cells_of(runs)))


@pytest.mark.parametrize("name", ["energy_time", "energy_runtime_batch", "time_runtime_batch", "energy_accuracy"])
def test_every_repetition_is_a_dot(name: str) -> None:
    dots = [point for dots in labelled(draw(name), "_repetitions") for point in dots.get_offsets()]
    assert len(dots) == 15 * 5


def test_panels_are_the_groups_that_exist() -> None:
    """Training on a part of the data and inference on all of it: neither has a panel for the other's data."""
    runs = runs_frame(
        {
            cell("torch", "train", 8, dataset="digits-part"): [3.0, 3.1],
            cell("mxnet", "train", 8, dataset="digits-part"): [4.0, 4.1],
            cell("torch", "infer", 64): [1.0, 1.1],
            cell("mxnet", "infer", 64): [2.0, 2.1],
        }
    )
    figure = energy_time.draw(runs, cells_of(runs))
    shown = [axes for axes in figure.axes if axes.axison and axes.get_label() != "<colorbar>"]
    assert [len(axes.collections) > 0 for axes in shown] == [True, True]
    assert [axes.get_title(loc="left").replace("\n", " ") for axes in shown] == [
        "infer: resnet50, digits",
        "train: resnet50, digits-part",
    ]


def test_dots_lie_at_the_energies_of_their_runs() -> None:
    runs = runs_frame({cell("torch"): [1.0, 2.0, 4.0], cell("mxnet"): [3.0, 3.5, 5.0]})
    figure = runtime_batch.draw_energy(runs, cells_of(runs))
    drawn = sorted(x for dots in labelled(figure, "_repetitions") for x, _ in dots.get_offsets())
    assert drawn == [1.0, 2.0, 3.0, 3.5, 4.0, 5.0]


def test_dots_of_times_lie_at_the_seconds_of_a_sample() -> None:
    one = cell("torch")
    runs = runs_frame({one: [1.0, 2.0]}, {one: [0.25, 0.5]})
    figure = runtime_batch.draw_time(runs, cells_of(runs))
    drawn = sorted(x for dots in labelled(figure, "_repetitions") for x, _ in dots.get_offsets())
    assert drawn == [0.25, 0.5]


def test_dots_lie_at_energy_and_accuracy_of_their_runs() -> None:
    one = cell("torch")
    runs = runs_frame({one: [1.0, 2.0]}, accuracy={one: [0.8, 0.9]})
    figure = energy_accuracy.draw(runs, cells_of(runs))
    drawn = [tuple(point) for dots in labelled(figure, "_repetitions") for point in dots.get_offsets()]
    assert drawn == [(0.8, 1.0), (0.9, 2.0)]


def test_where_accuracy_is_unknown_its_figure_says_why() -> None:
    runs = runs_frame({cell("torch"): [1.0]}).assign(
        accuracy=None, flags="some flag; weights are random, so accuracy is unknown"
    )
    assert "No accuracy: weights are random, so accuracy is unknown." in words(
        energy_accuracy.draw(runs, cells_of(runs))
    )


def test_every_repetition_of_training_is_a_line_and_their_mean_one_more() -> None:
    figure = draw("epochs")
    assert len(list(labelled(figure, "_repetition"))) == 2 * 3 * 5
    means = list(labelled(figure, "_mean"))
    assert len(means) == 2 * 3
    # Epoch k of repetition r costs 100 + 10 k + r joules.
    assert [113.0, 123.0, 133.0] in [list(line.get_ydata()) for line in means]


@pytest.mark.parametrize(
    "plot", [energy_time.draw, runtime_batch.draw_energy, runtime_batch.draw_time, energy_accuracy.draw]
)
def test_failed_and_invalid_runs_are_counted_and_not_drawn(plot: Any) -> None:
    runs = runs_frame({cell("torch"): [1.0, None, 3.0, 1.5], cell("mxnet"): [2.0, 2.0, None, 9.0]})
    runs.loc[(runs["cell"] == cell("mxnet").id) & (runs["repetition"] == 4), "valid"] = False
    figure = plot(runs, cells_of(runs))
    assert "Not drawn: 2 failed and 1 invalid runs of 8" in words(figure)
    assert sum(len(dots.get_offsets()) for dots in labelled(figure, "_repetitions")) == 5


def test_epochs_of_an_invalid_run_are_not_drawn() -> None:
    runs = runs_frame({TRAINED[0]: [1.0, 1.0]})
    runs.loc[runs["repetition"] == 2, "valid"] = False
    figure = epochs.draw(epochs_frame(TRAINED[:1], 2), runs)
    assert len(list(labelled(figure, "_repetition"))) == 2
    assert "Not drawn: 1 invalid run of 2" in words(figure)


def test_where_everything_failed_the_figures_say_so_in_words(tmp_path: Path) -> None:
    runs = runs_frame({cell("torch"): [None, None], TRAINED[0]: [None, None]})
    nothing = cells_of(study_frame(2)).iloc[:0]
    for figure in (
        energy_time.draw(runs, nothing),
        runtime_batch.draw_energy(runs, nothing),
        runtime_batch.draw_time(runs, nothing),
        energy_accuracy.draw(runs, nothing),
        epochs.draw(epochs_frame([]), runs),
        power_traces.draw([], runs),
    ):
        assert "No " in words(figure)
        assert "failed runs of" in words(figure)
        save(figure, [tmp_path / "figure.svg"])


def test_a_study_without_training_says_so() -> None:
    runs = runs_frame({cell("torch"): [1.0, 2.0]})
    assert "trains nothing" in words(epochs.draw(epochs_frame([]), runs))


@pytest.mark.filterwarnings("error")  # matplotlib's, of axes without room
def test_a_single_run_without_interval_or_accuracy_is_drawn(tmp_path: Path) -> None:
    runs = runs_frame({cell("torch"): [1.0, None]}, estimated=True)
    runs["accuracy"] = None
    cells = cells_of(runs).assign(mean_low=None, mean_high=None)
    for plot in (energy_time.draw, runtime_batch.draw_energy):
        figure = plot(runs, cells)
        save(figure, [tmp_path / "figure.png"])
        assert sum(len(dots.get_offsets()) for dots in labelled(figure, "_repetitions")) == 1


def test_power_of_a_counter_bridges_failed_reads_and_breaks_at_a_wrap() -> None:
    time_ns = np.arange(0, 101) * SECOND // 20
    energy_j = 10.0 * time_ns / SECOND
    energy_j[30] = np.nan
    energy_j[60:] -= 25.0
    middles_ns, power_w = counter_power(time_ns, energy_j)
    assert np.diff(middles_ns).min() >= power_traces.SHORTEST_STEP_S * 1e9
    assert np.isnan(power_w).sum() == 1
    assert power_w[np.isfinite(power_w)] == pytest.approx(10.0)
    assert middles_ns[np.isnan(power_w)] == pytest.approx(time_ns[60], abs=0.1 * SECOND)


@pytest.mark.parametrize("energy_j", [[], [1.0], [np.nan, 1.0, np.nan]])
def test_a_counter_of_fewer_than_two_good_reads_has_no_power(energy_j: list[float]) -> None:
    middles_ns, power_w = counter_power(np.arange(len(energy_j), dtype=np.int64), np.array(energy_j))
    assert len(middles_ns) == len(power_w) == 0


def test_traces_show_power_over_time_and_shaded_windows() -> None:
    figure = draw("power_traces")
    lines = list(labelled(figure, "_power"))
    assert sorted(float(np.median(line.get_ydata())) for line in lines) == pytest.approx(
        [POWER_W, POWER_W, 200.0, 200.0]
    )
    shaded = {
        name: len(list(labelled(figure, f"_{name}"))) for name in ("setup", "epoch-1", "epoch-2", "steady", "process")
    }
    # The steady window of a training is its epochs, which have their own shades; nobody needs the process shaded.
    assert shaded == {"setup": 2, "epoch-1": 1, "epoch-2": 1, "steady": 1, "process": 0}


def test_traces_come_from_the_first_valid_repetition_at_the_largest_batch() -> None:
    def record(runtime: str, batch: int, repetition: int, *, valid: bool = True, status: str = "ok") -> dict[str, Any]:
        one = cell(runtime, batch_size=batch)
        head = {"cell": one.to_dict(), "cell_id": one.id, "repetition": repetition}
        return head | {"valid": valid, "status": status}

    records = {
        Path("first"): record("mxnet", 1, 1),
        Path("invalid"): record("torch", 64, 1, valid=False),
        Path("later"): record("torch", 64, 3),
        Path("largest"): record("torch", 64, 2),
        Path("smaller"): record("torch", 1, 1),
        Path("failed"): record("tensorflow", 64, 1, status="failed", valid=False),
    }
    assert power_traces.choose(records) == [Path("largest"), Path("first")]


def test_disturbed_runs_are_drawn_apart_and_counted() -> None:
    runs = runs_frame({cell("torch"): [1.0, 2.0, 4.0], cell("mxnet"): [3.0, 3.5, 5.0]})
    by = {4.0: "other work took 12 % of the processors", 2.0: ""}
    runs["disturbed_by"] = runs["energy_per_sample_j"].map(by)
    figure = energy_time.draw(runs, cells_of(runs))
    rings, dots = (
        [y for part in labelled(figure, f"_{name}") for _, y in part.get_offsets()]
        for name in ("disturbed", "repetitions")
    )
    assert (rings, sorted(dots)) == ([4.0], [1.0, 2.0, 3.0, 3.5, 5.0])
    assert "Disturbed by others: 1 of 6 runs, drawn as rings" in words(figure)
    assert "Disturbed by others: 1 of 6 runs" in words(runtime_batch.draw_energy(runs, cells_of(runs)))
    quiet = runs.drop(columns="disturbed_by")
    assert "Disturbed" not in words(energy_time.draw(quiet, cells_of(quiet)))
