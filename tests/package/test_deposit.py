"""Deposits: what is sent, where to, and what becomes of answers of any form."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from package_factory import ROOT, make_package
from zenodo import TOKEN, Answer, Zenodo, serving

from framewatt.base.errors import FramewattError
from framewatt.package.deposit import Deposit
from framewatt.package.deposit_address import address_of, clean_token
from framewatt.package.deposit_package import Package, metadata_of, verified
from framewatt.package.deposit_server import Server

HTML = b"<!doctype html><title>503</title>" + b"x" * 500


@pytest.fixture
def zenodo() -> Iterator[Zenodo]:
    with serving() as server:
        yield server


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """One that need not be verified again for each test."""
    return stub(tmp_path / "framewatt-trial-0.1.0.zip", b"a package")


def stub(path: Path, content: bytes) -> Package:
    path.write_bytes(content)
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return Package(path, md5, hashlib.sha256(content).hexdigest(), {"title": "A trial", "keywords": []})


def deposit(package: Package, zenodo: Zenodo, token: str = TOKEN) -> Deposit:
    return Deposit(package, Server(zenodo.address, token, "DEPOSIT_TOKEN", pause_s=0.001, attempts=3))


def said_of(deposit: Deposit) -> str | None:
    """The one line with which an upload ends; None where it goes well."""
    try:
        deposit.upload()
    except FramewattError as error:
        return str(error)
    return None


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
    with pytest.raises(FramewattError, match=r"found status 502 .* run it again in a minute"):
        deposit(package, zenodo).upload()
    assert zenodo.sent("POST draft") == 1
    deposit(package, zenodo).upload()
    assert list(zenodo.drafts) == [1]


def test_a_draft_listed_late_is_found_by_the_next_call(package: Package, zenodo: Zenodo) -> None:
    zenodo.script = {"POST draft": [Answer(502, done=True)], "GET drafts": [Answer(200, [])] * 4}
    with pytest.raises(FramewattError, match="run it again in a minute"):
        deposit(package, zenodo).upload()
    deposit(package, zenodo).upload()
    assert list(zenodo.drafts) == [1]


def test_a_broken_upload_goes_on_in_the_same_draft(package: Package, zenodo: Zenodo) -> None:
    zenodo.always("PUT file", Answer(0))
    with pytest.raises(FramewattError, match="3 times; run it again to go on with the same draft"):
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


@pytest.mark.parametrize("note", ["", "[]", "null", "{]", '{"x": {"y": 1}}', "[" * 5000])
def test_a_damaged_note_is_one_line_or_nothing(package: Package, zenodo: Zenodo, note: str) -> None:
    package.path.with_name(f"{package.path.name}.deposit.json").write_text(note)
    said = said_of(deposit(package, zenodo))
    assert said is None or "found no note of a deposit; delete it" in said


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
    "409": "answers 409 : conflict",
    "413": "answers 413 : too large",
    "400": "invalid metadata.title: missing",
    "429": "status 429",
    "cut": "3 times|no draft for it|no file",
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
        assert said.startswith("deposit: found " if FORMS[form].status == 0 else "deposit: ")
        assert not any(mark in said for mark in ("\n", "\x1b"))
        assert re.search(EXPECTED.get(form, ""), said) or kind == "GET draft"
    assert zenodo.tokens == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/bucket/1",
        "http://127.0.0.1:1/bucket/1",
        "//evil.example/bucket",
        "http://user@127.0.0.1/bucket",
        "{0}@evil.example/bucket",
        "{0}\\@evil.example/bucket",
        "{0}/../bucket\r\nHost: evil",
        "ftp://127.0.0.1/x",
        "bucket",
        7,
        None,
    ],
)
@pytest.mark.parametrize("link", ["bucket", "html"])
def test_the_token_goes_nowhere_else(package: Package, zenodo: Zenodo, link: str, elsewhere: object) -> None:
    with serving() as other:
        address = elsewhere.format(zenodo.address) if isinstance(elsewhere, str) else elsewhere
        address = address.replace("127.0.0.1:1/", f"127.0.0.1:{other.server_port}/") if isinstance(address, str) else 7

        def change(said: object) -> object:
            if isinstance(said, dict) and "links" in said:
                return {**said, "links": {**said["links"], link: address}}
            return said

        zenodo.change = change
        with pytest.raises(FramewattError, match=f"found links.{link} .* allowed: an address of that server"):
            deposit(package, zenodo).upload()
        assert (other.asked, zenodo.sent("PUT file")) == ([], 0)


def test_a_file_that_arrived_otherwise_is_told(package: Package, zenodo: Zenodo) -> None:
    zenodo.change = lambda said: json.loads(json.dumps(said).replace(package.md5, "0" * 32))
    with pytest.raises(FramewattError, match=r"found another checksum of framewatt-trial-0\.1\.0\.zip"):
        deposit(package, zenodo).upload()


def test_a_server_that_drips_is_left(package: Package, zenodo: Zenodo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framewatt.package.deposit_server._ANSWER_S", 0.2)
    zenodo.always("GET drafts", Answer(200, b"[" + b" " * 1000, pause_s=0.05))
    with pytest.raises(FramewattError, match="found TimeoutError"):
        deposit(package, zenodo).upload()


@pytest.mark.parametrize(
    "echo",
    [
        TOKEN,
        TOKEN.upper(),
        quote(TOKEN, safe=""),
        "".join(f"%{ord(c):02X}" for c in TOKEN),
        base64.b64encode(b"Bearer " + TOKEN.encode()).decode(),
        TOKEN.encode().hex(),
        TOKEN[:12],
        TOKEN[6:],
        "x" * 190 + TOKEN,
    ],
)
def test_an_echoed_token_is_cut(package: Package, zenodo: Zenodo, echo: str) -> None:
    zenodo.always("POST draft", Answer(400, {"message": f"no: {echo}!", "errors": [{"field": echo, "message": echo}]}))
    with pytest.raises(FramewattError) as raised:
        deposit(package, zenodo).upload()
    said = str(raised.value)
    assert echo not in said
    assert not any(TOKEN[at : at + 8].lower() in said.lower() for at in range(len(TOKEN) - 7))


def test_netrc_is_not_read(package: Package, zenodo: Zenodo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login jane password of-netrc\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    deposit(package, zenodo).upload()
    assert zenodo.tokens == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    "server",
    [
        "http://zenodo.org",
        "https://zenodo.org.evil.example",
        "https://zenodo.org@evil.example",
        "https://tok_1234567@zenodo.org",
        "https://evil.example",
        "https://zenodo.org/x",
        "https://zenodo.org?x",
        "https://zenodo.org\\@evil.example",
        "https://zenodo.org\n.evil.example",
        "https://zenodo.org:99999",
        "https://z\u0435nodo.org",
        "ftp://zenodo.org",
        "zenodo.org",
        "https://",
        "",
        "http://127.0.0.1:80",
    ],
)
def test_no_token_goes_to_a_server_that_is_not_named(server: str) -> None:
    with pytest.raises(FramewattError, match="deposit: found SERVER=") as raised:
        address_of(server)
    assert "tok_1234567" not in str(raised.value)


def test_servers_that_are_named_get_it_by_https_and_this_machine_by_http_too() -> None:
    assert address_of("https://Zenodo.org/") == "https://zenodo.org"
    assert address_of("https://deposit.uni-x.de", ["deposit.uni-x.de"]) == "https://deposit.uni-x.de"
    assert address_of("http://127.0.0.1:80", ["127.0.0.1"]) == "http://127.0.0.1:80"
    assert address_of("http://[::1]:80", ["[::1]:80"]) == "http://[::1]:80"
    with pytest.raises(FramewattError, match="allowed: https"):
        address_of("http://deposit.uni-x.de", ["deposit.uni-x.de"])


def test_blanks_around_a_token_are_cut_and_what_no_token_has_is_refused() -> None:
    assert clean_token(" tok_12345678\r\n", "X") == "tok_12345678"
    for bad in ("tok_1234\n5678", "tok 12345678", "tok_12345678é", "tok_1234\x00567", "tok_1"):
        with pytest.raises(FramewattError, match="in the token in X") as raised:
            clean_token(bad, "X")
        assert bad[:5] not in str(raised.value)
    for none in (None, "", " \n"):
        with pytest.raises(FramewattError, match="found no token in X"):
            clean_token(none, "X")


def command(package: Path, zenodo: Zenodo, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The script behind `make deposit`."""
    given = {"PYTHONPATH": str(ROOT / "src"), "ALLOW_HOST": "127.0.0.1", **environment}
    line = [sys.executable, "-P", "scripts/deposit.py", "--archive", str(package), "--server", zenodo.address, *words]
    return subprocess.run(line, cwd=ROOT, env={**os.environ, **given}, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_package(tmp_path_factory.mktemp("made"))


def test_without_confirmation_nothing_is_sent(genuine: Path, zenodo: Zenodo) -> None:
    done = command(genuine, zenodo, DEPOSIT_TOKEN=TOKEN)
    assert (done.returncode, zenodo.asked) == (0, []), done.stderr
    assert "verified), 'A trial', as a draft on" in done.stdout
    assert "dry run: nothing was sent; add CONFIRM=1 to upload" in done.stdout


def test_the_command_uploads_and_keeps_the_token_to_itself(genuine: Path, zenodo: Zenodo) -> None:
    done = command(
        genuine, zenodo, "--confirm", **{"DEPOSIT_TOKEN": f" {TOKEN}\n", "ZENODO_SANDBOX_TOKEN": "tok_of_zenodo"}
    )
    assert done.returncode == 0, done.stderr
    assert f"publish it here: {zenodo.address}/deposit/1" in done.stdout
    assert zenodo.drafts[1]["metadata"]["creators"] == [{"name": "Doe, Jane"}]
    kept = "".join(path.read_text() for path in genuine.parent.glob("*.deposit.json"))
    assert TOKEN not in done.stdout + done.stderr + kept
    assert zenodo.tokens == {f"Bearer {TOKEN}"}


def test_a_package_that_does_not_verify_is_not_sent(genuine: Path, zenodo: Zenodo, tmp_path: Path) -> None:
    with zipfile.ZipFile(genuine) as whole, zipfile.ZipFile(tmp_path / "changed.zip", "w") as changed:
        for name in whole.namelist():
            changed.writestr(name, whole.read(name) + (b" " if name.endswith(".html") else b""))
    for name in ("changed.zip", "none.zip"):
        done = command(tmp_path / name, zenodo, "--confirm", DEPOSIT_TOKEN=TOKEN)
        assert done.returncode == 1
        assert done.stderr.startswith("framewatt: ")
        assert done.stderr.count("\n") == 1
    assert zenodo.asked == []


@pytest.mark.parametrize("token", ["", "tok_1\n2345678", "tok_für_zenodo"])
def test_a_token_that_is_none_is_one_line(genuine: Path, zenodo: Zenodo, token: str) -> None:
    done = command(genuine, zenodo, "--confirm", DEPOSIT_TOKEN=token)
    assert done.returncode == 1
    assert done.stderr.startswith("framewatt: deposit: found ")
    assert done.stderr.count("\n") == 1
    assert "tok_" not in done.stderr
    assert zenodo.asked == []


def test_what_is_no_package_has_no_metadata(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no zip")
    with pytest.raises(FramewattError, match=r"found no \.zenodo\.json in it"):
        metadata_of(tmp_path / "x.zip")
    with pytest.raises(FramewattError, match="found nothing to read"):
        verified(tmp_path / "none.zip")
