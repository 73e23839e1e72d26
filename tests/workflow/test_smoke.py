"""One small real run through every framework, from the study file to the report and the archive."""

import itertools
import json
import os
import re
import shutil
import subprocess
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from checkout import ROOT, SMOKE_READ_RARELY, Answer, Checkout

from framewatt.package.private import versions_in
from framewatt.package.rebuild import rebuild
from framewatt.package.unpack import unpack
from framewatt.package.verify import problems_of
from framewatt.privacy.secrets import Secrets
from framewatt.runs.records import read_run
from framewatt.tasks.classification import Classification

ENVIRONMENTS = ["torch", "tensorflow/cpu", "mxnet/cpu", "onnxruntime/cpu", "onnxruntime/openvino"]
STUDY = "study=smoke device=cpu"
MODEL = "mobilenetv2"
BROWSER = shutil.which("chromium")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    checkout = Checkout(tmp_path_factory.mktemp("smoke"))
    for name in ENVIRONMENTS:
        checkout.share_environment(name)
    checkout.edit("config/studies/smoke.yaml", SMOKE_READ_RARELY)
    # A tenth of the work, by the same code; the images of `make test-images` run the study as it is.
    study = checkout.root / "config/studies/smoke.yaml"
    study.write_text(study.read_text().replace("resnet50", MODEL))
    return checkout


@pytest.fixture(scope="module")
def answer(checkout: Checkout) -> Answer:
    return checkout.snakemake("all", "archive", config=STUDY)


@pytest.fixture(scope="module")
def results(checkout: Checkout, answer: Answer) -> Path:
    assert answer.code == 0, answer.text
    return checkout.root / "results" / "smoke"


@pytest.fixture(scope="module")
def records(results: Path) -> list[dict]:
    return [read_run(path) for path in results.glob("measure/*/*/run.json")]


@pytest.fixture(scope="module")
def page(results: Path) -> BeautifulSoup:
    return BeautifulSoup((results / "report" / "report.html").read_text(), "html.parser")


def planned(checkout: Checkout, target: str) -> dict[str, int]:
    """How many jobs of which rule snakemake would run, as its own table tells; the target's own job left out."""
    answer = checkout.snakemake("--dry-run", "--quiet", "host", "--", target, config=STUDY)
    assert answer.code == 0, answer.text
    table = answer.text.split("Job stats:")[1].split("total")[0]
    counts = dict(line.split() for line in table.splitlines()[3:] if line.strip())
    return {rule: int(count) for rule, count in counts.items() if rule != "all"}


@contextmanager
def changed(path: Path, change: Callable[[str], str]) -> Iterator[None]:
    """Change a file; afterwards it is as it was, with its time."""
    text, times = path.read_text(), path.stat()
    path.write_text(change(text))
    try:
        yield
    finally:
        path.write_text(text)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_every_run_is_measured_once_and_ok(records: list[dict]) -> None:
    study = yaml.safe_load((ROOT / "config/studies/smoke.yaml").read_text())
    assert len(records) == 10 * study["repetitions"]
    assert {(record["status"], record["valid"], record["attempt"]) for record in records} == {("ok", True, 1)}


def test_runs_took_place_in_the_planned_order_one_after_the_other(records: list[dict]) -> None:
    ordered = sorted(records, key=lambda record: record["clock"]["monotonic_ns"])
    assert [record["position"] for record in ordered] == list(range(1, len(records) + 1))
    spans = [record["windows"]["process"] for record in ordered]
    assert all(a["end_monotonic_ns"] < b["start_monotonic_ns"] for a, b in itertools.pairwise(spans))


def test_a_line_tells_how_far_the_study_is(answer: Answer, records: list[dict]) -> None:
    lines = answer.lines("run ")
    assert len(lines) == len(records)
    assert lines[0].startswith(f"run 1 of {len(records)} (0 done; time left unknown; energy unknown): ")
    assert " left" in lines[-1]


def test_everyone_got_the_same_arrays(checkout: Checkout, records: list[dict]) -> None:
    data = json.loads((checkout.root / "resources/data/digits-few.json").read_text())
    assert {record["identity"]["data_sha256"] for record in records} == {data["sha256"]}


def test_energy_comes_with_samples_uncertainty_and_net(results: Path) -> None:
    for path in results.glob("measure/*/*/run.json"):
        record = read_run(path)
        window = record["windows"][record["primary_window"]]
        (energy,) = window["domains"].values()
        trace = pd.read_parquet(path.with_name("power.parquet"))
        read = trace[(trace["instrument"] == energy["instrument"]) & (trace["quantity"] == "energy_j")]
        spans = window["spans_monotonic_ns"]
        inside = sum(int(read["monotonic_ns"].between(start, end).sum()) for start, end in spans)
        assert energy["samples"] == inside
        assert energy["energy_gross_j"] > 0
        assert energy["energy_uncertainty_j"] > 0
        assert energy["energy_net_j"] == pytest.approx(energy["energy_gross_j"] - energy["energy_idle_j"])
        assert energy["estimated"] == (energy["instrument"] == "estimate")


def test_inference_is_timed_for_as_long_as_the_study_says(records: list[dict]) -> None:
    for record in (r for r in records if r["cell"]["phase"] == "infer"):
        assert record["windows"]["steady"]["duration_s"] >= 0.5
        # 64 images in the test set, and batches of 1 or 64: no batch is incomplete.
        assert record["units"]["count"] >= 64
        assert record["latency"]["batches"] * record["cell"]["batch_size"] == record["units"]["count"]


def test_training_tells_every_epoch(records: list[dict]) -> None:
    for record in (r for r in records if r["cell"]["phase"] == "train"):
        assert [epoch["epoch"] for epoch in record["epochs"]] == [1, 2]
        assert {"epoch-1", "evaluate-1", "epoch-2", "evaluate-2", "steady"} <= set(record["windows"])
        epochs_s = sum(record["windows"][f"epoch-{n}"]["duration_s"] for n in (1, 2))
        assert record["windows"]["steady"]["duration_s"] == pytest.approx(epochs_s)
        for quality in (epoch["quality"] for epoch in record["epochs"]):
            assert set(quality) == set(Classification().names)
            assert quality["top1_error"]["value"] == 1 - quality["accuracy"]["value"]


@pytest.mark.parametrize("framework", ["torch", "tensorflow", "mxnet"])
def test_the_export_is_what_its_source_was(results: Path, framework: str) -> None:
    check = json.loads((results / f"export/{MODEL}-digits-few-{framework}/check/check.json").read_text())
    assert (check["status"], check["checker"], check["samples"]) == ("ok", "ok", 64)
    assert check["max_abs_difference"] < 1e-3
    assert check["equal_predictions_share"] == 1


def test_onnx_runtime_ran_every_node_where_it_was_told_to(records: list[dict]) -> None:
    for record in (r for r in records if r["cell"]["runtime"].endswith("2onnx")):
        provider = {"cpu": "CPUExecutionProvider", "openvino": "OpenVINOExecutionProvider"}[record["cell"]["provider"]]
        assert record["workload"]["execution_provider"] == provider
        assert record["workload"]["all_nodes_on_provider"] is True


def test_an_exported_model_is_as_accurate_as_its_source(records: list[dict]) -> None:
    def accuracy(runtime: str, provider: str) -> set[float]:
        cells = [r for r in records if (r["cell"]["runtime"], r["cell"]["provider"]) == (runtime, provider)]
        return {r["quality"]["accuracy"]["value"] for r in cells if r["cell"]["phase"] == "infer"}

    for source, exported in (("torch", "torch2onnx"), ("tensorflow", "tf2onnx"), ("mxnet", "mx2onnx")):
        assert accuracy(source, "native") == accuracy(exported, "cpu")
    assert accuracy("torch", "native") == accuracy("torch2onnx", "openvino")


def test_the_frames_hold_every_run(results: Path, records: list[dict]) -> None:
    runs = pd.read_parquet(results / "aggregate" / "runs.parquet")
    assert (runs["domain"] == "total").sum() == len(records)
    assert len(pd.read_csv(results / "aggregate" / "runs.csv")) == len(runs)
    epochs = pd.read_parquet(results / "aggregate" / "epochs.parquet")
    assert len(epochs[epochs["domain"] == "total"]) == 3 * 2 * 2


def test_the_report_holds_every_table_and_figure_and_needs_nothing_else(page: BeautifulSoup) -> None:
    figures = {figure["id"] for figure in page.find_all("figure")}
    assert {f"figure-{name}" for name in ("energy_time", "energy_runtime_batch", "power_traces", "epochs")} <= figures
    assert all(figure.find("svg") for figure in page.find_all("figure"))
    tables = {table.get("id") for table in page.find_all("table")}
    assert {
        f"table-{name}" for name in ("energy_time", "accuracy", "fairness", "export_agreement", "comparisons", "epochs")
    } <= tables
    assert not page.find_all(["link", "img", "iframe"])
    assert not [script for script in page.find_all("script") if script.has_attr("src")]


def test_every_link_of_the_page_leads_somewhere(page: BeautifulSoup, results: Path) -> None:
    ids = {tag["id"] for tag in page.find_all(id=True)}
    found = [link["href"] for link in page.find_all("a", href=True)]
    assert {name for name in found if name.startswith("#") and name[1:] not in ids} == set()
    files = [unquote(name) for name in found if not name.startswith("#")]
    assert {name for name in files if not (results / "report" / name).is_file()} == set()
    assert {Path(name).suffix for name in files} >= {".csv", ".svg", ".pdf", ".png"}


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine; install Debian's package chromium")
def test_a_browser_opens_the_report_without_the_network(results: Path, tmp_path: Path) -> None:
    assert BROWSER is not None
    offline = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--proxy-server=127.0.0.1:9",
    ]
    command = [BROWSER, *offline, f"--user-data-dir={tmp_path}", "--window-size=1200,900"]
    report = f"file://{results / 'report' / 'report.html'}"
    shown = subprocess.run(
        [*command, "--dump-dom", report], capture_output=True, text=True, check=True, timeout=1200
    ).stdout
    opened = BeautifulSoup(shown, "html.parser")
    assert opened.h1 is not None
    assert opened.h1.get_text(strip=True) == "Every framework once, in a few minutes"
    assert len(opened.select("figure svg")) >= 4
    picture = tmp_path / "report.png"
    subprocess.run([*command, f"--screenshot={picture}", report], capture_output=True, check=True, timeout=1200)
    assert len(np.unique(matplotlib.image.imread(picture))) > 50


def test_the_report_says_what_so_few_blocks_can_tell(page: BeautifulSoup) -> None:
    said = page.get_text(" ", strip=True)
    assert "2 blocks cannot tell any difference: at least 3 are needed." in said
    assert "Not settled between" in page.select_one(".head").text


def test_an_estimate_is_called_one(page: BeautifulSoup, records: list[dict]) -> None:
    estimated = all(meter == "estimate" for record in records for meter in record["meters"])
    assert ("estimated, not measured" in page.get_text(" ", strip=True).lower()) == estimated


@pytest.fixture(scope="module")
def package(results: Path) -> Path:
    (path,) = (results / "archive").glob("*.zip")
    return path


def test_the_package_holds_raw_data_results_and_code(package: Path, records: list[dict]) -> None:
    with zipfile.ZipFile(package) as archive:
        names = {name.removeprefix(f"{package.stem}/data/") for name in archive.namelist()}
        assert archive.testzip() is None
    runs = [name for name in names if name.endswith("/run.json")]
    assert len(runs) == len(records)
    for folder in (name.rsplit("/", 1)[0] for name in runs):
        assert {f"{folder}/power.parquet", f"{folder}/events.parquet"} <= names
    assert {
        *("results/smoke/report/report.html", "config/studies/smoke.yaml", "envs/torch/requirements.txt"),
        *("resources/environments/locked/torch/environment.json", "CITATION.cff", ".zenodo.json", "identity.json"),
        *("resources/data/digits-few.json", "results/smoke/measure/chain.jsonl"),
    } <= names


def test_the_package_tells_the_truth_about_itself(package: Path, tmp_path: Path) -> None:
    assert list(problems_of(unpack(package, tmp_path))) == []


def test_everything_derived_is_rebuilt_from_raw_data_byte_for_byte(package: Path, tmp_path: Path) -> None:
    assert rebuild(package, tmp_path, ROOT) == []
    assert (tmp_path / "rebuilt/results/smoke/report/report.html").is_file()
    assert not (tmp_path / "rebuilt/resources/data").exists()


def unpacked(content: bytes) -> bytes:
    """A file, but a PNG without its packed pixels, and a PDF with its drawings unpacked.

    Of packed bytes some look like an address by chance, as once those of a figure here.
    """
    if content.startswith(b"%PDF"):
        return re.sub(rb"(?s)(?<=>>\nstream\n).*?(?=\nendstream)", lambda found: zlib.decompress(found[0]), content)
    if not content.startswith(b"\x89PNG"):
        return content
    kept, place = content[:8], 8
    while place < len(content):
        size = int.from_bytes(content[place : place + 4], "big")
        kind, chunk = content[place + 4 : place + 8], content[place : place + size + 12]
        kept += b"" if kind == b"IDAT" else chunk
        place += size + 12
    return kept


def test_nothing_in_the_package_names_its_owner(package: Path, tmp_path: Path) -> None:
    folder = unpack(package, tmp_path)
    known = Secrets.from_this_machine()
    # Versions of four numbers look like addresses; those that locks name are none.
    locks = (path.read_bytes() for path in folder.rglob("requirements.txt"))
    secrets = replace(known, allowed=known.allowed | versions_in(locks))
    for path in sorted(folder.rglob("*")):
        content = unpacked(path.read_bytes()) if path.is_file() else b""
        assert not secrets.find(content), path
        assert str(ROOT).encode() not in content, path


def test_a_second_time_there_is_nothing_to_do(checkout: Checkout, results: Path) -> None:
    answer = checkout.snakemake("all", "archive", config=STUDY)
    assert answer.code == 0
    assert "Nothing to be done" in answer.text


def test_one_figure_is_drawn_again_without_measuring(checkout: Checkout, results: Path) -> None:
    figure = results / "figures" / "energy_time.svg"
    before = figure.read_bytes()
    target = "results/smoke/figures/energy_time.svg"
    with checkout.put_back():
        figure.unlink()
        assert planned(checkout, target) == {"figures": 1}
        assert checkout.snakemake("--", target, config=STUDY).code == 0
        assert figure.read_bytes() == before


@pytest.mark.parametrize(
    ("file", "jobs"),
    [
        ("src/framewatt/figures/energy_time.py", {"figures": 1, "write_report": 1, "complete": 1}),
        ("docs/captions/report.rst", {"write_report": 1, "complete": 1}),
    ],
)
def test_a_changed_style_or_caption_runs_no_more_than_it_must(
    checkout: Checkout, results: Path, file: str, jobs: dict[str, int]
) -> None:
    with changed(checkout.root / file, lambda text: f"{text}\n"):
        assert planned(checkout, "all") == jobs


def test_another_repetition_measures_just_that_block(checkout: Checkout, results: Path) -> None:
    study = checkout.root / "config/studies/smoke.yaml"
    with changed(study, lambda text: text.replace("repetitions: 2", "repetitions: 3")):
        jobs = planned(checkout, "all")
    again = {
        "plan": 1,
        "recalibrate": 1,
        "aggregate": 1,
        "statistics": 1,
        "tables": 1,
        "figures": 7,
        "write_report": 1,
        "complete": 1,
    }
    assert jobs == {"measure": 10, **again}


def test_another_lock_plans_that_environment_and_its_runs_again(checkout: Checkout, results: Path) -> None:
    lock = checkout.root / "envs/onnxruntime/openvino/requirements.txt"
    again = {
        "recalibrate": 1,
        "aggregate": 1,
        "statistics": 1,
        "tables": 1,
        "figures": 7,
        "write_report": 1,
        "complete": 1,
    }
    with changed(lock, lambda text: f"{text}# changed\n"):
        assert planned(checkout, "all") == {"plan": 1, "environment": 1, "measure": 2, **again}
