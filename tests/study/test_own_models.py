"""Own models of a study: cells like any other, and nothing in the jobs of the zoo's."""

from pathlib import Path

import pytest
import yaml

from framewatt.base.errors import FramewattError
from framewatt.base.validation import load_yaml
from framewatt.datasets.catalogue import Catalogue
from framewatt.planning import jobs
from framewatt.study.study import MeasuredStudy
from framewatt.study.study_file import load_study

SCHEMA = Path(__file__).parents[2] / "config" / "schemas" / "study.schema.yaml"
INPUTS = [{"name": "x", "shape": [4]}]
CROSS = {"phase": ["infer"], "dataset": ["synthetic"], "batch_size": [1]}


def study(tmp_path: Path, models: dict, *factors: dict) -> MeasuredStudy:
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump({"study": "trial", "title": "A trial", "models": models, "factors": list(factors)}))
    known = {"dataset": ["digits"], "workload/torch": ["resnet50"], "workload/mxnet": ["resnet50"]}
    return load_study(path, load_yaml(path), load_yaml(SCHEMA), known, "cpu", 2)


def test_a_factory_is_built_where_its_framework_runs_and_nowhere_else(tmp_path: Path) -> None:
    mine = {"factory": {"torch": "nets:mine"}, "inputs": INPUTS}
    zoo = {**CROSS, "workload": ["resnet50"], "dataset": ["digits"], "runtime": ["torch"]}
    made = study(tmp_path, {"mine": mine}, {**CROSS, "workload": ["mine"], "runtime": ["torch", "torch2onnx"]}, zoo)
    by_id = {cell.id: jobs.measure_job(made, cell, 1, 1) for cell in made.cells}
    assert by_id["infer-mine-synthetic-torch-b1"]["own"] == {"factory": "nets:mine", "folder": str(tmp_path)}
    assert by_id["infer-mine-synthetic-torch-b1"]["weights"] == "given"
    assert "own" not in by_id["infer-mine-synthetic-torch2onnx-cpu-b1"]
    assert "own" not in by_id["infer-resnet50-digits-torch-b1"]
    assert by_id["infer-resnet50-digits-torch-b1"]["weights"] == "trained"


def test_an_onnx_file_is_exported_by_nobody_and_trained_by_nobody(tmp_path: Path) -> None:
    mine = {"onnx": "mine.onnx", "inputs": INPUTS}
    both = {
        **CROSS,
        "phase": ["train", "infer"],
        "workload": ["mine"],
        "runtime": ["onnx"],
        "provider": ["cpu", "openvino"],
    }
    made = study(tmp_path, {"mine": mine}, both)
    assert {cell.id for cell in made.cells} == {f"infer-mine-synthetic-onnx-{name}-b1" for name in ("cpu", "openvino")}
    assert {cell.phase for cell, _ in made.unsupported} == {"train"}
    assert list(jobs.exported_models_of(made)) == ["mine-synthetic-onnx"]
    assert list(jobs.trained_models_of(made)) == []
    assert jobs.environments_of(made) == ["onnxruntime/cpu", "onnxruntime/openvino"]


def test_own_samples_are_files_that_no_other_study_has(tmp_path: Path) -> None:
    models = {
        name: {"factory": {"torch": "nets:mine"}, "inputs": INPUTS, **more}
        for name, more in (("a", {}), ("b", {"arrays": "/home/b.npz"}))
    }
    made = study(tmp_path, models, {**CROSS, "workload": ["a"], "runtime": ["torch"]})
    catalogue = Catalogue({}, {}, {}).with_own(made.own.values())
    assert catalogue.arrays_of("synthetic", "torch", "a") == "synthetic-trial-a"
    assert catalogue.arrays_of("own", "torch", "b") == "own-trial-b"
    assert catalogue.definitions["own-trial-b"]["files"] == {"arrays": "b.npz"}
    with pytest.raises(FramewattError, match="own: it has no variant for torch/a"):
        catalogue.arrays_of("own", "torch", "a")


FOUND = {
    "onnx": "a.onnx",
    "inputs": [{"name": "x", "shape": [3, 64, 64]}],
    "images": "photographs",
    "annotations": "instances.json",
    "metric": "box_ap",
}
OF_OWN = {**CROSS, "workload": ["mine"], "runtime": ["onnx"], "dataset": ["own"]}


def jobs_of(tmp_path: Path, model: dict) -> tuple[dict, dict]:
    """How its samples are made, and the job of a run."""
    made = study(tmp_path, {"mine": model}, OF_OWN)
    return made.own["mine"].definition, jobs.measure_job(made, made.cells[0], 1, 1)


def test_a_detector_s_photographs_are_its_samples_and_what_is_said_of_them_makes_them_anew(tmp_path: Path) -> None:
    definition, job = jobs_of(tmp_path, FOUND)
    assert definition["files"] == {"images": "photographs", "annotations": "instances.json"}
    assert (definition["metric"], definition["resize"], definition["preprocessing"]) == ("box_ap", "fit", "unit")
    assert not {"own", "outputs", "classes"} & set(job)
    for key, level in {"resize": "stretch", "preprocessing": "torch", "metric": "mask_ap"}.items():
        assert jobs_of(tmp_path, {**FOUND, key: level})[0] == {**definition, key: level}
    named = {"outputs": {"boxes": "b", "scores": "s", "labels": "l"}, "classes": "from_1"}
    assert jobs_of(tmp_path, {**FOUND, **named}) == (definition, {**job, **named})


def test_what_is_not_said_of_photographs_leaves_the_samples_of_other_models_as_they_were(tmp_path: Path) -> None:
    made = study(tmp_path, {"mine": {"onnx": "a.onnx", "inputs": INPUTS}}, {**OF_OWN, "dataset": ["synthetic"]})
    assert set(made.own["mine"].definition) == {"module", "seed", "inputs", "samples", "layout", "metric"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"annotations": ""}, "annotations: missing. Name both a folder `images` and its `annotations`"),
        ({"images": ""}, "images: missing. Name both"),
        ({"images": "", "annotations": ""}, "metric: box_ap needs `images` and `annotations`. Name both"),
        ({"arrays": "a.npz"}, "arrays: there are also `images`. Use one of the two"),
        ({"metric": "accuracy"}, "metric: accuracy is not possible with `images`. Use box_ap, mask_ap or none"),
        (
            {"inputs": [{"name": "x", "shape": [64, 64, 3]}]},
            r"inputs: \[64, 64, 3\], float32 does not fit `images`. Use ",
        ),
        (
            {"inputs": [*FOUND["inputs"], {"name": "y", "shape": [4]}]},
            r"inputs: \[3, 64, 64\], float32 and \[4\], float32 does not fit",
        ),
        (
            {"outputs": {"boxes": "b"}},
            "outputs: boxes is not a set of outputs. Use boxes, scores, labels for a detector, or scores alone",
        ),
        (
            {"factory": {"torch": "a:b"}, "outputs": {"scores": "s"}},
            "outputs: it is for ONNX files alone, and the model has a factory",
        ),
        (
            {"factory": {"torch": "a:b"}, "classes": "from_1"},
            "classes: it is for ONNX files alone",
        ),
        (
            {"metric": "none", "classes": "from_1"},
            "classes: metric: none judges no outputs. Remove classes",
        ),
        ({"classes": "from_2"}, "classes: 'from_2' is not allowed. Use from_0, from_1, category_ids"),
        (
            {"images": "", "annotations": "", "metric": "none", "resize": "stretch"},
            "resize: stretch needs `images`",
        ),
    ],
)
def test_what_does_not_fit_a_detector_is_one_line(tmp_path: Path, change: dict, message: str) -> None:
    with pytest.raises(FramewattError, match=rf"models\.mine\.{message}"):
        study(tmp_path, {"mine": {**FOUND, **change}}, OF_OWN)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"resnet50": {"onnx": "a.onnx"}}, "models: 'resnet50' is the name of a model"),
        ({"Mine": {"onnx": "a.onnx"}}, "workload.0: 'Mine' is not allowed. Use text matching"),
        (
            {"mine": {"onnx": "a.onnx", "inputs": INPUTS * 2}},
            "models.mine.inputs: x, x has a name twice",
        ),
        ({"mine": {"factory": {"torch": "nets:mine"}}}, "workload: 'mine' is unknown"),
    ],
)
def test_wrong_models_are_one_line(tmp_path: Path, models: dict, message: str) -> None:
    filled = {name: {"inputs": INPUTS, **model} for name, model in models.items()}
    with pytest.raises(FramewattError, match=message):
        study(tmp_path, filled, {**CROSS, "workload": list(models), "runtime": ["onnx"]})
