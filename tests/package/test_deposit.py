"""Deposits: one draft a package, whatever breaks on the way."""

import json
from pathlib import Path

import pytest
from drafts import HTML, deposit, stub
from zenodo import Answer, Zenodo

from framewatt.base.errors import FramewattError
from framewatt.package.deposit import Package


def test_a_package_and_its_metadata_become_a_draft(package: Package, zenodo: Zenodo) -> None:
    assert deposit(package, zenodo).upload() == f"{zenodo.address}/deposit/1"
    draft = zenodo.drafts[1]
    assert [file["filename"] for file in draft["files"]] == [package.path.name]
    assert draft["metadata"]["title"] == "A trial"
    assert draft["metadata"]["notes"] == f"framewatt package, SHA-256 {package.sha256}"


@pytest.mark.parametrize("fault", [Answer(0), Answer(502, HTML), Answer(429), Answer(500, {"message": "x"})])
@pytest.mark.parametrize("kind", ["GET drafts", "GET draft", "PUT file", "PUT draft"])
def test_what_breaks_twice_is_asked_a_third_time(package: Package, zenodo: Zenodo, kind: str, fault: Answer) -> None:
    zenodo.script[kind] = [fault, fault]
    deposit(package, zenodo).upload()
    assert len(zenodo.drafts) == 1
    assert zenodo.sent(kind) == 3


@pytest.mark.parametrize("fault", [Answer(502, HTML, done=True), Answer(504, done=True), Answer(0, done=True)])
def test_a_draft_that_was_made_and_not_told_of_is_found(package: Package, zenodo: Zenodo, fault: Answer) -> None:
    zenodo.script["POST draft"] = [fault]
    deposit(package, zenodo).upload()
    assert (list(zenodo.drafts), zenodo.sent("POST draft")) == ([1], 1)


def test_where_no_draft_was_made_none_is_asked_for_blindly(package: Package, zenodo: Zenodo) -> None:
    zenodo.script["POST draft"] = [Answer(502, HTML)]
    with pytest.raises(FramewattError, match=r"status 502\. .* Run it again in a minute"):
        deposit(package, zenodo).upload()
    assert zenodo.sent("POST draft") == 1
    deposit(package, zenodo).upload()
    assert list(zenodo.drafts) == [1]


def test_a_draft_listed_late_is_found_by_the_next_call(package: Package, zenodo: Zenodo) -> None:
    zenodo.script = {"POST draft": [Answer(502, done=True)], "GET drafts": [Answer(200, [])] * 4}
    with pytest.raises(FramewattError, match="Run it again in a minute"):
        deposit(package, zenodo).upload()
    deposit(package, zenodo).upload()
    assert list(zenodo.drafts) == [1]


def test_a_broken_upload_goes_on_in_the_same_draft(package: Package, zenodo: Zenodo) -> None:
    zenodo.always("PUT file", Answer(0))
    with pytest.raises(FramewattError, match=r"3 times\. Run it again to go on with the same draft"):
        deposit(package, zenodo).upload()
    zenodo.script.clear()
    deposit(package, zenodo).upload()
    assert list(zenodo.drafts) == [1]
    zenodo.asked.clear()
    deposit(package, zenodo).upload()
    assert zenodo.sent("PUT file") == 0, "a file that is there is not sent again"


def test_two_packages_have_two_drafts_and_a_copy_of_one_has_its_own(
    package: Package, zenodo: Zenodo, tmp_path: Path
) -> None:
    other = stub(tmp_path / "framewatt-other-0.1.0.zip", b"another package")
    deposit(package, zenodo).upload()
    deposit(other, zenodo).upload()
    (tmp_path / "elsewhere").mkdir()
    deposit(stub(tmp_path / "elsewhere" / package.path.name, b"a package"), zenodo).upload()
    assert list(zenodo.drafts) == [1, 2]


def test_a_package_made_anew_goes_into_the_draft_of_its_name(package: Package, zenodo: Zenodo) -> None:
    deposit(package, zenodo).upload()
    deposit(stub(package.path, b"made anew"), zenodo).upload()
    assert [len(draft["files"]) for draft in zenodo.drafts.values()] == [1]


def test_a_draft_that_was_deleted_is_made_again_and_one_that_was_published_is_not(
    package: Package, zenodo: Zenodo
) -> None:
    deposit(package, zenodo).upload()
    zenodo.drafts.clear()
    zenodo.drafts[7] = {"id": 7}
    deposit(package, zenodo).upload()
    assert list(zenodo.drafts) == [7, 2]
    zenodo.drafts[2]["submitted"] = True
    with pytest.raises(FramewattError, match="is published already"):
        deposit(package, zenodo).upload()


def test_a_file_that_arrived_otherwise_is_told(package: Package, zenodo: Zenodo) -> None:
    zenodo.change = lambda said: json.loads(json.dumps(said).replace(package.md5, "0" * 32))
    with pytest.raises(FramewattError, match=r"has another checksum of framewatt-trial-0\.1\.0\.zip"):
        deposit(package, zenodo).upload()
