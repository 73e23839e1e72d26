"""The line and the page of a study that runs: what they say, when, and what they must never do to the study."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from records_factory import energy, run_record
from study_factory import hashes_of, loaded

from framewatt.base.files import write_json
from framewatt.flow.live import Live
from framewatt.flow.running import MARK, PAGE, says_that_it_runs
from framewatt.planning.plan import plan_of

CROSS = {"phase": ["infer"], "workload": ["resnet50"], "runtime": ["torch", "mxnet"], "batch_size": [8]}
RULE = {"at_least": 3, "at_most": 9, "until": {"best": "energy"}}
DEARER = {"torch": 100.0, "mxnet": 150.0}


class Scene:
    """A study of two cells, whose runs end as a test wants."""

    def __init__(self, folder: Path, **keys: Any) -> None:
        content = {"study": "trial", "title": "A <b>bold</b> trial", "repetitions": 3, **keys}
        study = loaded(folder, {**content, "factors": [{**CROSS, "dataset": ["digits"]}]})
        self.plan = json.loads(json.dumps(plan_of(hashes_of(study))))
        self.results = folder / "results/trial"
        write_json(self.results / "plan/plan.json", self.plan)
        self.names = [f"{entry['cell']}/{entry['repetition']}" for entry in self.plan["order"]]

    def live(self, due: list[str] | None = None, **keys: Any) -> Live:
        return Live(self.results, self.names if due is None else due, "6 of 6 runs are due: 6 not measured", **keys)

    def ends(self, name: str, joules: float | None = None, **change: Any) -> None:
        """Leave the record of a run."""
        cell = next(cell for cell in self.plan["cells"] if cell["id"] == name.split("/", maxsplit=1)[0])
        entry = self.plan["order"][self.names.index(name)]
        gross_j = DEARER[cell["runtime"]] * (1 + 0.01 * entry["repetition"]) if joules is None else joules
        levels = {key: value for key, value in cell.items() if key != "id"}
        told = {"cell_id": cell["id"], "cell": levels, "position": entry["position"], "study": "trial"}
        record = run_record({"cpu:package-0": energy(gross_j)}, **told, **{"cool_down_s": 1.0, **change})
        record["repetition"] = record["block"] = entry["repetition"]
        if record["windows"]:
            record["windows"]["process"] = next(iter(record["windows"].values()))
        write_json(self.results / "measure" / name / "run.json", record)

    def page(self) -> BeautifulSoup:
        return BeautifulSoup((self.results / PAGE).read_text(), "html.parser")

    @property
    def words(self) -> str:
        return " ".join(self.page().body.get_text(" ", strip=True).split())


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def play(scene: Scene, live: Live, count: int) -> None:
    """Let the first runs begin and end, and the next one begin."""
    for name in scene.names[:count]:
        live.begins("measure", name)
        scene.ends(name)
    live.begins("measure", scene.names[count])


def test_the_page_tells_what_runs_before_it_does_and_counts_what_ended(
    scene: Scene, capsys: pytest.CaptureFixture
) -> None:
    live = scene.live()
    live.begins("train", None)
    assert not (scene.results / PAGE).exists()
    live.begins("measure", scene.names[0])
    assert "0 done, of 6" in scene.words
    assert "No block is whole yet" in scene.words
    scene.ends(scene.names[0], status="failed", valid=False, reasons=["killed by SIGKILL"], windows={})
    live.begins("measure", scene.names[1])
    assert "1 done, 1 failed, of 6" in scene.words
    assert "killed by SIGKILL" in scene.words
    assert "energy unknown" in scene.words
    said = capsys.readouterr().out.splitlines()
    assert [line.split(" (")[0] for line in said] == ["run 1 of 6", "run 2 of 6"]
    assert says_that_it_runs(scene.results)


def test_names_are_text_and_the_page_needs_nothing_else_and_names_no_machine(scene: Scene) -> None:
    live = scene.live()
    play(scene, live, 4)
    page = scene.page()
    assert page.h1.get_text() == "A <b>bold</b> trial"
    assert not page.find_all(["link", "img", "iframe"])
    assert not re.search(r"https?://|src=|@import|url\(", str(page))
    assert os.uname().nodename not in str(page) or len(os.uname().nodename) < 4
    assert str(scene.results) not in str(page)


def test_an_interim_look_at_a_fixed_number_of_blocks_is_said_to_be_no_answer(scene: Scene) -> None:
    live = scene.live()
    play(scene, live, 5)
    assert "After 2 whole blocks This is no answer yet" in scene.words
    assert "costs least energy" in scene.words or "Not settled" in scene.words
    assert "stopping rule" in scene.words


def test_with_a_stopping_rule_looking_is_allowed(tmp_path: Path) -> None:
    scene = Scene(tmp_path, repetitions=RULE)
    play(scene, scene.live(), 6)
    assert "no answer yet" not in scene.words
    assert "may be looked at after every block" in scene.words
    assert "of at most 18" in scene.words


def test_where_nothing_differs_no_best_is_named(scene: Scene) -> None:
    live = scene.live()
    for name in scene.names[:4]:
        live.begins("measure", name)
        scene.ends(name, joules=100.0 + int(name[-1]))
    live.begins("measure", scene.names[4])
    assert "costs least energy" not in scene.words


def test_a_finished_study_says_so_and_no_longer_loads_itself(scene: Scene) -> None:
    live = scene.live()
    play(scene, live, 5)
    assert scene.page().noscript.find("meta", {"http-equiv": "refresh"})
    scene.ends(scene.names[5])
    live.ends(well=True)
    page = scene.page()
    assert page.title.get_text().startswith("finished: ")
    assert not page.find("meta", {"http-equiv": "refresh"})
    assert "6 done, of 6" in scene.words
    assert "read report.html" in scene.words
    assert not says_that_it_runs(scene.results)


@pytest.mark.parametrize(
    ("well", "title", "said"), [(False, "stopped", "the same command goes on"), (True, "stopped", "not there yet: 4")]
)
def test_a_call_that_ends_before_the_study_does_is_not_the_end_of_it(
    scene: Scene, well: bool, title: str, said: str
) -> None:
    live = scene.live()
    play(scene, live, 2)
    live.ends(well=well)
    assert scene.page().title.get_text().startswith(title)
    assert said in scene.words


def test_after_a_kill_the_page_is_known_to_be_late_and_the_next_call_says_how_it_is(scene: Scene) -> None:
    play(scene, scene.live(), 2)
    age = scene.page().find(id="age")
    # Three times the longest run, 11 s with its rest, and what a run may wait.
    cool_down = scene.plan["settings"]["cool_down"]
    assert int(age["data-expected-s"]) == 33 + cool_down["rest_s"] + cool_down["timeout_s"] + 60
    another = scene.live(due=scene.names[2:])
    another.ends(well=True)
    assert scene.page().title.get_text().startswith("stopped: ")


def test_a_call_that_measures_nothing_leaves_a_page_as_it_is(scene: Scene) -> None:
    live = scene.live()
    play(scene, live, 5)
    scene.ends(scene.names[5])
    live.ends(well=True)
    before = (scene.results / PAGE).read_bytes()
    scene.live(due=[]).ends(well=True)
    assert (scene.results / PAGE).read_bytes() == before


def test_a_record_of_before_is_not_taken_for_the_run_that_has_just_begun(scene: Scene) -> None:
    scene.ends(scene.names[0], status="failed", valid=False, reasons=["of before"])
    live = scene.live()
    # Two begin at once, as on two nodes: neither has ended.
    live.begins("measure", scene.names[0])
    live.begins("measure", scene.names[1])
    assert "0 done" in scene.words
    time.sleep(0.01)
    scene.ends(scene.names[0])
    live.begins("measure", scene.names[2])
    assert "1 done, of 6" in scene.words


def test_what_cannot_be_written_is_told_once_and_ends_nothing(scene: Scene, capsys: pytest.CaptureFixture) -> None:
    (scene.results / "report").write_text("a file in the place of the folder")
    live = scene.live()
    play(scene, live, 3)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("live.html: not written: File exists")
    (scene.results / "report").unlink()
    scene.ends(scene.names[3])
    live.begins("measure", scene.names[4])
    assert "4 done, of 6" in scene.words


def test_a_user_who_wants_no_words_gets_none(scene: Scene, capsys: pytest.CaptureFixture) -> None:
    play(scene, scene.live(silent=True), 1)
    assert capsys.readouterr().out == ""
    assert "1 done" in scene.words


def test_the_mark_is_the_template_s(scene: Scene) -> None:
    play(scene, scene.live(), 1)
    assert (scene.results / PAGE).read_text().count(MARK) == 1


def test_writing_it_between_runs_costs_little(scene: Scene) -> None:
    """Processor time of a page: the first with answers loads libraries, later ones are what a run pays."""
    live = scene.live()
    play(scene, live, 4)
    began_s = time.process_time()
    for _ in range(10):
        live.begins("aggregate", None)
    assert (time.process_time() - began_s) / 10 < 0.05
