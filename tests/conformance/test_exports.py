"""Every kind of model survives its export, with the scores and the work that it had in its framework."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from checkout import ROOT, run_snakemake

from framewatt.datasets import make_arrays
from framewatt.datasets.contract import save_arrays
from framewatt.study import environment_of
from framewatt.workloads import FRAMEWORKS

DATA = {
    "bert_tiny": {"module": "synthetic", "shape": [16], "vocabulary": 30522, "classes": 10},
    "mobilenetv2": {"module": "synthetic", "shape": [3, 32, 32], "classes": 10},
}
FLOPS = {
    # A layer of 128 for 16 tokens: 4 products with 128 x 128, 2 with 128 x 512, 2 of 16 x 16 x 128; pooler and head.
    **{
        (framework, "bert_tiny"): 2 * (2 * (16 * (4 * 128**2 + 2 * 128 * 512) + 2 * 16**2 * 128) + 128**2 + 10 * 128)
        for framework in FRAMEWORKS
    },
    # What torch's own counter says.
    ("torch", "mobilenetv2"): 12_249_856,
    ("tensorflow", "mobilenetv2"): 12_249_856,
    # The first block expands 32 channels to 32 at 16 x 16 pixels.
    ("mxnet", "mobilenetv2"): 12_249_856 + 2 * 16**2 * 32**2,
}


@pytest.mark.parametrize("model", DATA)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_export_is_what_its_source_was(framework: str, model: str, tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("train", "export", "check")}
    for folder in folders.values():
        folder.mkdir()
    save_arrays(tmp_path / "data.npz", make_arrays({**DATA[model], "train_samples": 0, "test_samples": 6, "seed": 0}))
    job = {
        **{"engine": framework, "model": model, "device": "cpu", "provider": "native", "threads": 2, "seed": 0},
        **{"batch_size": 4, "data": str(tmp_path / "data.npz"), "weights": "seeded", "tolerance": 1e-3},
        "training": {"epochs": 1, "learning_rate": 0.001, "momentum": 0.9},
    }
    home = environment_of(framework, "cpu")
    run("framewatt.training", home, job | {"folder": str(folders["train"])})
    source = job | {"artefact": str(folders["train"]), "folder": str(folders["export"])}
    run(f"framewatt.exporters.{framework}", home, source)
    exported = job | {"provider": "cpu", "artefact": str(folders["export"]), "folder": str(folders["check"])}
    run("framewatt.exporters.check", "onnxruntime/cpu", exported)
    trained, found = (json.loads((folders[name] / f"{name}.json").read_text()) for name in ("train", "check"))
    assert (trained["epochs"], trained["weights"]) == ([], "seeded")
    assert (found["status"], found["equal_predictions_share"]) == ("ok", 1)
    assert found["flops"] == FLOPS[framework, model]
    assert trained["workload"]["flops"] in (None, found["flops"])


def run(module: str, environment: str, job: dict) -> None:
    """Run a stage of the workflow in an environment, as the workflow does."""
    record = f"resources/environments/locked/{environment}/environment.json"
    answer = run_snakemake(ROOT, record)
    assert answer.code == 0, answer.text
    path = Path(job["folder"]) / "job.json"
    path.write_text(json.dumps(job))
    done = subprocess.run(
        [ROOT / json.loads((ROOT / record).read_text())["python"], "-m", module, path],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
