"""Mask R-CNN in ONNX: boxes and masks are its source's, in any batch, with OpenVINO, and where there are none."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from checkout import ROOT, python_of
from stages import run_check, run_program, run_stages

from framewatt.datasets import make_arrays
from framewatt.datasets.storing import load_arrays, save_arrays
from framewatt.study.cell import environment_of
from framewatt.tasks.boxes import same_share

SHAPES = {"module": "synthetic_shapes", "most": 3, "masks": True, "seed": 0, "size": 128}
MODEL = {"model": "mask_rcnn_small", "weights": "trained", "batch_size": 4, "options": {"optimizer": "adam"}}
RUN = """
import sys
import numpy as np
import onnxruntime
with np.load(sys.argv[1]) as given:
    feed = {"b": given["boxes"], "s": given["scores"]}
np.savez(sys.argv[3], *onnxruntime.InferenceSession(sys.argv[2]).run(None, feed))
"""
INVERT_MASKS = """
import sys
import onnx
from onnx import helper, numpy_helper
import numpy as np
model = onnx.load(sys.argv[1])
output = model.graph.output[0]
parts = {"axis": [2], "first": [0], "box": [6], "last": [2**31 - 1]}
model.graph.initializer.extend(numpy_helper.from_array(np.array(at), f"cut_{name}") for name, at in parts.items())
model.graph.initializer.append(numpy_helper.from_array(np.float32(1), "whole"))
model.graph.node.extend([
    helper.make_node("Slice", [output.name, "cut_first", "cut_box", "cut_axis"], ["rows"]),
    helper.make_node("Slice", [output.name, "cut_box", "cut_last", "cut_axis"], ["masks"]),
    helper.make_node("Sub", ["whole", "masks"], ["inverted"]),
    helper.make_node("Concat", ["rows", "inverted"], ["wrong"], axis=2),
])
output.name = "wrong"
onnx.save(model, sys.argv[2])
"""


class Exported(NamedTuple):
    """A trained Mask R-CNN and its export, in `folder`."""

    framework: str
    folder: Path
    weights: dict[str, Any]
    check: dict[str, Any]

    def checked(self, folder: Path, **changes: Any) -> dict[str, Any]:
        """The record of another check of it, made in an empty folder."""
        return run_check(self.framework, MODEL, self.folder, folder=str(folder), **changes)


@pytest.fixture(scope="module", params=["torch", "tensorflow"])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    folder = tmp_path_factory.mktemp(request.param)
    save_arrays(folder / "data.npz", make_arrays({**SHAPES, "train_samples": 16, "test_samples": 7}))
    return Exported(request.param, folder, *run_stages(request.param, MODEL, folder))


def test_an_export_finds_the_boxes_and_masks_of_its_source(exported: Exported) -> None:
    found = exported.weights["epochs"][-1]["quality"]["mask_ap"]["detections_per_image"]
    assert found > 2, "there is something to compare"
    assert (exported.check["status"], exported.check["reason"]) == ("ok", None)
    assert exported.check["equal_answers_share"] >= 0.99
    # What both do depends on the sample: heads look at what is there alone.
    assert exported.weights["workload"]["flops"] in (None, exported.check["flops"])


@pytest.mark.parametrize(
    ("provider", "batch_size"), [("cpu", 1), ("cpu", 4), ("openvino", 4)], ids=["alone", "by four", "OpenVINO"]
)
def test_it_does_so_in_any_batch_and_with_openvino(
    exported: Exported, tmp_path: Path, provider: str, batch_size: int
) -> None:
    found = exported.checked(tmp_path, provider=provider, batch_size=batch_size)
    assert (found["status"], found["reason"]) == ("ok", None)
    assert found["equal_answers_share"] >= 0.99


def test_an_export_with_other_masks_is_not_called_equal(exported: Exported, tmp_path: Path) -> None:
    (tmp_path / "reference.npy").symlink_to(exported.folder / "export/reference.npy")
    command = ["-c", INVERT_MASKS, exported.folder / "export/model.onnx", tmp_path / "model.onnx"]
    subprocess.run([python_of("onnxruntime/cpu"), *command], check=True)
    found = exported.checked(tmp_path, artefact=str(tmp_path))
    assert found["status"] == "deviates"
    assert found["equal_answers_share"] < 0.1


def test_where_no_box_is_left_a_graph_finds_nothing(exported: Exported, tmp_path: Path) -> None:
    """Images of no numbers have no proposals, so that heads look at nothing."""
    data = load_arrays(exported.folder / "data.npz")
    save_arrays(tmp_path / "data.npz", replace(data, x_test=np.full_like(data.x_test[:], np.nan)))
    (tmp_path / "model.onnx").symlink_to(exported.folder / "export/model.onnx")
    found = exported.checked(tmp_path, data=str(tmp_path / "data.npz"), artefact=str(tmp_path))
    assert found["status"] == "ok", found["reason"]
    assert found["quality"]["mask_ap"]["detections_per_image"] == 0


@pytest.mark.parametrize("classes", [1, 4], ids=["fewer boxes than rows", "more"])
def test_tensorflows_search_gives_its_rows_however_few_boxes_there_are(classes: int, tmp_path: Path) -> None:
    """Four boxes of one class are fewer than the ten rows that it gives."""
    draw = np.random.default_rng(3)
    begin = draw.uniform(0, 40, (2, 4, classes, 2))
    boxes = np.concatenate([begin, begin + draw.uniform(5, 20, begin.shape)], axis=-1).astype(np.float32)
    np.savez(tmp_path / "given.npz", boxes=boxes, scores=draw.random((2, 4, classes)).astype(np.float32))
    script = ROOT / "tests/conformance/export_search.py"
    files = [tmp_path / name for name in ("given.npz", "model.onnx", "found.npz")]
    run_program(environment_of("tensorflow", "cpu"), script, *files)
    subprocess.run([python_of("onnxruntime/cpu"), "-c", RUN, *files[:2], tmp_path / "ran.npz"], check=True)
    with np.load(tmp_path / "found.npz") as found, np.load(tmp_path / "ran.npz") as ran:
        assert (found["arr_3"] > 0).all()
        for name, shape in (("arr_0", (2, 10, 4)), ("arr_1", (2, 10)), ("arr_2", (2, 10)), ("arr_3", (2,))):
            assert ran[name].shape == found[name].shape == shape
        for image, count in enumerate(found["arr_3"]):
            assert ran["arr_3"][image] == count
            for name in ("arr_0", "arr_1", "arr_2"):
                assert np.allclose(ran[name][image, :count], found[name][image, :count])


def test_what_is_found_at_once_is_what_is_found_image_by_image(tmp_path: Path) -> None:
    script = ROOT / "tests/conformance/inspect_at_once.py"
    run_program(environment_of("torch", "cpu"), script, tmp_path / "found.npz")
    with np.load(tmp_path / "found.npz") as content:
        found = dict(content)
    for case in ("random weights", "one image"):
        ours, theirs = found[f"{case}, at once"], found[f"{case}, image by image"]
        assert (theirs[..., 4] >= 0).sum(axis=1).min() > 10
        assert ours.shape == theirs.shape
        assert same_share(ours, theirs) >= 0.99
    for case in ("no proposal", "all of it background"):
        ours, theirs = found[f"{case}, at once"], found[f"{case}, image by image"]
        assert (ours == -1).all()
        assert (theirs == -1).all()
