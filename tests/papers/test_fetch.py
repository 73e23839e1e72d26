"""`make fetch`: an authors' archive is downloaded by its checksum, and where its raw results lie is said."""

import functools
import hashlib
import http.server
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from checkout import ROOT

CSV = "run1-gpu-epoch10-batchsize32-pytorch-SVHN-resnet50-ENERGY.csv"
Fetch = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """What a repository's page gives: everything in one folder, the raw results somewhere below."""
    raw = tmp_path / "made" / "repository-abc" / "power" / "experiments" / "gpu" / "pytorch"
    raw.mkdir(parents=True)
    (raw / CSV).write_text("timestamp, power.draw [W]\n")
    # Another project of the same people, which comes first by name.
    (tmp_path / "made" / "repository-abc" / "memory" / "experiments" / "perf").mkdir(parents=True)
    served = tmp_path / "served"
    served.mkdir()
    with tarfile.open(served / "abc.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "made" / "repository-abc", "repository-abc")
    return served / "abc.tar.gz"


@pytest.fixture
def fetch(archive: Path, tmp_path: Path) -> Iterator[Fetch]:
    """Runs the command's script in an empty folder, on a server that has the archive."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=archive.parent)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def run(digest: str) -> "subprocess.CompletedProcess[str]":
        url = f"http://127.0.0.1:{server.server_port}/abc.tar.gz"
        words = ["--paper=itu2023", f"--url={url}", f"--checksum={digest}", f"--size-b={archive.stat().st_size}"]
        command = [sys.executable, "-P", ROOT / "scripts" / "fetch.py", *words]
        environment = {"PYTHONPATH": str(ROOT / "src")}
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)

    yield run
    server.shutdown()
    thread.join()
    server.server_close()


def test_raw_results_are_fetched_and_found(fetch: Fetch, archive: Path, tmp_path: Path) -> None:
    done = fetch(f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}")
    assert done.returncode == 0, done.stderr
    folder = Path("resources/raw/itu2023/repository-abc/power")
    assert done.stdout == f"fetched; now: snakemake --cores 1 published --config published_itu2023={folder}\n"
    assert (tmp_path / folder / "experiments/gpu/pytorch" / CSV).is_file()


@pytest.mark.parametrize(
    ("checksum", "said"),
    [
        ("sha256:" + "0" * 64, "It is deleted"),
        ("0" * 64, "Use sha256:<64 hexadecimal digits>"),
    ],
)
def test_another_file_than_the_checksum_says_is_refused(fetch: Fetch, tmp_path: Path, checksum: str, said: str) -> None:
    done = fetch(checksum)
    (line,) = done.stderr.splitlines()
    assert done.returncode != 0
    assert said in line
    assert not [path for path in (tmp_path / "resources").rglob("*") if path.is_file()]
