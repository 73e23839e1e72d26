"""The smoke study in containers, on images built without root from a base that this machine makes itself."""

import os
import shutil
from pathlib import Path

import pytest
from checkout import ROOT, Answer, Checkout, run_snakemake

from framewatt.files import sha256_of
from framewatt.images import image_sha256
from framewatt.package.rebuild import rebuild
from framewatt.records import read_run

STUDY = "study=smoke device=cpu container_base=debootstrap"
IMAGES = ["orchestrator", "torch", "tensorflow/cpu", "mxnet/cpu", "onnxruntime/cpu", "onnxruntime/openvino"]

pytestmark = [
    pytest.mark.containers,
    pytest.mark.skipif(
        shutil.which("apptainer") is None, reason="no apptainer on this machine; see .ci/run for how Debian gets it"
    ),
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy that shares the real checkout's images, which are built there if they are not."""
    answer = run_snakemake(ROOT, "images", "--use-singularity", config=STUDY)
    assert answer.code == 0, answer.text
    checkout = Checkout(tmp_path_factory.mktemp("containers"))
    images = checkout.root / "resources" / "images"
    # The base first: an image older than its base would be built again.
    for name in ["base", *IMAGES]:
        link = images / f"{name}.sif"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(ROOT / "resources" / "images" / f"{name}.sif")
    return checkout


@pytest.fixture(scope="module")
def answer(checkout: Checkout) -> Answer:
    answer = checkout.snakemake("--use-singularity", "all", "archive", config=STUDY)
    assert answer.code == 0, answer.text
    return answer


@pytest.fixture(scope="module")
def results(checkout: Checkout, answer: Answer) -> Path:
    return checkout.root / "results" / "smoke"


def test_every_run_took_place_in_its_image(checkout: Checkout, results: Path) -> None:
    records = [read_run(path) for path in results.glob("measure/*/*/run.json")]
    assert len(records) == 20
    for record in records:
        environment = record["identity"]["environment"]
        image = checkout.root / "resources" / "images" / f"{environment['name']}.sif"
        assert (record["status"], record["valid"], environment["mode"]) == ("ok", True, "container")
        assert environment["image_sha256"] == image_sha256(image)
        assert record["identity"]["code"]["sha256"] is not None


def test_the_hash_in_a_record_is_that_of_the_file(checkout: Checkout, results: Path) -> None:
    record = read_run(next(results.glob("measure/*openvino*/1/run.json")))
    image = checkout.root / "resources/images/onnxruntime/openvino.sif"
    assert record["identity"]["environment"]["image_sha256"] == sha256_of(image)


def test_the_same_tables_figures_and_report_come_out_without_containers(results: Path, tmp_path: Path) -> None:
    (package,) = (results / "archive").glob("*.zip")
    assert rebuild(package, tmp_path, ROOT) == []


def test_a_second_time_there_is_nothing_to_do(checkout: Checkout, answer: Answer) -> None:
    assert "Nothing to be done" in checkout.snakemake("--use-singularity", "all", config=STUDY).text


def test_a_rebuilt_image_plans_its_runs_again(checkout: Checkout, results: Path) -> None:
    image = checkout.root / "resources/images/onnxruntime/openvino.sif"
    image.unlink()
    shutil.copyfile(ROOT / "resources/images/onnxruntime/openvino.sif", image)
    os.utime(image)
    text = checkout.snakemake("--use-singularity", "--dry-run", "--quiet", "host", "--", "all", config=STUDY).text
    table = text.split("Job stats:")[1].split("total")[0]
    jobs = dict(line.split() for line in table.splitlines()[3:] if line.strip())
    assert (jobs["environment"], jobs["measure"]) == ("1", "2")
    assert not {"train", "export", "calibrate", "image"} & set(jobs)


def test_without_apptainer_it_is_one_line(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program in ("bash", "sh", "env", "git", "which"):
        found = shutil.which(program)
        assert found
        (tmp_path / program).symlink_to(found)
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = checkout.snakemake("--use-singularity", "all", config=STUDY)
    assert answer.code != 0
    (line,) = answer.lines("framewatt: ")
    assert line.startswith("framewatt: containers: found no apptainer on PATH; allowed: ")
