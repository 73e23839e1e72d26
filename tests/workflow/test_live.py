"""The line and the page of a study that runs: what they say, when, and what they must never do to the study."""

import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from live_scene import RULE, Scene, play

from framewatt.report import sentences
from framewatt.runs import records
from framewatt.workflow import live as live_module
from framewatt.workflow.terminal import MARK, PAGE, page_shows_running


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


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
    assert page_shows_running(scene.results)


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
    assert "takes the least energy" in scene.words or "Not settled" in scene.words
    assert "stopping rule" in scene.words


@pytest.mark.parametrize(
    ("looks", "said"),
    [("every_block", "may be looked at after every block"), ("fixed", "which looks after 3, 5, 8, 9 blocks")],
)
def test_with_a_stopping_rule_looking_is_allowed(tmp_path: Path, looks: str, said: str) -> None:
    scene = Scene(tmp_path, repetitions={**RULE, "looks": looks})
    play(scene, scene.live(), 6)
    assert "no answer yet" not in scene.words
    assert said in scene.words
    assert "of at most 18" in scene.words


def test_where_nothing_differs_no_best_is_named(scene: Scene) -> None:
    live = scene.live()
    for name in scene.names[:4]:
        live.begins("measure", name)
        scene.ends(name, joules=100.0 + int(name[-1]))
    live.begins("measure", scene.names[4])
    assert "takes the least energy" not in scene.words


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
    assert "Read report.html" in scene.words
    assert not page_shows_running(scene.results)


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
    scene.ends(scene.names[0])
    # A file system may tell times in steps of some milliseconds.
    record = scene.results / "measure" / scene.names[0] / "run.json"
    os.utime(record, ns=(record.stat().st_atime_ns, record.stat().st_mtime_ns + 10**7))
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


def test_a_page_reads_and_computes_nothing_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a block's answers are found, later pages only write what is known, until another block is whole."""
    done: list[str] = []

    def counted(module: ModuleType, name: str) -> None:
        original = getattr(module, name)

        def call(*arguments: Any, **named: Any) -> Any:
            done.append(name)
            return original(*arguments, **named)

        monkeypatch.setattr(module, name, call)

    counted(records, "read_run")
    counted(sentences, "answers_so_far")
    counted(live_module, "write_text")
    live = scene.live()
    play(scene, live, 4)
    assert done.count("read_run") == 4
    assert done.count("answers_so_far") == 2
    done.clear()
    for _ in range(10):
        live.begins("aggregate", None)
    assert done == ["write_text"] * 10
