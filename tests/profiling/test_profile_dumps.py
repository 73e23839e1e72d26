"""A dump gives the numbers that pstats gives, and no dump does harm."""

import marshal
import pstats
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profile_factory import builtin, dump_of, statistics, write_dump

from framewatt.base.errors import FramewattError
from framewatt.base.files import sha256_of
from framewatt.profiling import dump
from framewatt.profiling.dump import Trust, read_checksums, read_profile, short_names

ANY = Trust(every=True)
F = ("train.py", 3, "main")
"""A function, as cProfile names it."""


def factorial(n: int) -> int:
    return n * factorial(n - 1) if n > 1 else 1


def test_a_profile_has_the_numbers_of_pstats(tmp_path: Path) -> None:
    path = dump_of(tmp_path / "own.prof", lambda: [factorial(20) for _ in range(3)])
    read, expected = read_profile(path, ANY), pstats.Stats(str(path))
    assert read.total_time_s == pytest.approx(expected.total_tt, rel=1e-12)
    assert len(read.functions) == len(expected.stats)
    (row,) = read.functions[read.functions["function"] == "factorial"].to_dict("records")
    assert (row["calls"], row["primitive_calls"]) == (60, 3)
    (itself,) = read.calls[read.calls[["caller_rank", "callee_rank"]].eq(row["rank"]).all(axis=1)].to_dict("records")
    assert itself["calls"] == 57
    assert read.functions["own_time_s"].is_monotonic_decreasing
    assert read.functions["rank"].tolist() == list(range(1, len(read.functions) + 1))


def test_a_dump_of_unknown_checksum_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_dump(tmp_path / "foreign.prof", statistics({F: 1.0}))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it was opened"))
    with pytest.raises(FramewattError, match=rf"its checksum {sha256_of(path)} is not known.*trust_profiles=True"):
        read_profile(path, Trust(frozenset({"0" * 64})))


def test_a_dump_is_opened_by_its_checksum(tmp_path: Path) -> None:
    path = write_dump(tmp_path / "known.prof", statistics({F: 1.5}))
    listed = tmp_path / "known.csv"
    listed.write_text(f"file,sha256\nknown.prof,{sha256_of(path)}\n")
    assert read_profile(path, Trust(read_checksums(listed))).total_time_s == 1.5


@pytest.mark.parametrize("own_times", [{F: 0.0}, {F: -1.0}, {F: 1e308, ("a.py", 1, "f"): 1e308}])
def test_a_run_that_took_no_time_has_no_shares(tmp_path: Path, own_times: dict) -> None:
    path = write_dump(tmp_path / "none.prof", statistics(own_times))
    with pytest.raises(FramewattError, match=r"none.prof: its functions took \S+ s together. Use"):
        read_profile(path, ANY)


PYTHON_2 = b"{(t\x08\x00\x00\x00train.pyi\x03\x00\x00\x00R\x00\x00\x00\x00"
"""Marshal data with a reference to an interned string, as only Python 2 writes it."""

TOO_MUCH = b"[" + struct.pack("<i", 2**31 - 1)
"""A list that says it has 2 billion entries."""

UNFOLDING = {("train.py", line, "x" * 4000): (1, 1, 1.0, 1.0, {}) for line in range(20_000)}
"""80 MB of names, of which a dump holds one."""


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "EOF"),
        (PYTHON_2, "bad marshal data"),
        (TOO_MUCH, "marshal data"),
        (marshal.dumps(statistics({F: 1.0}))[:-9], "marshal data that this Python cannot read"),
        (marshal.dumps(UNFOLDING), "unfold to more than 64 MiB"),
        (marshal.dumps({}), "no functions"),
        (marshal.dumps([1, 2]), "a list where"),
        (marshal.dumps({"main": (1, 1, 1.0, 1.0, {})}), "'main' where cProfile writes file, line and function"),
        (marshal.dumps({(b"train.py", 3, b"main"): (1, 1, 1.0, 1.0, {})}), "where cProfile writes file, line"),
        (marshal.dumps({("train.py", 3, "a\nb"): (1, 1, 1.0, 1.0, {})}), "not printable"),
        (marshal.dumps({("train.py", -3, "main"): (1, 1, 1.0, 1.0, {})}), "line -3"),
        (marshal.dumps({F: (1, 1, 1.0, 1.0)}), "no statistics of main"),
        (marshal.dumps({F: (2, 1, 1.0, 1.0, {})}), r"\(1, 2\) as the calls and primitive calls of main"),
        (marshal.dumps({F: (1, 2**70, 1.0, 1.0, {})}), "as the calls and primitive calls of main"),
        (marshal.dumps({F: (1, True, 1.0, 1.0, {})}), "as the calls and primitive calls of main"),
        (marshal.dumps({F: (1, 1, float("nan"), 1.0, {})}), "as the times of main"),
        (marshal.dumps({F: (1, 1, "1", 1.0, {})}), "as the times of main"),
        (marshal.dumps({F: (1, 1, 1.0, 1.0, {F: 1})}), "no statistics of a call of main"),
        (marshal.dumps({F: (1, 1, 1.0, 1.0, {("a", 1, "b"): (1, 1, 1.0, 1.0)})}), "itself not profiled"),
    ],
    ids=range(19),
)
def test_what_is_no_dump_is_one_line(tmp_path: Path, content: bytes, found: str) -> None:
    path = tmp_path / "bad.prof"
    path.write_bytes(content)
    with pytest.raises(FramewattError, match=found) as caught:
        read_profile(path, ANY)
    assert str(caught.value).startswith(f"{path}: it holds ")
    assert "It has to be a whole dump of cProfile" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_python_that_wrote_a_dump_is_told(tmp_path: Path) -> None:
    key = ("/usr/lib/python2.7/json/decoder.py", 1, "decode")
    content = marshal.dumps(statistics({key: 1.0}))
    path = tmp_path / "old.prof"
    path.write_bytes(content)
    assert read_profile(path, ANY).python == "2.7"
    path.write_bytes(content[:-1])
    with pytest.raises(FramewattError, match=r"convert it with Python 2\.7, the version in its paths"):
        read_profile(path, ANY)


@pytest.mark.parametrize(
    ("program", "cpu_s", "found"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", 60, "data on which Python ends with -11"),
        ("import time; time.sleep(86_400)", 0.05, "data on which Python does not come to an end"),
    ],
)
def test_a_crash_stays_in_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, cpu_s: float, found: str
) -> None:
    (tmp_path / "opens.py").write_text(program)
    monkeypatch.setattr(dump, "_UNMARSHAL", tmp_path / "opens.py")
    monkeypatch.setattr(dump, "CPU_S", cpu_s)
    with pytest.raises(FramewattError, match=found):
        read_profile(write_dump(tmp_path / "hostile.prof", statistics({F: 1.0})), ANY)


def test_no_file_and_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FramewattError, match="cannot be read"):
        read_profile(tmp_path / "none.prof", ANY)
    monkeypatch.setattr(dump, "LARGEST_BYTES", 1 << 20)
    path = tmp_path / "large.prof"
    path.write_bytes(bytes(3 << 20))
    with pytest.raises(FramewattError, match="has 3 MiB"):
        read_profile(path, ANY)


def test_names_of_files_tell_the_package_and_no_home() -> None:
    assert short_names(
        [
            "~",
            "<string>",
            "/opt/conda/lib/python3.6/site-packages/torch/nn/functional.py",
            "/usr/local/lib/python3.6/dist-packages/cupy-8.0-py3.6-linux-x86_64.egg/cupy/core.py",
            "/usr/lib/python3.8/json/decoder.py",
            "/home/ann/study/train.py",
            "./src/model.py",
            "/home/ann/study/models/model.py",
            "C:\\Users\\Bob\\run.py",
        ]
    ) == {
        "~": "~",
        "<string>": "<string>",
        "/opt/conda/lib/python3.6/site-packages/torch/nn/functional.py": "torch/nn/functional.py",
        "/usr/local/lib/python3.6/dist-packages/cupy-8.0-py3.6-linux-x86_64.egg/cupy/core.py": "cupy/core.py",
        "/usr/lib/python3.8/json/decoder.py": "json/decoder.py",
        "/home/ann/study/train.py": "train.py",
        "./src/model.py": "src/model.py",
        "/home/ann/study/models/model.py": "models/model.py",
        "C:\\Users\\Bob\\run.py": "run.py",
    }


PARTS = st.lists(st.sampled_from(["home", "ann", "lib", "python3.6", "site-packages", ".", "a", "b"]), max_size=5)


@settings(deadline=None)
@given(st.sets(st.builds(lambda parts, name: "/".join(["", *parts, name]), PARTS, st.sampled_from(["x.py", "y.py"]))))
def test_different_files_have_different_names_without_a_home(files: set[str]) -> None:
    names = short_names(files)
    assert set(names) == files
    assert len(set(names.values())) == len(files)
    assert not any(name.startswith("/") for name in names.values())


def test_files_that_share_a_name_stay_apart(tmp_path: Path) -> None:
    times: dict[Any, float] = {("/home/ann/a.py", 1, "f"): 2.0, ("/home/bob/a.py", 1, "f"): 1.0, builtin("g"): 4.0}
    read = read_profile(write_dump(tmp_path / "x.prof", statistics(times)), ANY)
    assert read.functions["file"].tolist() == ["~", "a.py", "a.py (2)"]
    assert read.functions["own_time_s"].tolist() == [4.0, 2.0, 1.0]
