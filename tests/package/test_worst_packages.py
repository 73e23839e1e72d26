"""The worst that packages were seen to hold: each is told in lines, soon, and within a little memory."""

import json
import lzma
import re
import signal
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Never

import fuzz
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from package_factory import CELL, make_package

from framewatt.base.errors import FramewattError
from framewatt.package.bag import MANIFEST, TAG_MANIFEST
from framewatt.package.confined import Limits, check
from framewatt.package.crate import METADATA
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of

RUN = f"data/results/trial/measure/{CELL}/1"


HANGS_S = 120.0
"""Seconds of processor time that checking may take, thirty times what it takes. Unfolded, the worst takes hours."""


@contextmanager
def little_work() -> Iterator[None]:
    """Inside the block, end what is at work for too long, by processor time, which others cannot use up."""

    def too_much(*_: object) -> Never:
        pytest.fail(f"it is still at work after {HANGS_S} s of processor time")

    previous = signal.signal(signal.SIGPROF, too_much)
    signal.setitimer(signal.ITIMER_PROF, HANGS_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good package, unpacked."""
    place = tmp_path_factory.mktemp("good")
    folder = unpack(make_package(place / "made"), place / "out")
    assert list(problems_of(folder)) == []
    return folder


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    return fuzz.copy_of(good, tmp_path / "spoilt")


def text(name: str, content: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content) and None


def record(**changed: object) -> Callable[[Path], None]:
    """Change keys of a record, given as text that may be no number of Python's."""

    def spoil(folder: Path) -> None:
        path = folder / RUN / "run.json"
        content = json.dumps({**json.loads(path.read_text()), **{key: f"@{key}@" for key in changed}})
        for key, value in changed.items():
            content = content.replace(f'"@{key}@"', str(value))
        path.write_text(content)

    return spoil


def spans(*spans_ns: tuple[int, int]) -> Callable[[Path], None]:
    """Give a window other spans."""

    def spoil(folder: Path) -> None:
        path = folder / RUN / "run.json"
        content = json.loads(path.read_text())
        content["windows"]["steady"]["spans_monotonic_ns"] = [list(span) for span in spans_ns]
        path.write_text(json.dumps(content))

    return spoil


def plan(**changed: object) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / "data/results/trial/plan/plan.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))

    return spoil


def channels(content: object) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / RUN / "power.parquet"
        table = pq.read_table(path).replace_schema_metadata({"framewatt.channels": json.dumps(content)})
        pq.write_table(table, path)

    return spoil


def texts_that_grow(name: str, column: str) -> Callable[[Path], None]:
    """5 GB of texts in a few kilobytes: one text of a megabyte, five thousand times."""

    def spoil(folder: Path) -> None:
        one = pa.DictionaryArray.from_arrays(np.zeros(5000, np.int32), pa.array(["x" * 1_000_000]))
        table = pq.read_table(folder / name)
        names = [other for other in table.column_names if other != column]
        rows = pa.table({other: pa.nulls(5000, table[other].type) for other in names})
        rows = rows.add_column(table.column_names.index(column), column, one)
        # Without Arrow's own schema, what was written as one text and its places is read as five thousand texts.
        with pq.ParquetWriter(folder / name, rows.schema, compression="zstd", store_schema=False) as file:
            file.write_table(rows)
            file.add_key_value_metadata(table.schema.metadata or {})
        assert (folder / name).stat().st_size < 200_000

    return spoil


def lists_that_grow(folder: Path) -> None:
    path = folder / RUN / "events.parquet"
    table = pq.read_table(path)
    column = pa.array([[0.0] * 1_000_000] * 2)
    pq.write_table(
        pa.table({**{n: table[n].slice(0, 2) for n in table.column_names[1:]}, "monotonic_ns": column}), path
    )


def study(old: str, new: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / "data/config/studies/trial.yaml"
        content = path.read_text()
        assert old in content
        path.write_text(content.replace(old, new))

    return spoil


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
DEEP = "[" * 200_000 + "]" * 200_000
OUTSIDE = {"cell": "../../../../../../../../etc", "repetition": 1, "position": 1}


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (texts_that_grow(f"{RUN}/power.parquet", "instrument"), "instrument: a text of 1000000 bytes"),
        (texts_that_grow(f"{RUN}/events.parquet", "window"), "window: a text of 1000000 bytes"),
        (lists_that_grow, "events.parquet: the columns are"),
        (text("data/config/studies/trial.yaml", BOMB), "more than 200000 values, counted with aliases"),
        (study("repetitions: 2", "repetitions: 3000000"), "repetitions: 3000000 is not allowed. Use a whole number"),
        (study("repetitions: 2", "repetitions: 99999"), "299997 runs"),
        (spans(*((n, n + 1) for n in range(60_000))), "steady.spans_monotonic_ns"),
        (spans((5, 3)), "steady.spans_monotonic_ns"),
        (spans((3, 3)), "steady.spans_monotonic_ns"),
        (spans(), "steady.spans_monotonic_ns"),
        (spans((-(2**63), 2**63)), "steady.spans_monotonic_ns"),
        (text(f"{RUN}/run.json", DEEP), "not JSON: nested too deep"),
        (text("data/results/trial/plan/plan.json", DEEP), "plan.json: not JSON: nested too deep"),
        (text(f"data/{METADATA}", DEEP), METADATA),
        (record(throughput_per_s="NaN"), "not JSON: NaN is not a number"),
        (record(throughput_per_s="1e400"), "not JSON: 1e400 is too large for a float"),
        (record(attempt="1" + "0" * 400), "not JSON: 1000.* of 401 digits"),
        (record(windows='"many"'), "run.json: windows: 'many' is not of type 'object'"),
        (plan(order=7), "plan.json: order: the plan states 7"),
        (plan(order=[OUTSIDE]), "plan.json: order"),
        (plan(device=[1]), "plan.json: device"),
        (text("data/results/trial/plan/plan.json", "[]"), "plan.json holds a list, not an object"),
        (text(f"data/{METADATA}", '{"@graph": {"@id": 5}}'), METADATA),
        (channels([{"instrument": 5}]), "a channel has unknown fields, or lacks some"),
        (channels("none"), "its channels are no list"),
        (text(f"{RUN}/run.json", "\udcff{}".encode(errors="surrogateescape").decode("latin-1")), "run.json"),
    ],
)
def test_what_is_of_no_sane_size_or_form_is_named(folder: Path, spoil: Callable, reason: str) -> None:
    spoil(folder)
    fuzz.mend_manifests(folder)
    with little_work():
        problems = list(problems_of(folder))
    assert re.search(reason, "\n".join(problems))
    assert not [line for line in problems if "\n" in line or "cannot be checked" in line]


@pytest.mark.parametrize("name", ["/etc/passwd", "/dev/zero", "../../../../../../etc/passwd", "data/../../x", "data"])
@pytest.mark.parametrize("manifest", [MANIFEST, TAG_MANIFEST])
def test_a_manifest_reads_nothing_outside_the_package(folder: Path, name: str, manifest: str) -> None:
    with (folder / manifest).open("a") as file:
        file.write(f"{'0' * 64}  {name}\n")
    assert f"{name}: {manifest} names it, and it is not there" in list(problems_of(folder))


def zipped(path: Path, *entries: tuple[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", how) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def overlapping(path: Path) -> None:
    """Two entries of the same bytes, as in a quine of a zip."""
    zipped(path, ("p/a.txt", b"0" * 5000), ("p/b.txt", b"0" * 5000))
    content = bytearray(path.read_bytes())
    second = content.rindex(b"PK\x01\x02")
    content[second + 42 : second + 46] = struct.pack("<L", 0)
    path.write_bytes(content)


def of_lzma(path: Path) -> None:
    zipped(path, ("p/a.txt", b"1" * 5000), how=zipfile.ZIP_LZMA)


def of_no_text(path: Path) -> None:
    zipped(path, ("p/aé.txt", b"1" * 50))
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))


def hidden(path: Path) -> None:
    zipped(path, ("p/a\u202etxt.exe\x1b[2J.txt", b"1"))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (overlapping, "overlaps another entry"),
        (of_lzma, "a way of packing other than deflate"),
        (of_no_text, "is not a readable zip file"),
        (hidden, "a name with characters that are not seen"),
        (lambda path: path.mkdir(), "is not a file"),
        (lambda path: path.symlink_to("/dev/zero"), "is not a file"),
        (lambda path: zipped(path, ("/".join("p" * 50), b"")), "a name of 50 folders"),
        (lambda path: zipped(path, ("p/" + "x" * 300 + ".txt", b"")), "is not a readable zip file .*too long"),
        (lambda path: path.write_bytes(lzma.compress(b"1")), "is not a readable zip file"),
    ],
)
def test_a_zip_file_of_another_kind_is_one_line(tmp_path: Path, spoil: Callable, reason: str) -> None:
    spoil(tmp_path / "x.zip")
    with pytest.raises(FramewattError, match=reason) as raised:
        unpack(tmp_path / "x.zip", tmp_path / "target")
    assert str(raised.value).isprintable()
    assert not (tmp_path / "target").exists() or not any((tmp_path / "target").iterdir())


def test_many_tiny_files_are_as_large_as_what_they_take_on_the_disk(tmp_path: Path) -> None:
    package = zipped(tmp_path / "x.zip", *((f"p/{number}.txt", b"") for number in range(600)))
    with pytest.raises(FramewattError, match=r"unpacks to 2457600 bytes\. The limit is 2000000"):
        unpack(package, tmp_path / "target", 2_000_000)


def test_what_grows_in_the_memory_is_ended_there(folder: Path, tmp_path: Path) -> None:
    texts_that_grow("data/results/trial/aggregate/runs.parquet", "reasons")(folder)
    fuzz.mend_manifests(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    entries = [(path.relative_to(folder.parent).as_posix(), path.read_bytes()) for path in files]
    package = zipped(tmp_path / f"{folder.name}.zip", *entries)
    (tmp_path / "scratch").mkdir()
    try:
        told = check(package, tmp_path / "scratch", Limits(), rebuild=False)["problems"]
    except FramewattError as error:
        told = [str(error)]
    # Which of the two says it depends on whether the library tells of its want of memory.
    assert re.search(r"needs more than 1 GB of memory|aggregate/runs.parquet: found no frame", "\n".join(told))


@pytest.mark.parametrize("start", range(0, 100, 25))
def test_damage_by_chance_is_told_in_lines(good: Path, tmp_path: Path, start: int) -> None:
    for seed in range(start, start + 25):
        folder = fuzz.copy_of(good, tmp_path / "spoilt")
        what = fuzz.damage(folder, seed)
        for problem in problems_of(folder):
            assert "\n" not in problem, what
