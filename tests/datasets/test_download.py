"""Downloads from a server on this machine that loses connections, sends something else, or is not there."""

import hashlib
import re
import tarfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest

from framewatt.base.errors import FramewattError
from framewatt.base.files import read_json
from framewatt.datasets.download import Checksum, download
from framewatt.datasets.sources import fetch_source, name_of

CONTENT = bytes(range(256)) * 4096


class Server:
    """Serves files; `drops` lists after how many bytes each answer breaks off, None is never."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"file.bin": CONTENT}
        self.drops: list[int | None] = []
        self.ranges: list[str | None] = []
        self.status: list[int] = []
        self.understands_ranges = True
        self.drips: str | None = None
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # the name is the library's
                server.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.block_on_close = False
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()

    def url(self, name: str = "file.bin") -> str:
        return f"http://127.0.0.1:{self.http.server_port}/{name}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        if self.drips == "head":
            drip(request, b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 10_000)
            return
        status = self.status.pop(0) if self.status else 200
        content = self.files.get(request.path[1:].partition("?")[0])
        if content is None or status != 200:
            request.send_error(404 if content is None else status)
            return
        start = int(re.fullmatch(r"bytes=(\d+)-", asked).group(1)) if asked and self.understands_ranges else 0
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        request.send_header("Content-Length", str(len(content) - start))
        request.end_headers()
        if self.drips == "body":
            drip(request, content[start:])
            return
        drop = self.drops.pop(0) if self.drops else None
        request.wfile.write(content[start:] if drop is None else content[start : start + drop])

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def drip(request: BaseHTTPRequestHandler, content: bytes) -> None:
    """Send byte by byte, each long before anybody stops waiting for the next, until nobody listens any more."""
    try:
        for number in range(len(content)):
            request.wfile.write(content[number : number + 1])
            time.sleep(0.01)
    except OSError:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def checksum_of(content: bytes, algorithm: str = "sha256") -> Checksum:
    return Checksum(algorithm, hashlib.new(algorithm, content).hexdigest())


def get(server: Server, target: Path, *, right: bytes = CONTENT, **options: float) -> None:
    download(server.url(), target, checksum_of(right), len(right), **{"attempts": 3, "pause_s": 0.01, **options})


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_lost_connection_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.drops = [20 * 2**14, 10 * 2**14]
    get(server, tmp_path / "file.bin")
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=327680-", "bytes=491520-"]
    assert names_in(tmp_path) == ["file.bin"]


def test_the_next_call_goes_on_where_the_last_one_gave_up(server: Server, tmp_path: Path) -> None:
    server.drops = [20 * 2**14, 0, 0]
    with pytest.raises(FramewattError, match=r"the connection is lost .*; 327680 of 1048576 bytes are stored"):
        get(server, tmp_path / "file.bin")
    assert names_in(tmp_path) == [".file.bin.partial"]
    get(server, tmp_path / "file.bin")
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.ranges[-1] == "bytes=327680-"


def test_a_server_that_cannot_go_on_starts_over(server: Server, tmp_path: Path) -> None:
    server.drops, server.understands_ranges = [20 * 2**14], False
    get(server, tmp_path / "file.bin")
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_server_that_is_busy_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.status = [503]
    get(server, tmp_path / "file.bin")
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("sent", [CONTENT[:-1] + b"!", CONTENT + b"more"])
def test_another_file_is_refused_and_nothing_of_it_is_left(server: Server, tmp_path: Path, sent: bytes) -> None:
    server.files["file.bin"] = sent
    with pytest.raises(FramewattError, match=f"the file has sha256:[0-9a-f]{{64}} .*, not {checksum_of(CONTENT)}"):
        get(server, tmp_path / "file.bin")
    assert names_in(tmp_path) == []


def test_no_more_is_read_than_the_file_has(server: Server, tmp_path: Path) -> None:
    server.files["file.bin"] = bytes(20_000_000)
    with pytest.raises(FramewattError, match=r"\((\d+) bytes\), not") as told:
        get(server, tmp_path / "file.bin")
    assert int(re.search(r"\((\d+) bytes\)", str(told.value)).group(1)) <= len(CONTENT) + 2**20


def test_a_file_that_is_not_there_is_told_at_once(server: Server, tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"none.bin: the server answers 404"):
        download(server.url("none.bin"), tmp_path / "none.bin", checksum_of(CONTENT), len(CONTENT))
    assert len(server.ranges) == 1
    server.close()
    with pytest.raises(FramewattError, match="the connection is lost"):
        get(server, tmp_path / "file.bin", attempts=2)


@pytest.mark.parametrize("drips", ["head", "body"])
def test_a_server_that_drips_is_not_waited_for_without_end(server: Server, tmp_path: Path, drips: str) -> None:
    server.drips = drips
    with pytest.raises(FramewattError, match=r"file.bin: only \d+ of 1048576 bytes came in 1 s"):
        get(server, tmp_path / "file.bin", limit_s=1)
    server.drips = None
    get(server, tmp_path / "file.bin")
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("left", [b"other bytes", CONTENT[:-1] + b"!", CONTENT + b"more"])
def test_what_another_file_left_does_not_block_this_one(server: Server, tmp_path: Path, left: bytes) -> None:
    (tmp_path / ".file.bin.partial").write_bytes(left)
    get(server, tmp_path / "file.bin")
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_file_that_waits_is_taken_by_its_checksum_alone(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file.bin").write_bytes(CONTENT[:-1] + b"!")
    get(server, tmp_path / "file.bin")
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    get(server, tmp_path / "file.bin")
    assert len(server.ranges) == 1


def test_no_link_is_followed_to_a_file_elsewhere(server: Server, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"precious")
    (tmp_path / "made").mkdir()
    for name in ("file.bin", ".file.bin.partial"):
        (tmp_path / "made" / name).symlink_to(mine)
    get(server, tmp_path / "made" / "file.bin")
    assert mine.read_bytes() == b"precious"
    assert (tmp_path / "made" / "file.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("text", ["sha256:12", "sha256:" + "0" * 64 + "\n", "sha1:" + "0" * 40, "", "md5:" + "g" * 32])
def test_what_is_no_checksum_is_refused(text: str) -> None:
    with pytest.raises(FramewattError, match=r"checksum: .* is not possible. Use sha256:<64 hexadecimal"):
        Checksum.parse(text)


def test_md5_serves_where_it_is_all_that_is_published(server: Server, tmp_path: Path) -> None:
    download(server.url(), tmp_path / "file.bin", checksum_of(CONTENT, "md5"), len(CONTENT))
    assert names_in(tmp_path) == ["file.bin"]


def packed(**files: bytes) -> bytes:
    """A .tar.gz with these files in one folder."""
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"batches/{name}")
            entry.size = len(content)
            tar.addfile(entry, BytesIO(content))
    return packed.getvalue()


def source_of(server: Server, *names: str) -> dict:
    files = [
        {"url": server.url(name), "checksum": str(checksum_of(server.files[name])), "size_b": len(server.files[name])}
        for name in names
    ]
    return {"title": "Some", "page": "https://example.org/some", "files": files}


def test_a_source_is_its_files_its_unpacked_archives_and_a_record(server: Server, tmp_path: Path) -> None:
    server.files["batches.tar.gz"] = packed(one=b"1", two=b"2")
    source = source_of(server, "file.bin", "batches.tar.gz")
    folder = tmp_path / "sources" / "some"
    folder.parent.mkdir()
    fetch_source("some", source, folder)
    assert names_in(folder) == ["batches", "file.bin", "source.json"]
    assert (folder / "batches" / "two").read_bytes() == b"2"
    assert read_json(folder / "source.json") == {"source": "some", **source}
    assert names_in(folder.parent) == ["some"]


def test_a_source_is_there_whole_or_not_at_all(server: Server, tmp_path: Path) -> None:
    server.files["batches.tar.gz"] = packed(one=b"1")
    source = source_of(server, "file.bin", "batches.tar.gz")
    server.files["batches.tar.gz"] = packed(one=b"changed")
    with pytest.raises(FramewattError, match=r"batches.tar.gz: the file has sha256"):
        fetch_source("some", source, tmp_path / "some")
    assert not (tmp_path / "some").exists()
    server.files["batches.tar.gz"] = packed(one=b"1")
    fetch_source("some", source_of(server, "file.bin", "batches.tar.gz"), tmp_path / "some")
    # What had come whole before was not asked for again.
    assert len(server.ranges) == 3


@pytest.mark.parametrize(
    ("end", "name"),
    [
        ("a/x.zip?download=1", "x.zip"),
        ("api/records/7/files/x.tar.gz/content", "x.tar.gz"),
        ("files/X.ZIP/content?a=b/c.bin#part", "X.ZIP"),
        ("x.zip/notes.txt", "notes.txt"),
        ("a%20b.mat", "a b.mat"),
        ("vocab.txt", "vocab.txt"),
    ],
)
def test_a_file_has_the_name_that_its_url_gives_it(end: str, name: str) -> None:
    assert name_of({"url": f"https://example.org/{end}"}) == name


@pytest.mark.parametrize("end", ["", "?x.zip", "a/%2e%2e", "a%2F..%2Fb.zip", "%00.zip", ".source.zip", "a%0Ab.zip"])
def test_a_url_that_names_no_file_is_refused(end: str) -> None:
    with pytest.raises(FramewattError, match=r"cannot be a file's name"):
        name_of({"url": f"https://example.org/{end}"})


def test_an_archive_is_unpacked_whatever_its_url_asks(server: Server, tmp_path: Path) -> None:
    server.files["batches.tar.gz"] = packed(one=b"1")
    source = source_of(server, "batches.tar.gz")
    source["files"][0]["url"] += "?download=1"
    fetch_source("some", source, tmp_path / "some")
    assert names_in(tmp_path / "some") == ["batches", "source.json"]


def test_two_files_of_one_name_are_refused(server: Server, tmp_path: Path) -> None:
    source = source_of(server, "file.bin", "file.bin")
    with pytest.raises(FramewattError, match=r"some: two files are called file.bin. Use URLs that end in"):
        fetch_source("some", source, tmp_path / "some")


def test_what_waits_for_the_others_is_checked_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / ".some.downloads").mkdir()
    (tmp_path / ".some.downloads" / "file.bin").write_bytes(b"swapped")
    fetch_source("some", source_of(server, "file.bin"), tmp_path / "some")
    assert (tmp_path / "some" / "file.bin").read_bytes() == CONTENT


def test_what_cannot_be_downloaded_says_where_it_is_got(tmp_path: Path) -> None:
    source = {"title": "Some", "page": "https://example.org/some", "files": []}
    with pytest.raises(FramewattError, match=r"some: it cannot be downloaded. Get the files from"):
        fetch_source("some", source, tmp_path / "some")
