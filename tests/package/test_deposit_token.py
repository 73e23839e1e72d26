"""A deposit's token goes to the server that is named, and nowhere else."""

import base64
from pathlib import Path
from urllib.parse import quote

import pytest
from drafts import deposit
from zenodo import TOKEN, Answer, Zenodo, serving

from framewatt.base.errors import FramewattError
from framewatt.package.deposit import Package
from framewatt.package.deposit_server import address_of, clean_token


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
        with pytest.raises(FramewattError, match=f"links.{link} in an answer .* with addresses of its own"):
            deposit(package, zenodo).upload()
        assert (other.asked, zenodo.sent("PUT file")) == ([], 0)


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
    with pytest.raises(FramewattError, match="deposit: SERVER=") as raised:
        address_of(server)
    assert "tok_1234567" not in str(raised.value)


def test_servers_that_are_named_get_it_by_https_and_this_machine_by_http_too() -> None:
    assert address_of("https://Zenodo.org/") == "https://zenodo.org"
    assert address_of("https://deposit.uni-x.de", ["deposit.uni-x.de"]) == "https://deposit.uni-x.de"
    assert address_of("http://127.0.0.1:80", ["127.0.0.1"]) == "http://127.0.0.1:80"
    assert address_of("http://[::1]:80", ["[::1]:80"]) == "http://[::1]:80"
    with pytest.raises(FramewattError, match="Use https"):
        address_of("http://deposit.uni-x.de", ["deposit.uni-x.de"])


def test_blanks_around_a_token_are_cut_and_what_no_token_has_is_refused() -> None:
    assert clean_token(" tok_12345678\r\n", "X") == "tok_12345678"
    for bad in ("tok_1234\n5678", "tok 12345678", "tok_12345678é", "tok_1234\x00567", "tok_1"):
        with pytest.raises(FramewattError, match="in the token in X") as raised:
            clean_token(bad, "X")
        assert bad[:5] not in str(raised.value)
    for none in (None, "", " \n"):
        with pytest.raises(FramewattError, match="there is no token in X"):
            clean_token(none, "X")
