"""Answers of a server in any form end a deposit in one line."""

import re
from pathlib import Path

import pytest
from drafts import HTML, deposit
from zenodo import TOKEN, Answer, Zenodo

from framewatt.base.errors import FramewattError
from framewatt.package.deposit import Deposit, Package, metadata_of, verified


def said_of(deposit: Deposit) -> str | None:
    """The one line with which an upload ends; None where it goes well."""
    try:
        deposit.upload()
    except FramewattError as error:
        return str(error)
    return None


@pytest.mark.parametrize("note", ["", "[]", "null", "{]", '{"x": {"y": 1}}', "[" * 5000])
def test_a_damaged_note_is_one_line_or_nothing(package: Package, zenodo: Zenodo, note: str) -> None:
    package.path.with_name(f"{package.path.name}.deposit.json").write_text(note)
    said = said_of(deposit(package, zenodo))
    assert said is None or "is not the note of a deposit. Delete it" in said


LINKS = {"bucket": "{0}/bucket/1", "html": "{0}/deposit/1"}
FORMS = {
    "HTML": Answer(200, HTML),
    "empty": Answer(200),
    "no content": Answer(204),
    "a list": Answer(200, [1, 2]),
    "a text": Answer(200, "draft"),
    "null": Answer(200, None),
    "a number": Answer(200, 1e400),
    "no keys": Answer(200, {}),
    "id of a list": Answer(200, {"id": [1], "links": LINKS}),
    "id that leaves its place": Answer(200, {"id": "../../x", "links": LINKS}),
    "id is true": Answer(200, {"id": True, "links": LINKS}),
    "links of a list": Answer(200, {"id": 1, "links": ["x"]}),
    "bucket of a number": Answer(200, {"id": 1, "links": {"bucket": 3}}),
    "files of a text": Answer(200, {"id": 1, "links": LINKS, "files": "none"}),
    "deep": Answer(200, b"[" * 100_000),
    "huge": Answer(200, b'"' + b"x" * (5 << 20) + b'"'),
    "a long number": Answer(200, b"9" * 10_000),
    "no UTF-8": Answer(200, b'{"id": "\xff\xfe"}'),
    "shorter than said": Answer(200, b"{", {"Content-Length": "1000"}),
    "packed": Answer(200, b"{}", {"Content-Encoding": "gzip"}),
    "redirect": Answer(302, b"", {"Location": "https://evil.example/"}),
    "redirect, 308": Answer(308, b"", {"Location": "https://evil.example/"}),
    "401": Answer(401, {"message": "x"}),
    "403": Answer(403, HTML),
    "404": Answer(404, HTML),
    "409": Answer(409, {"message": "conflict"}),
    "413": Answer(413, {"message": "too large"}),
    "429": Answer(429, {"message": "slow down"}),
    "400": Answer(400, {"message": "invalid", "errors": [{"field": "metadata.title", "message": "missing"}, 3]}),
    "400, errors of a text": Answer(400, {"message": ["x"], "errors": "y"}),
    "502": Answer(502, HTML),
    "999": Answer(999),
    "cut": Answer(0),
    "control characters": Answer(400, {"message": "\x1b[2J\x07 a\nb"}),
}
EXPECTED = {
    "redirect": "points elsewhere, where the token must not go",
    "401": "refuses the token in DEPOSIT_TOKEN",
    "403": "refuses the token in DEPOSIT_TOKEN",
    "409": "answers 409: conflict",
    "413": "answers 413: too large",
    "400": "invalid metadata.title: missing",
    "429": "status 429",
    "cut": "3 times|no draft for this package|no file",
}


@pytest.mark.parametrize("kind", ["GET drafts", "POST draft", "PUT file", "GET draft", "PUT draft"])
@pytest.mark.parametrize("form", FORMS)
def test_an_answer_of_any_form_is_one_line(package: Package, zenodo: Zenodo, kind: str, form: str) -> None:
    zenodo.always(kind, FORMS[form])
    said = said_of(deposit(package, zenodo))
    if said is None:
        # What the answer to sending a file says is not believed: the draft is asked whether the file is there.
        assert kind in ("PUT file", "PUT draft") or (kind, form) == ("GET drafts", "a list")
        assert FORMS[form].status < 300
    else:
        assert said.startswith("deposit: ")
        assert not any(mark in said for mark in ("\n", "\x1b"))
        assert re.search(EXPECTED.get(form, ""), said) or kind == "GET draft"
    assert zenodo.tokens == {f"Bearer {TOKEN}"}


def test_a_server_that_drips_is_left(package: Package, zenodo: Zenodo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framewatt.package.deposit_server._ANSWER_S", 0.2)
    zenodo.always("GET drafts", Answer(200, b"[" + b" " * 1000, pause_s=0.05))
    with pytest.raises(FramewattError, match="ended with TimeoutError"):
        deposit(package, zenodo).upload()


def test_what_is_no_package_has_no_metadata(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no zip")
    with pytest.raises(FramewattError, match=r"has no \.zenodo\.json"):
        metadata_of(tmp_path / "x.zip")
    with pytest.raises(FramewattError, match="cannot be read"):
        verified(tmp_path / "none.zip")
