"""A checkout whose folder's name holds blanks, quotes and commands sets itself up and runs."""

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from checkout import ROOT, Answer, Checkout, environment
from test_your_measurements import STUDY, write_logs

ODD = 'it\'s "a" $(touch m1) `touch m2` & b; [c] %41 é'


def lines_of(lock: Path, package: str) -> str:
    """A package of a lock, with its hashes."""
    return re.search(rf"^{package}==(.*\\\n)*.*\n", lock.read_text(), re.MULTILINE)[0]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout set up by `make setup`, whose lock is cut to two packages; the others are this environment's."""
    folder = tmp_path_factory.mktemp("odd") / ODD / "framewatt"
    folder.mkdir(parents=True)
    made = Checkout(folder)
    shutil.copy(ROOT / "Makefile", folder)
    lock = folder / "envs/orchestrator/requirements.txt"
    lock.write_text(lines_of(lock, "tabulate") + lines_of(lock, "uv"))
    told = set_up(folder)
    assert told.code == 0, told.text
    (site_packages,) = (folder / ".venv/lib").glob("python*/site-packages")
    (site_packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return made


def set_up(folder: Path) -> Answer:
    """Run `make setup` in a folder, on a machine whose PATH has nothing of this environment."""
    machine = environment() | {"PATH": "/usr/bin:/bin", "PYTHON": base_python()}
    done = subprocess.run(["make", "setup"], cwd=folder, env=machine, capture_output=True, text=True, check=False)
    return Answer(done.returncode, done.stdout + done.stderr)


def base_python() -> str:
    """The interpreter that this environment was made from."""
    return str(Path(sysconfig.get_config_var("BINDIR"), f"python{sysconfig.get_python_version()}"))


def run(checkout: Checkout, *words: str) -> Answer:
    """Run a program of the checkout's own environment, by its shebang line where it is a script."""
    done = subprocess.run(
        words,
        cwd=checkout.root,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Answer(done.returncode, done.stdout)


def snakemake(checkout: Checkout, study: str, *targets: str) -> Answer:
    """Run the workflow there, with the environment that was set up there."""
    start = (".venv/bin/python", "-P", "-m", "snakemake", "--cores", "1", *targets)
    return run(checkout, *start, "--config", f"study={study}")


def test_scripts_of_the_environment_start(checkout: Checkout) -> None:
    assert run(checkout, ".venv/bin/tabulate", "--help").code == 0
    told = run(checkout, "bash", "-c", "source .venv/bin/activate && python -c 'import sys; print(sys.prefix)'")
    assert told.text.strip() == str(checkout.root / ".venv")


def test_jobs_in_a_shell_and_in_python_run(checkout: Checkout) -> None:
    (checkout.root / "config/studies/my-gpu.yaml").write_text(STUDY)
    write_logs(checkout.root / "my-logs")
    told = snakemake(checkout, "my-gpu", "results/my-gpu/aggregate/runs.csv")
    assert told.code == 0, told.text
    assert (checkout.root / "results/my-gpu/aggregate/runs.csv").is_file()
    told = snakemake(checkout, "smoke", "results/smoke/calibrate/instruments.json")
    assert told.code == 0, told.text


def test_nothing_in_the_name_was_run(checkout: Checkout) -> None:
    assert list(checkout.root.rglob("m[12]")) == []
    assert not any(Path(name).exists() for name in ("m1", "m2"))


def test_a_name_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    told = Checkout(folder).snakemake("--dry-run", config="study=smoke")
    assert told.code != 0
    (line,) = told.lines("framewatt: ")
    assert re.search(r"the name of the folder .* has ':' in it\. Move it to a folder without : { } and line ends", line)
    assert "Traceback" not in told.text


def test_a_uv_of_another_hash_is_not_taken(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    lock = tmp_path / "envs/orchestrator/requirements.txt"
    lock.parent.mkdir(parents=True)
    lock.write_text(re.sub("sha256:.{8}", "sha256:01234567", lines_of(ROOT / lock.relative_to(tmp_path), "uv")))
    told = set_up(tmp_path)
    assert told.code != 0
    assert "DO NOT MATCH THE HASHES" in told.text
    assert not (tmp_path / ".venv/bin/uv").exists()
