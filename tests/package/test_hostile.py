"""Packages from outside: each is refused with a reason, and nothing is written outside the target."""

import json
import pickle
import re
import shutil
import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest
from package_factory import CELL, make_package

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.meters.trace import Trace
from framewatt.meters.trace_file import open_trace, write_trace
from framewatt.package.bag import INFO, MANIFEST, TAG_MANIFEST
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of


def package_of(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    """A zip of these entries."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def link(name: str) -> zipfile.ZipInfo:
    """An entry that is a symbolic link."""
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([("p/../../evil.txt", b"x")], "a name that leaves its folder"),
        ([("../evil.txt", b"x")], "a name that leaves its folder"),
        ([("/tmp/evil.txt", b"x")], "an absolute name"),
        ([("C:\\evil.txt", b"x")], "an absolute name"),
        ([(link("p/link.txt"), b"/etc/passwd")], "something other than a plain file"),
        ([("p/bomb.csv", b"0" * 30_000_000)], "30000000 bytes packed into"),
        ([("p/model.pkl", pickle.dumps([1]))], r"a file of a kind that no package holds \(.pkl\)"),
        ([("p/weights.pt", b"x")], r"a file of a kind that no package holds \(.pt\)"),
        ([("p/a.txt", b"x"), ("q/b.txt", b"x")], "has 2 names at its top"),
        ([("a.txt", b"x")], "names at its top"),
        ([], "an empty zip file"),
    ],
)
def test_what_is_no_package_is_refused(tmp_path: Path, entries: list, reason: str) -> None:
    package, target = package_of(tmp_path / "x.zip", *entries), tmp_path / "inside" / "target"
    with pytest.raises(FramewattError, match=reason):
        unpack(package, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.zip"]


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        package = package_of(tmp_path / "x.zip", ("p/a.txt", b"1"), ("p/a.txt", b"2"))
    with pytest.raises(FramewattError, match="the name twice"):
        unpack(package, tmp_path / "target")


def test_more_than_is_sane_is_refused(tmp_path: Path) -> None:
    package = package_of(tmp_path / "x.zip", ("p/a.txt", b"1" * 100), ("p/b.txt", b"2" * 100))
    with pytest.raises(FramewattError, match=r"unpacks to 8192 bytes\. The limit is 5000"):
        unpack(package, tmp_path / "target", largest_b=5000)


def test_what_is_no_zip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK\3\4 and nothing more")
    with pytest.raises(FramewattError, match="is not a readable zip file"):
        unpack(tmp_path / "x.zip", tmp_path / "target")


def test_a_folder_with_files_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FramewattError, match=r"is not empty\. Use an empty folder"):
        unpack(package_of(tmp_path / "x.zip", ("p/a.txt", b"1")), tmp_path)


def test_an_entry_that_is_damaged_leaves_nothing(tmp_path: Path) -> None:
    package = package_of(tmp_path / "x.zip", ("p/a.txt", bytes(range(256)) * 40))
    content = bytearray(package.read_bytes())
    content[60] ^= 0xFF
    package.write_bytes(content)
    with pytest.raises(FramewattError, match="is not a readable zip file"):
        unpack(package, tmp_path / "target")
    assert not any((tmp_path / "target").iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good package, unpacked."""
    folder = unpack(make_package(tmp_path / "made"), tmp_path / "out")
    assert list(problems_of(folder)) == []
    return folder


def mend_manifests(folder: Path) -> None:
    """Make the count and the manifests fit what lies there, as a forger would."""
    sizes = [path.stat().st_size for path in (folder / "data").rglob("*") if path.is_file()]
    info = (folder / INFO).read_text()
    (folder / INFO).write_text(re.sub(r"Payload-Oxum: .*", f"Payload-Oxum: {sum(sizes)}.{len(sizes)}", info))
    for manifest in (MANIFEST, TAG_MANIFEST):
        names = [line.partition("  ")[2] for line in (folder / manifest).read_text().splitlines()]
        (folder / manifest).write_text("".join(f"{sha256_of(folder / name)}  {name}\n" for name in names))


def run_folder(folder: Path) -> Path:
    return folder / "data" / "results" / "trial" / "measure" / CELL / "1"


def test_a_changed_file_is_named(folder: Path) -> None:
    (folder / "data/results/trial/tables/energy_time.csv").write_text("[]")
    assert list(problems_of(folder)) == [
        "data/results/trial/tables/energy_time.csv: changed since manifest-sha256.txt was written"
    ]


def test_a_missing_and_an_added_file_are_named(folder: Path) -> None:
    (folder / "data/results/trial/tables/energy_time.csv").rename(folder / "data/added.csv")
    problems = list(problems_of(folder))
    assert "data/results/trial/tables/energy_time.csv: manifest-sha256.txt names it, and it is not there" in problems
    assert "data/added.csv: manifest-sha256.txt does not name it" in problems
    assert "added.csv: ro-crate-metadata.json does not describe it" in problems


def test_a_missing_run_is_named(folder: Path) -> None:
    shutil.rmtree(run_folder(folder))
    assert f"results/trial/measure/{CELL}/1: planned, and has no record" in list(problems_of(folder))


def test_a_changed_trace_with_a_mended_manifest_is_found_by_its_joules(folder: Path) -> None:
    path = run_folder(folder) / "power.parquet"
    trace = open_trace(path)
    write_trace(path, Trace(trace.channels, trace.monotonic_ns, trace.channel, np.asarray(trace.value) * 0.9))
    mend_manifests(folder)
    problems = "\n".join(problems_of(folder))
    assert re.search(rf"{CELL}/1: windows.[a-z]+.domains.cpu:package-0.energy_gross_j: the record states ", problems)


def test_a_record_with_an_unknown_schema_is_refused(folder: Path) -> None:
    path = run_folder(folder) / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": 99}))
    mend_manifests(folder)
    wrong = "run.json: schema_version: 99 is not one of [1, 2, 3, 4, 5, 6]"
    assert any(wrong in problem for problem in problems_of(folder))


def test_a_trace_that_is_none_is_refused(folder: Path) -> None:
    (run_folder(folder) / "power.parquet").write_bytes(pickle.dumps({"not": "a trace"}))
    mend_manifests(folder)
    assert any("power.parquet is not a power trace" in problem for problem in problems_of(folder))
