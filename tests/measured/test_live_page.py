"""What the page of a study that runs takes of a processor, between two runs."""

import time
from pathlib import Path

import pytest
from live_scene import Scene, play


@pytest.mark.measured(twin="tests/workflow/test_live.py::test_a_page_reads_and_computes_nothing_again", disks=False)
def test_writing_it_between_runs_costs_little(tmp_path: Path) -> None:
    """Processor time of a page: the first with answers loads libraries, later ones are what a run pays."""
    scene = Scene(tmp_path)
    live = scene.live()
    play(scene, live, 4)
    started_s = time.process_time()
    for _ in range(10):
        live.begins("aggregate", None)
    assert (time.process_time() - started_s) / 10 < 0.05
