"""The studies of the published raw data, on the files that are here and on the halves that are not."""

import shutil
from pathlib import Path

import pytest
from published_data import raw_data

from framewatt.frames.frames import epochs_frame, runs_frame
from framewatt.imports.importing import import_runs
from framewatt.study.study import FileStudy
from framewatt.workflow.setup import load_setup

ROOT = Path(__file__).parents[2]
TRAIN = "measurements_train"
INFERENCE = "measurements_inference"


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def load(name: str, root: Path) -> FileStudy:
    study = load_setup({"study": f"{name}-published", f"published_{name}": str(root)}, ROOT).study
    assert isinstance(study, FileStudy)
    return study


def test_the_training_half_of_georgiou2022() -> None:
    study = load("georgiou2022", raw_data("prengdl", TRAIN))
    runs = [run.record for run in import_runs(study, {})]
    assert len(runs) == 120
    assert all(run["status"] == "ok" and run["valid"] for run in runs)
    means = runs_frame(runs).groupby(["workload", "framework", "domain"])[["energy_gross_j", "duration_s"]].mean()
    # Table 2 of the paper: joules of processor and memory, and seconds, of NCF's training.
    assert int(means.loc["NCF", "PyTorch", "cpu:package"]["energy_gross_j"]) == 327_561
    assert int(means.loc["NCF", "TensorFlow", "cpu:dram"]["energy_gross_j"]) == 29_300
    assert int(means.loc["NCF", "TensorFlow", "total"]["duration_s"]) == 2_710
    # Its 85127 J of the GPU are a sum of watts, a reading as a second; over the time that the run took it is more.
    assert means.loc["NCF", "TensorFlow", "gpu:0"]["energy_gross_j"] == pytest.approx(85_127, rel=0.005)


def test_the_inference_half_of_georgiou2022_has_the_same_layout(tmp_path: Path) -> None:
    folder = raw_data("prengdl", TRAIN)
    (tmp_path / INFERENCE).mkdir()
    for path in (folder / TRAIN).glob("ncf_*"):
        shutil.copy(path, tmp_path / INFERENCE)
    (tmp_path / INFERENCE / "ncf_PyTorch_nvidia_smi_3.txt").unlink()
    study = load("georgiou2022", tmp_path)
    assert [cell.id for cell in study.cells] == ["infer-ncf-pytorch", "infer-ncf-tensorflow"]
    failed = [run.record for run in import_runs(study, {}) if run.record["status"] != "ok"]
    assert [run["reasons"] for run in failed] == [[f"{INFERENCE}/ncf_PyTorch_nvidia_smi_3.txt: no such file"]]
    (tmp_path / TRAIN).symlink_to(folder / TRAIN)
    assert len(load("georgiou2022", tmp_path).cells) == 14


def test_itu2023_has_epochs_with_their_metrics() -> None:
    study = load("itu2023", raw_data("itu", "experiments"))
    records = [run.record for run in import_runs(study, {})]
    assert all(run["status"] == "ok" and run["valid"] for run in records)
    epochs = epochs_frame(records)
    of_total = epochs[epochs["domain"] == "total"]
    assert len(of_total) == 10 * len(records)
    first = of_total.query("epoch == 1 and workload == 'ResNet-101' and dataset == 'CIFAR10' and batch_size == 128")
    means = first.groupby("framework")[["accuracy", "duration_s", "energy_gross_j"]].mean()
    # The authors' table: accuracy to three digits, and 2388 J from mean power times time, edges not interpolated.
    assert means.loc["PyTorch", "accuracy"] == pytest.approx(0.293, abs=0.0005)
    assert means.loc["PyTorch", "energy_gross_j"] == pytest.approx(2388, rel=0.03)
    assert records[0]["windows"]["epoch-1"]["gauges"]["gpu:0"]["utilization_percent"]["mean"] > 0


def test_a_data_set_of_itu2023_that_is_not_here_has_the_same_layout(tmp_path: Path) -> None:
    folder = raw_data("itu", "experiments")
    for path in folder.glob("experiments/gpu/*/*batchsize32-*-CIFAR10-resnet50*"):
        target = tmp_path / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target.with_name(target.name.replace("CIFAR10", "SVHN")))
    study = load("itu2023", tmp_path)
    assert [cell.to_dict()["dataset"] for cell in study.cells] == ["SVHN", "SVHN"]
    assert all(run.record["valid"] for run in import_runs(study, {}))
