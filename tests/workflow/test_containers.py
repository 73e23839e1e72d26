"""Studies in containers, on images built without root from a base that this machine makes itself."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from checkout import ROOT, SMOKE_READ_RARELY, Answer, Checkout

from framewatt.base.files import sha256_of
from framewatt.environments.images import image_sha256
from framewatt.package.rebuild import rebuild
from framewatt.runs.records import read_run


@dataclass(frozen=True)
class Contained:
    """A study in containers.

    Attributes:
        study: the study's name, or what it says.
        images: names of all images that it needs.
        runs: how many runs it has.
        client: an image that nothing but runs use.
        runs_of_client: how many runs use it.
    """

    study: str | dict
    images: list[str]
    runs: int
    client: str
    runs_of_client: int


ONNX = {"phase": ["infer"], "workload": ["resnet50"], "dataset": ["digits-few"], "batch_size": [32]}
FEW = Contained(
    {
        "study": "contained",
        "title": "A framework, ONNX Runtime and Node.js in containers",
        "factors": [
            {**ONNX, "runtime": ["mxnet"]},
            {**ONNX, "runtime": ["mx2onnx"], "client": ["python", "node"]},
        ],
        "repetitions": 2,
        "weights": "seeded",
        "instruments": {"fallback": "estimate", "period_s": 5},
        "window": {"warm_up_batches": 1, "minimum_s": 0.2},
        "calibration": {"idle_s": 1},
        "cool_down": {"rest_s": 0},
        "disturbance": "flag",
        "statistics": {"resamples": 100},
    },
    images=["orchestrator", "mxnet/cpu", "onnxruntime/cpu", "onnxruntime/node"],
    runs=6,
    client="onnxruntime/node",
    runs_of_client=2,
)
SMOKE = Contained(
    "smoke",
    images=["orchestrator", "torch", "tensorflow/cpu", "mxnet/cpu", "onnxruntime/cpu", "onnxruntime/openvino"],
    runs=20,
    client="onnxruntime/openvino",
    runs_of_client=2,
)

pytestmark = [
    pytest.mark.containers,
    pytest.mark.skipif(
        shutil.which("apptainer") is None, reason="no apptainer on this machine; see .ci/run for how Debian gets it"
    ),
]


@pytest.fixture(
    scope="module", params=[pytest.param(FEW, id="few"), pytest.param(SMOKE, id="smoke", marks=pytest.mark.every_image)]
)
def contained(request: pytest.FixtureRequest) -> Contained:
    return request.param


@pytest.fixture(scope="module")
def config(contained: Contained, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The configuration that names the study."""
    study = contained.study
    if isinstance(study, dict):
        path = tmp_path_factory.mktemp("study") / f"{study['study']}.yaml"
        path.write_text(yaml.safe_dump(study))
        study = str(path)
    return f"study={study} device=cpu container_base=debootstrap"


@pytest.fixture(scope="module")
def checkout(contained: Contained, config: str, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy that shares the real checkout's images, which are built there if they are not."""
    checkout = Checkout(tmp_path_factory.mktemp("containers"))
    checkout.edit("config/studies/smoke.yaml", SMOKE_READ_RARELY)
    checkout.share_images(config, contained.images)
    return checkout


@pytest.fixture(scope="module")
def answer(checkout: Checkout, config: str) -> Answer:
    answer = checkout.snakemake("--use-singularity", "all", "archive", config=config)
    assert answer.code == 0, answer.text
    return answer


@pytest.fixture(scope="module")
def results(checkout: Checkout, answer: Answer) -> Path:
    (results,) = (checkout.root / "results").iterdir()
    return results


def test_every_run_took_place_in_its_image(contained: Contained, checkout: Checkout, results: Path) -> None:
    records = [read_run(path) for path in results.glob("measure/*/*/run.json")]
    assert len(records) == contained.runs
    for record in records:
        environment = record["identity"]["environment"]
        image = checkout.root / "resources" / "images" / f"{environment['name']}.sif"
        assert (record["status"], record["valid"], environment["mode"]) == ("ok", True, "container")
        assert environment["image_sha256"] == image_sha256(image)
        assert record["identity"]["code"]["sha256"] is not None


def test_the_hash_in_a_record_is_that_of_the_file(contained: Contained, checkout: Checkout, results: Path) -> None:
    record = read_run(next(results.glob(f"measure/*{Path(contained.client).name}*/1/run.json")))
    image = checkout.root / f"resources/images/{contained.client}.sif"
    assert record["identity"]["environment"]["image_sha256"] == sha256_of(image)


def test_the_same_tables_figures_and_report_come_out_without_containers(results: Path, tmp_path: Path) -> None:
    (package,) = (results / "archive").glob("*.zip")
    assert rebuild(package, tmp_path, ROOT) == []


def test_a_second_time_there_is_nothing_to_do(checkout: Checkout, config: str, answer: Answer) -> None:
    assert "Nothing to be done" in checkout.snakemake("--use-singularity", "all", config=config).text


def test_an_image_that_comes_out_the_same_measures_nothing_and_another_one_its_runs(
    contained: Contained, checkout: Checkout, config: str, results: Path
) -> None:
    image = checkout.root / f"resources/images/{contained.client}.sif"
    record = checkout.root / f"resources/environments/container/{contained.client}/environment.json"
    kept = record.read_text(), record.stat()
    link, made = image.readlink(), image.lstat()
    image.unlink()
    shutil.copyfile(link, image)
    try:
        _look_at_images(contained, checkout, config, record)
    finally:
        image.unlink()
        image.symlink_to(link)
        os.utime(image, ns=(made.st_atime_ns, made.st_mtime_ns), follow_symlinks=False)
        record.write_text(kept[0])
        os.utime(record, ns=(kept[1].st_atime_ns, kept[1].st_mtime_ns))


def _look_at_images(contained: Contained, checkout: Checkout, config: str, record: Path) -> None:
    """Plan with an image that is new and the same, and then with a record of another image."""
    text = checkout.snakemake("--use-singularity", "--dry-run", "--quiet", "host", "--", "all", config=config).text
    table = text.split("Job stats:")[1].split("total")[0]
    jobs = dict(line.split() for line in table.splitlines()[3:] if line.strip())
    assert jobs["environment"] == "1"
    assert not {"measure", "train", "export", "calibrate", "image"} & set(jobs)
    record.write_text(json.dumps({**json.loads(record.read_text()), "image_sha256": "0" * 64}))
    (due,) = checkout.snakemake("--use-singularity", "--dry-run", "all", config=config).lines("due: ")
    assert due.endswith(f" runs are due: {contained.runs_of_client} measured in another image")


def test_without_apptainer_it_is_one_line(
    checkout: Checkout, config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program in ("bash", "sh", "env", "git", "which"):
        found = shutil.which(program)
        assert found
        (tmp_path / program).symlink_to(found)
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = checkout.snakemake("--use-singularity", "all", config=config)
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert line.startswith("framewatt: containers: apptainer is not on PATH. Install ")
