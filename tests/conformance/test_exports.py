"""Every kind of model survives its export, with the scores and the work that it had in its framework."""

from pathlib import Path

import pytest
from checkout import ROOT
from stages import run_stages

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import save_arrays
from framewatt.study.runtimes import FRAMEWORKS

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
    save_arrays(tmp_path / "data.npz", make_arrays({**DATA[model], "train_samples": 0, "test_samples": 6, "seed": 0}))
    trained, found = run_stages(framework, {"model": model, "weights": "seeded"}, tmp_path)
    assert (trained["epochs"], trained["weights"]) == ([], "seeded")
    assert (found["status"], found["equal_predictions_share"]) == ("ok", 1)
    assert found["flops"] == FLOPS[framework, model]
    assert trained["workload"]["flops"] in (None, found["flops"])
    # A path of this machine would make another file of the same model elsewhere, with another hash.
    (exported,) = tmp_path.rglob("model.onnx")
    assert not [path for path in (str(ROOT), str(tmp_path), "site-packages") if path.encode() in exported.read_bytes()]
