"""`make gpu` on a scripted GPU: planned, interrupted, carried to another machine, joined, reported."""

import html
import json
import os
import re
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import psutil
import pytest
from checkout import Checkout, heed_interrupts
from gpu.scripted import STUDIES, Machine

from framewatt.base.files import sha256_of

MOST_S = 600


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("machine"))


def records(checkout: Checkout) -> dict[str, str]:
    """Hashes of all run records, by path."""
    return {
        str(path.relative_to(checkout.root)): sha256_of(path)
        for path in checkout.root.glob("results/*/measure/*/*/run.json")
    }


def test_a_plan_says_what_the_interpreter_has_and_what_is_measured_of_it(machine: Machine) -> None:
    answer = machine.gpu("--plan")
    assert answer.code == 0, answer.text
    lines = [line.split(maxsplit=2) for line in answer.text.splitlines()]
    assert ["torch", "2.11.0"] in lines
    assert ["tensorflow", "-", "not installed"] in lines
    assert ["jax", "0.11.2", "not measured: framewatt has no engine for it yet"] in lines
    (study,) = answer.lines(f"  {STUDIES[0]}: ")
    assert re.search(r"7 cells, 0 of 14 runs measured, about \d+ min left", study)


def test_a_slice_that_is_too_short_is_refused_with_the_least_that_would_do(machine: Machine) -> None:
    answer = machine.gpu("--slice", "20s")
    assert answer.code == 1
    (line,) = answer.lines("framewatt: ")
    assert line.endswith("too short to prepare and measure a run of gpu-alizadeh2024. Use SLICE=2m or more.")
    assert not records(machine)


def test_a_cell_that_was_measured_and_cannot_run_any_more_is_no_cell_less(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    cell = "infer-resnet50-synthetic-imagenet-64-tensorflow-b1-compiled"
    record = machine.root / "results" / STUDIES[0] / "measure" / cell / "1/run.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    answer = machine.gpu("--plan")
    assert answer.code == 1
    (line,) = answer.lines("framewatt: ")
    assert f"{cell} was measured and cannot run any more: keras is not installed" in line


def measuring(machine: Machine, carry: Path, runs: int) -> "subprocess.Popen[bytes]":
    """Start `make gpu`'s script, and return when it has measured at least so many runs."""
    process = subprocess.Popen(
        machine.command("--carry", carry),
        cwd=machine.root,
        env=machine.variables,
        start_new_session=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509  # nothing here has threads
    )
    until = time.monotonic() + MOST_S
    while len(records(machine)) < runs and process.poll() is None and time.monotonic() < until:
        time.sleep(0.1)
    assert process.poll() is None
    return process


def test_it_goes_on_after_a_kill_and_an_interrupt_on_another_machine_and_is_reported_on_a_third(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "own", studies=STUDIES[:1])
    first, second = tmp_path / "first", tmp_path / "second"
    killed = measuring(machine, first, 1)
    # What Snakemake started has a group of its own, which the end of the machine would end, too.
    for process in [*psutil.Process(killed.pid).children(recursive=True), psutil.Process(killed.pid)]:
        process.kill()
    killed.wait(MOST_S)
    assert not first.exists()
    one = records(machine)
    interrupted = measuring(machine, first, len(one) + 1)
    os.kill(interrupted.pid, signal.SIGINT)
    assert interrupted.wait(MOST_S) != 0
    before = records(machine)
    assert one.items() < before.items()

    other = Machine(tmp_path / "other", gpu="NVIDIA Other", studies=STUDIES[:1])
    answer = other.gpu("--dirs", first, "--carry", second)
    assert answer.code == 0, answer.text
    assert f"goes on: {STUDIES[0]} with {len(before)} runs" in answer.text
    after = records(other)
    assert before.items() <= after.items(), "what was measured is not measured again"
    assert "All runs are measured." in answer.text
    names = zipfile.ZipFile(second / "gpu.zip").namelist()
    assert not [name for name in names if name.endswith((".pt", ".onnx"))]

    third = Machine(tmp_path / "third", studies=STUDIES[:1])
    page = third.root / "results" / STUDIES[0] / "report/report.html"
    answer = third.script("scripts/gpu_collect.py", "--dirs", first)
    assert answer.code == 0, answer.text
    assert records(third) == before
    # The study was interrupted: its report is of the runs that are there, and names the others.
    assert f"{len(before)} of 14 planned runs count." in text_of(page)
    assert "Planned runs without a record" in text_of(page)
    assert "and not after them: the uncertainty of net energy holds no drift" in text_of(page)
    # What is joined later is in the next report. A run that failed is in it too, and the command fails.
    failed = next(path for path in after if path not in before)
    plant_failure(second, failed)
    answer = third.script("scripts/gpu_collect.py", "--dirs", second)
    assert answer.code == 1
    assert "framewatt: 1 run failed or is invalid, first " in answer.text
    assert set(records(third)) == set(after)
    assert "13 of 14 planned runs count." in text_of(page)
    assert "planted" in text_of(page)
    for gpu in ("NVIDIA Scripted", "NVIDIA Other"):
        assert gpu in text_of(page)


def text_of(page: Path) -> str:
    """The words of a page, without markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.read_text())).split())


def plant_failure(folder: Path, record: str) -> None:
    """Let a run have failed in the file that was carried away into a folder."""
    with zipfile.ZipFile(folder / "gpu.zip") as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    name = f"carried/{record}"
    content[name] = json.dumps({**json.loads(content[name]), "status": "failed", "reasons": ["planted"]}).encode()
    with zipfile.ZipFile(folder / "gpu.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in content.items():
            archive.writestr(entry, data)


def test_a_gpu_that_others_use_is_refused_unless_it_is_to_be_shared(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    busy = "return [SimpleNamespace(pid=4242, usedGpuMemory=2**20)]"
    machine.edit(
        "src/pynvml.py",
        {
            "def nvmlDeviceGetComputeRunningProcesses(_handle: int) -> list[SimpleNamespace]:\n    return []": BUSY
            + busy
        },
    )
    answer = machine.gpu("--plan")
    assert answer.code == 1
    assert "  in use by others: GPU 0: process 4242, 1 MiB" in answer.text
    (line,) = answer.lines("framewatt: ")
    assert line.endswith("End them, or allow it with SHARED=1.")
    assert machine.gpu("--plan", "--shared").code == 0


BUSY = "def nvmlDeviceGetComputeRunningProcesses(_handle: int) -> list[SimpleNamespace]:\n    "


def test_without_a_gpu_or_without_the_interpreter_it_is_one_line(machine: Machine) -> None:
    del_gpu = {**machine.variables, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        machine.command("--plan"), cwd=machine.root, env=del_gpu, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("framewatt: no NVIDIA GPU can be used here: ")
    assert done.stderr.count("\n") == 1
    answer = machine.script("scripts/gpu.py", "--python", "no-such-python")
    assert answer.text == (
        "framewatt: GPU_PYTHON: 'no-such-python' is not a program on this machine. Name an interpreter.\n"
    )
