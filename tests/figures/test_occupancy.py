"""`make occupancy`: when each node measured, drawn and told, and an error where two runs overlapped on one."""

import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.text import Text
from records_factory import energy, run_record, window

from framewatt.figures.occupancy import draw
from framewatt.frames.occupancy import occupied
from framewatt.runs.records import write_run

ROOT = Path(__file__).parents[2]
S = 1_000_000_000


def record(repetition: int, start_s: int, end_s: int, node: str) -> dict:
    """A run from one second to another on a node."""
    span = window({"cpu:package-0": energy(100.0)}, start_s * S) | {"end_monotonic_ns": end_s * S}
    span |= {f"{edge}_utc": f"2026-01-01T00:00:{at:02}+00:00" for edge, at in (("start", start_s), ("end", end_s))}
    about = {"repetition": repetition, "block": repetition, "position": repetition}
    return run_record(windows={"steady": span}, **about, **({"node": node} if node else {}))


def called(folder: Path, records: list[dict]) -> subprocess.CompletedProcess:
    for one in records:
        path = folder / "measure" / one["cell_id"] / str(one["repetition"]) / "run.json"
        path.parent.mkdir(parents=True)
        write_run(path, one)
    words = [sys.executable, "-P", ROOT / "scripts/occupancy.py", "--results", folder, "--picture", folder / "x.svg"]
    return subprocess.run(
        words, env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=False, cwd=folder
    )


def test_two_nodes_at_once_are_told_and_drawn(tmp_path: Path) -> None:
    done = called(tmp_path, [record(1, 0, 10, "a"), record(2, 4, 12, "b"), record(3, 10, 20, "a")])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:3] == [
        "node a: 2 runs of block 1, 3, 20.0 s",
        "node b: 1 runs of block 2, 8.0 s",
        "more than one node at once: 8.0 s",
    ]
    assert "seconds since the first run began" in (tmp_path / "x.svg").read_text()


def test_two_runs_on_one_node_at_once_are_an_error(tmp_path: Path) -> None:
    done = called(tmp_path, [record(1, 0, 10, ""), record(2, 9, 12, "")])
    assert done.returncode == 1
    assert "overlap on this machine: " in done.stdout
    assert done.stderr == "framewatt: 1 measurements overlapped with others on one node, which must not happen.\n"


def test_no_run_is_told_and_nothing_is_drawn(tmp_path: Path) -> None:
    done = called(tmp_path, [])
    assert done.returncode == 1
    assert "has no run with a window in measure/" in done.stderr
    assert not (tmp_path / "x.svg").exists()


def test_a_figure_of_no_runs_says_so() -> None:
    assert "No run has a window." in {text.get_text() for text in draw([]).findobj(Text)}


@pytest.mark.parametrize("nodes", [("",), ("a", "b", "c")])
def test_any_number_of_nodes_can_be_drawn(nodes: tuple[str, ...]) -> None:
    figure = draw(occupied([record(n, n, n + 1, node) for n, node in enumerate(nodes, 1)]))
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [node or "this machine" for node in nodes]
