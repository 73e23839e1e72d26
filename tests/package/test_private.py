"""What a package may not tell is found wherever a file keeps it, and named by file, place and kind."""

import base64
import gzip
import io
import json
import lzma
import marshal
import zipfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from framewatt.package.private import published_words, secrets_in
from framewatt.package.write import environment_texts
from framewatt.privacy.secrets import Secrets

SETTINGS = {
    "title": "A trial",
    "description": "",
    "archive": {"authors": ["Doe, Jane"], "license": "CC-BY-4.0", "keywords": [], "harmless": []},
}
KEY = "w4ndb-0f-Jane!"
SECRETS = Secrets({KEY: "<secret: WANDB_KEY>", "jane_doe": "<user>"})
TEXT = f"it said {KEY}, mail jane@uni-x.de, at 10.1.2.3, Jane_Doe"
KINDS = {"<secret: WANDB_KEY>", "<e-mail>", "<IP>", "<user>"}


def parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def png(info: PngInfo | None = None, exif: Image.Exif | None = None) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "png", pnginfo=info, exif=exif or Image.Exif())
    return file.getvalue()


def png_text(add: str, **how: bool) -> bytes:
    info = PngInfo()
    getattr(info, add)("Comment", TEXT, **how)
    return png(info)


def exif() -> Image.Exif:
    made = Image.Exif()
    made[0x9286] = TEXT
    return made


def figure(kind: str) -> bytes:
    """A drawing with the text in it, and in its metadata."""
    drawn, file = plt.figure(), io.BytesIO()
    drawn.text(0, 0, TEXT)
    drawn.savefig(file, format=kind)
    plt.close(drawn)
    return file.getvalue()


def pdf_about() -> bytes:
    file, drawn = io.BytesIO(), plt.figure()
    drawn.savefig(file, format="pdf", metadata={"Author": TEXT})
    plt.close(drawn)
    return file.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def arrays(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def long(kind: str) -> pa.Table:
    """A column in whose last rows the text stands."""
    values = [f"row {number}" for number in range(500)] + [TEXT]
    if kind == "list":
        return pa.table({"n": list(range(501)), "reasons": [[value] for value in values]})
    column = pa.array(values)
    return pa.table({"n": list(range(501)), "reason": column.dictionary_encode() if kind == "dictionary" else column})


PLACES = {
    "text": (f"one\n{TEXT}".encode(), ", line 2"),
    "parquet, column": (parquet(long("text")), ", column reason, rows from 1"),
    "parquet, dictionary": (parquet(long("dictionary")), ", column reason, rows from 1"),
    "parquet, a dictionary's text that no row has": (
        parquet(pa.table({"n": pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int32()), pa.array(["a", TEXT]))})),
        ", column n, rows from 1",
    ),
    "parquet, lists": (parquet(long("list")), ", column reasons, rows from 1"),
    "parquet, metadata": (parquet(pa.table({"n": [1]}).replace_schema_metadata({"about": TEXT})), ", metadata about"),
    "parquet, metadata of a column": (
        parquet(pa.table([[1]], schema=pa.schema([pa.field("n", pa.int64(), metadata={"about": TEXT})]))),
        ", metadata of column n",
    ),
    "PDF, drawn text": (figure("pdf"), ", page 1"),
    "PDF, metadata": (pdf_about(), ", metadata"),
    "SVG": (figure("svg"), ", line "),
    "PNG, tEXt": (png_text("add_text"), ", chunk Comment"),
    "PNG, zTXt": (png_text("add_text", zip=True), ", chunk Comment"),
    "PNG, iTXt": (png_text("add_itxt", zip=True), ", chunk Comment"),
    "PNG, eXIf": (png(exif=exif()), ", chunk "),
    "gzip": (gzip.compress(TEXT.encode()), ", unpacked"),
    "xz": (lzma.compress(TEXT.encode()), ", unpacked"),
    "gzip of gzip": (gzip.compress(gzip.compress(TEXT.encode())), ", unpacked, unpacked"),
    "zip": (zipped("log.txt", TEXT.encode()), ", member log.txt"),
    "npz": (zipped("names.npy", arrays(np.array([TEXT]))), ", member names.npy, its strings"),
    "npy": (arrays(np.array(["a", TEXT])), ", its strings"),
    "profile": (marshal.dumps({(TEXT, 1): 2}), ", its strings"),
    "page with a picture": (
        b"<p>\n<img src='data:image/png;base64," + base64.b64encode(png_text("add_text", zip=True)) + b"'>",
        ", embedded on line 2, chunk Comment",
    ),
    "UTF-16 within other bytes": (b"\x01\x02" + TEXT.encode("utf-16-be") + b"\x01\x02", ", its strings"),
    "UTF-16": (TEXT.encode("utf-16"), ", line 1"),
}


@pytest.mark.parametrize("place", PLACES)
def test_it_is_found_in_every_place(place: str) -> None:
    content, where = PLACES[place]
    found = list(secrets_in(SECRETS, {"results/x/file": content}))
    assert all(line.startswith(f"results/x/file{where}") for line in found), found
    assert {kind for kind in KINDS if any(kind in line for line in found)} == KINDS
    assert not any(part in "".join(found) for part in (KEY, "jane", "10.1.2.3"))


def test_what_is_wrapped_is_found_in_lists_too() -> None:
    wrapped = base64.encodebytes(b"x" * 50 + TEXT.encode()).decode()
    content = parquet(pa.table({"reasons": [["", wrapped]], "about": [{"said": wrapped}]}))
    assert {line.split(": ")[0] for line in secrets_in(SECRETS, {"f": content})} == {"f, column reasons, rows from 1"}
    content = parquet(pa.table({"about": [{"said": wrapped}]}))
    assert {line.split(": ")[0] for line in secrets_in(SECRETS, {"f": content})} == {"f, column about, rows from 1"}


def test_the_name_of_a_file_is_looked_at() -> None:
    assert list(secrets_in(SECRETS, {"models/jane_doe/m.py": b""})) == ["a file's name: <user>"]


@pytest.mark.parametrize(
    "content", [b"PAR1 cut", b"%PDF-1.4 cut", b"\x89PNG\r\n\x1a\ncut", b"\x1f\x8bcut", b"PK\x03\x04cut"]
)
def test_what_cannot_be_looked_into_is_said(content: bytes) -> None:
    (line,) = secrets_in(SECRETS, {"x.bin": content})
    assert line.startswith("x.bin cannot be looked into (")


def test_versions_that_locks_name_are_no_addresses(tmp_path: Path) -> None:
    lock = {"envs/torch/requirements.txt": b"nvidia-cudnn-cu12==9.1.0.70 \\\n"}
    assert list(secrets_in(SECRETS, {**lock, "report.html": b"cuDNN 9.1.0.70"})) == []
    assert list(secrets_in(SECRETS, {"report.html": b"cuDNN 9.1.0.70"})) == ["report.html, line 1: <IP>"]
    record = tmp_path / "environment.json"
    record.write_text(json.dumps({"packages": {"nvidia-cudnn": "9.1.0.70"}, "from": "10.2.3.4"}))
    (text,) = environment_texts([record], SECRETS).values()
    assert json.loads(text) == {"packages": {"nvidia-cudnn": "9.1.0.70"}, "from": "<IP>"}


def test_what_the_study_states_of_its_authors_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "doe")
    monkeypatch.setattr("socket.gethostname", lambda: "host-of-x")
    authors = ["Doe, Jane <jane@uni-x.de>"]
    settings = {**SETTINGS, "archive": {**SETTINGS["archive"], "authors": authors, "harmless": ["10.1.2.3"]}}
    secrets = Secrets.from_this_machine(harmless=published_words(settings))
    assert secrets.find(b"Doe, jane@uni-x.de, 10.1.2.3") == []
    assert secrets.find(b"joe@uni-x.de 10.1.2.4 host-of-x") == ["<IP>", "<e-mail>", "<host>"]
