"""What must not be told, in every form in which a program may write it, and what only looks like it."""

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from framewatt.privacy.secrets import Secrets

SECRETS = Secrets(
    {"w4ndb-0f-Jane!": "<secret: WANDB_KEY>", "/home/jane doe/": "<home>/", "gpu-box": "<host>", "ann": "<user>"}
)
KEY = "w4ndb-0f-Jane!"


def percent(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


def shifted(by: int) -> str:
    """Base64 in which the key begins `by` bytes after a multiple of three."""
    return base64.b64encode(b"a%b"[:by] + KEY.encode() + b" tail").decode()


FORMS = {
    "as it is": KEY,
    "capitals": KEY.upper(),
    "within a longer word": f"Key{KEY}x",
    "URL": quote(KEY, safe=""),
    "URL, every character": percent(KEY),
    "URL, twice": quote(percent(KEY)),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64, shifted by 1": shifted(1),
    "base64, shifted by 2": shifted(2),
    "base64 of capitals": base64.b64encode(KEY.upper().encode()).decode(),
    "base64 for URLs, after a path": "/cache/v1/" + base64.urlsafe_b64encode(b"??" + KEY.encode()).decode(),
    "base64 of base64": base64.b64encode(base64.b64encode(KEY.encode())).decode(),
    "base64 over several lines": base64.encodebytes(b"x" * 50 + KEY.encode() + b"y" * 60).decode(),
    "base64 among other bytes": base64.b64encode(bytes(range(200, 230)) + KEY.encode() + b"\x00\xff").decode(),
    "hex": KEY.encode().hex(),
    "hex, capitals": KEY.encode().hex().upper(),
    "hex, after a digit": "7" + KEY.encode().hex(),
    "hex, apart": ":".join(f"{byte:02x}" for byte in KEY.encode()),
    "octal": "".join(f"\\{byte:03o}" for byte in KEY.encode()),
    "eight digits": "".join(f"\\U{byte:08x}" for byte in KEY.encode()),
    "a colour within": KEY.replace("-", "\x1b[1;31m-\x1b[0m"),
    "JSON, escaped": json.dumps(KEY).replace("J", "\\u004a"),
    "Python, escaped": KEY.replace("w", "\\x77"),
    "HTML": KEY.replace("!", "&#33;").replace("w", "&#x77;"),
    "UTF-16": KEY.encode("utf-16-le").decode("latin-1"),
    "UTF-16, other end first": KEY.encode("utf-16-be").decode("latin-1"),
    "UTF-32": KEY.encode("utf-32-le").decode("latin-1"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_detected_and_taken_out_in_every_form(form: str) -> None:
    text = f"all is well\nmodel says {FORMS[form]} and ends"
    ((line, kind),) = SECRETS.lines(text)
    assert (line, kind.split(" in ")[0]) == (2, "<secret: WANDB_KEY>")
    redacted = SECRETS.redact(text)
    assert redacted.startswith("all is well\nmodel says")
    assert redacted.endswith("and ends")
    assert SECRETS.lines(redacted) == []
    assert KEY[3:].lower() not in redacted.lower()


PRIVATE = {
    "https://jane:hunter2@index.corp/simple": "https://<login>@index.corp/simple",
    "https:\\/\\/jane:hunter2@index.corp/x": "https:\\/\\/<login>@index.corp/x",
    "ftp://t0ken@files.corp": "ftp://<login>@files.corp",
    "by Jane.Doe+ml@uni-x.de.": "by <e-mail>.",
    "mailto:jane@dept.uni.edu,": "mailto:<e-mail>,",
    "connect to 10.20.30.40:29500 refused": "connect to <IP>:29500 refused",
    "ip=192.168.1.17;": "ip=<IP>;",
    "[2a01:4f8:c17:b0f::2]:80": "[<IP>]:80",
    "fe80::1ff:fe23:4567:890a%eth0": "<IP>%eth0",
    "hf_" + "aB3" * 12: "<token: Hugging Face>",
    "key=ghp_" + "a1B2" * 9: "key=<token: GitHub>",
    "-----BEGIN RSA PRIVATE KEY-----": "-----<token: private key>-----",
    "Authorization: Bearer abc.def-123456": "<token: login>",
    "GPU-Box is down": "<host> is down",
    "ann@gpu-box:~$": "<user>@<host>:~$",
    r"trace\nann\tfell": r"<user> in escapes",
    "\x1b[31mann\x1b[0m fell": "<user> in escapes fell",
    "'/home/jane%20doe/x'": "'<home>/ in escapes'",
}


@pytest.mark.parametrize("text", PRIVATE)
def test_what_identifies_a_person_or_machine_is_taken_out_and_the_rest_stays(text: str) -> None:
    assert SECRETS.redact(text) == PRIVATE[text]


@pytest.mark.parametrize(
    "text",
    [
        "planned annual scan, cannot",
        "nvidia-cudnn-cu12==9.1.0.70 cuDNN version 9.1.0.70, nvidia_cublas-13.1.0.3-py3-none-any.whl",
        "127.0.0.1, 0.0.0.0, ::1, 12:30:05, x[1::2], x[::-1], c10::cuda, at::add, 1.2.3.4.5, 192.0.2.7",
        "y = x@w.mT + q@k.to(device) @ v; @property.setter; logo@2x.png; onnxruntime-node@1.30.0; joe@example.com",
        "git+ssh://git@github.com/x/y https://cdn.x.org/@scope/p https://{user}:{password}@host https://$U:$P@host",
        "sha256:97ca61fac5eb1b05d3b8a5a4e3ff1db3ea6b3d5ba2cf4a2d4f5a0a7a2b0f6c1d" * 3,
        "resources/environments/locked/tensorflow-cpu/lib/python3.11/site-packages/keras_hub",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
        "The 50% of a&b are 100%; \\n \\u00e4 &amp;",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert (SECRETS.lines(text), SECRETS.redact(text)) == ([], text)


def test_what_the_study_states_may_be_published() -> None:
    secrets = Secrets({}, frozenset({"jane@uni-x.de", "10.1.2.3"}))
    assert secrets.find(b"Jane@Uni-X.de at 10.1.2.3 and 10.1.2.4") == ["<IP>"]


def test_variables_are_secret_by_their_names_and_by_addresses_with_passwords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {
        "WANDB_KEY": "0123abcdef",
        "HF_TOKEN": "tok_value_1",
        "MY_PAT": "pat_value_2",
        "DB_PASS": "hunter2",
        "AWS_SECRET_ACCESS_KEY": "secret/value+3",
        "PEM_KEY": "-----BEGIN-----\nMIIEowIBAAKCAQEA7\nshort",
        "PIP_INDEX_URL": "https://jane:in-dex-pw@index.corp/simple",
        "PATH_OF_X": "not_secret_1",
        "TOKENIZERS_PARALLELISM": "not_secret_2",
        "KEY_FILE": str(tmp_path),
        "KEY_BITS": "4096",
        "USE_TOKEN": "false",
        "LESSKEY": "debug",
    }
    for name in list(__import__("os").environ):
        monkeypatch.delenv(name)
    for name, value in {**variables, "HOME": "/home/x_y_z"}.items():
        monkeypatch.setenv(name, value)
    found = {text: said for text, said in Secrets.from_this_machine(tmp_path).texts.items() if "secret" in said}
    assert found == {
        "0123abcdef": "<secret: WANDB_KEY>",
        "tok_value_1": "<secret: HF_TOKEN>",
        "pat_value_2": "<secret: MY_PAT>",
        "hunter2": "<secret: DB_PASS>",
        "secret/value+3": "<secret: AWS_SECRET_ACCESS_KEY>",
        "MIIEowIBAAKCAQEA7": "<secret: PEM_KEY>",
        "in-dex-pw": "<secret: PIP_INDEX_URL>",
    }


def test_the_domain_of_the_host_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/resolv.conf").write_text("search ml.uni-x.de lan cluster.local\nnameserver 10.0.0.1\n")
    (tmp_path / "etc/hosts").write_text("127.0.0.1 localhost\n10.0.0.7 gpu1.lab.uni-y.org gpu1\n")
    monkeypatch.setattr("socket.gethostname", lambda: "gpu1")
    texts = Secrets.from_this_machine(tmp_path).texts
    assert {text for text, said in texts.items() if said == "<domain>"} == {"ml.uni-x.de", "lab.uni-y.org"}


def test_reasons_of_a_record_are_scrubbed_and_names_are_not() -> None:
    record = {"cell": {"model": "ann"}, "reasons": ["ann said", {"x": "on gpu-box"}], "check": {"flops_reason": "ann"}}
    assert SECRETS.redact_reasons(record) == {
        "cell": {"model": "ann"},
        "reasons": ["<user> said", {"x": "on <host>"}],
        "check": {"flops_reason": "<user>"},
    }


def test_names_of_no_one_and_of_two_letters_are_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "vm")
    monkeypatch.setattr("getpass.getuser", lambda: "dev")
    assert Secrets.from_this_machine(tmp_path).find(b"/dev/null of a vm") == []
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    assert Secrets.from_this_machine(tmp_path).find(b"Ann planned it") == ["<user>"]
