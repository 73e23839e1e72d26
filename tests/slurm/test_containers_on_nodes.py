"""A study in containers on a Slurm of two nodes: every run takes place in its image, wherever it is measured."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from checkout import Checkout
from hardware.slurm_cluster import slurm_cluster, why_not
from two_nodes import NODES_TOLD, PROFILE, ended, started

from framewatt.environments.images import image_sha256
from framewatt.frames.occupancy import occupied, overlaps
from framewatt.runs.records import read_run

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.skipif(shutil.which("apptainer") is None, reason="no apptainer on this machine"),
]

STUDY: dict[str, Any] = {
    "factors": [
        {
            **{"phase": ["infer"], "workload": ["resnet50"], "dataset": ["digits-few"], "batch_size": [32]},
            "runtime": ["mxnet", "mx2onnx"],
        }
    ],
    "repetitions": 2,
    "weights": "seeded",
    "instruments": {"meters": ["estimate"]},
    "window": {"warm_up_batches": 1, "minimum_s": 0.5},
    "calibration": {"idle_s": 1},
    "cool_down": {"rest_s": 0},
}
CONFIG = "study=contained device=cpu container_base=debootstrap"


def test_every_run_took_place_in_its_image_on_its_node(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path, lock=None)
    checkout.write_study("contained", **STUDY)
    study = tmp_path / "config/studies/contained.yaml"
    checkout.share_images(CONFIG.replace("contained", str(study)), ["orchestrator", "mxnet/cpu", "onnxruntime/cpu"])
    with slurm_cluster():
        words = [*PROFILE, "--use-singularity", "results/contained/aggregate/runs.parquet"]
        answer = ended(started(tmp_path, *words, config=[*CONFIG.split(), NODES_TOLD]))
    assert answer.code == 0, answer.text
    records = [read_run(path) for path in tmp_path.glob("results/contained/measure/*/*/run.json")]
    assert len(records) == 4
    for record in records:
        environment = record["identity"]["environment"]
        image = tmp_path / "resources/images" / f"{environment['name']}.sif"
        assert (record["status"], record["valid"], environment["mode"]) == ("ok", True, "container")
        assert environment["image_sha256"] == image_sha256(image)
    assert {record["node"] for record in records} == {"a", "b"}
    assert overlaps(occupied(records)) == []
