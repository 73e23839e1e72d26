"""No study file writes into the results of another."""

import shutil
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.workflow.folder import check_owner, mark_owner

STUDIES, RESULTS = Path("config/studies"), Path("results/demo")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the study demo, in the working directory."""
    (tmp_path / "project" / STUDIES).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    write(STUDIES / "demo.yaml")
    return tmp_path / "project"


def write(path: Path, study: str = "demo") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"study: {study}\ntitle: One\n")
    return path


def check(path: Path) -> None:
    check_owner(path, "demo", RESULTS, STUDIES)


def test_a_copy_that_kept_the_name_is_refused_and_the_file_itself_is_not(project: Path) -> None:
    copy = write(STUDIES / "my.yaml")
    with pytest.raises(FramewattError) as raised:
        check(copy)
    assert str(raised.value) == (
        "config/studies/my.yaml: study: config/studies/demo.yaml has the name 'demo' too, and both would write into "
        "results/demo. Give one of them another name under `study:`."
    )
    check(STUDIES / "demo.yaml")


@pytest.mark.parametrize("other", ["config/studies/my.yaml", "../elsewhere/my.yaml", "../elsewhere/demo.yaml"])
def test_results_are_those_of_the_file_that_they_were_planned_from(project: Path, other: str) -> None:
    planned_from = write(Path(other))
    mark_owner(RESULTS, planned_from)
    check(planned_from)
    with pytest.raises(FramewattError, match=r"demo\.yaml: study: .* has the name .demo. too"):
        check(STUDIES / "demo.yaml")


def test_two_of_one_name_are_refused_where_neither_is_called_as_the_study(project: Path) -> None:
    (STUDIES / "demo.yaml").unlink()
    one, two = write(STUDIES / "one.yaml"), write(STUDIES / "two.yaml")
    for path in (one, two):
        with pytest.raises(FramewattError, match=r"config/studies/(one|two)\.yaml has the name .demo. too"):
            check(path)


def test_an_edited_a_renamed_and_a_renamed_and_edited_file_keep_their_results(project: Path) -> None:
    path = STUDIES / "demo.yaml"
    mark_owner(RESULTS, path)
    path.write_text(path.read_text() + "seed: 2\n")
    check(path)
    renamed = path.rename(STUDIES / "renamed.yaml")
    renamed.write_text(renamed.read_text() + "seed: 3\n")
    check(renamed)


def test_a_moved_or_copied_project_keeps_its_results(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark_owner(RESULTS, STUDIES / "demo.yaml")
    shutil.copytree(project, project.parent / "clone")
    monkeypatch.chdir(project.parent / "clone")
    check(STUDIES / "demo.yaml")


def test_a_file_that_got_a_name_of_its_own_is_in_nobodys_way(project: Path) -> None:
    mark_owner(RESULTS, write(STUDIES / "my.yaml"))
    write(STUDIES / "my.yaml", study="my")
    (STUDIES / "broken.yaml").write_text("study: [demo\n")
    check(STUDIES / "demo.yaml")


def test_where_it_was_planned_from_is_not_packed(project: Path) -> None:
    from framewatt.package.write import study_files

    mark_owner(RESULTS, write(Path("../elsewhere/demo.yaml")))
    assert study_files(RESULTS) == {}
