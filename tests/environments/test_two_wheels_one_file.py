"""An environment whose packages overwrite each other's files is no environment: which file stays is chance."""

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from framewatt.environments.framework import build_locked, describe_host

ROOT = Path(__file__).parents[2]


def wheel(name: str, files: dict[str, str], folder: Path) -> str:
    """Make a wheel; its line of a lock."""
    info = f"{name}-1.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {
        path: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        for path, text in files.items()
    }
    record = "".join(f"{path},sha256={digest},{len(files[path])}\n" for path, digest in digests.items())
    archive = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(archive, "w") as opened:
        for path, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            opened.writestr(path, text)
    return f"{name} @ {archive.as_uri()} --hash=sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}\n"


@pytest.mark.parametrize(
    ("first", "second", "fought"),
    [
        ({"same.py": "a = 1", "one.so": "x"}, {"same.py": "a = 2", "one.so": "y"}, "one.so (such files: 2)"),
        ({"same.py": "a = 1"}, {"same.py": "a = 2"}, "same.py (such files: 1)"),
        ({"shared/__init__.py": ""}, {"shared/__init__.py": ""}, None),
        ({"tests/__init__.py": "a = 1"}, {"tests/__init__.py": "a = 2"}, None),
    ],
    ids=["two files", "one", "the same bytes", "what nothing imports"],
)
def test_an_environment_that_chance_would_decide_is_refused(
    first: dict[str, str], second: dict[str, str], fought: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    lock = tmp_path / "requirements.txt"
    lock.write_text(wheel("left", first, tmp_path) + wheel("right", second, tmp_path))
    record = build_locked("some", lock, tmp_path / "made", tmp_path / "log")
    assert record["status"] == ("failed" if fought else "ok"), (tmp_path / "log").read_text()
    if fought:
        assert record["reason"] == (
            f"left and right each bring their own {fought}; keep one of them in "
            "the environment's pyproject.toml and run make lock"
        )
    else:
        assert record["packages"] == {"left": "1", "right": "1"}
    # An interpreter of the host's stays its owner's affair.
    assert describe_host("some", str(tmp_path / "made/bin/python"))["status"] == "ok"
