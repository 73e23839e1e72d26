"""What a change of each key of a study makes again: docs/reruns.md says it, and the hashes of the jobs do it."""

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from study_factory import hashes_of, loaded, schema

from framewatt.imports.file_study import schema_of_files
from framewatt.planning.job_hashes import JobHashes
from framewatt.planning.plan import plan_of
from framewatt.study.study_file import schema_of_measuring

PAGE = Path(__file__).parents[2] / "docs" / "reruns.md"
COLUMNS = ("idle power", "weights", "exports", "training runs", "inference runs")
CROSS = {"phase": ["train", "infer"], "workload": ["resnet50"], "dataset": ["digits"], "batch_size": [8]}
OWN = {
    **CROSS,
    "phase": ["infer"],
    "batch_size": [4],
    "dataset": ["synthetic"],
    "workload": ["mine"],
    "runtime": ["torch", "onnx"],
}
INPUT = {"name": "x", "shape": [3, 4, 4], "type": "float32", "below": 2}
MINE = {"factory": {"torch": "nets:mine"}, "onnx": "mine.onnx", "inputs": [INPUT]}
BASE = {
    "study": "trial",
    "title": "A trial",
    "repetitions": 2,
    "threads": 2,
    # Without it nothing is repeated.
    "operators": True,
    "models": {"mine": MINE},
    "factors": [
        {**CROSS, "runtime": ["torch", "tensorflow"]},
        {**CROSS, "phase": ["infer"], "runtime": ["torch", "torch2onnx"], "precision": ["fp32"]},
        {**CROSS, "phase": ["infer"], "runtime": ["torch2onnx"], "precision": ["int8_static"]},
        OWN,
    ],
}
OTHER = {
    "study": "another",
    "repetitions": 3,
    "threads": 1,
    "device": "cuda",
    "replicates": "itu2023",
    "statistics.compare": ["runtime"],
    "statistics.accuracy_targets": [0.5],
    "statistics.deadline_s": 0.1,
    "instruments.meters": ["estimate"],
    "instruments.fallback": "estimate",
    "instruments.external.quantity": "energy_j",
    "instruments.external.max_power_w": 3000,
    "archive.harmless": ["user"],
    "preflight.accept": ["load"],
    "disturbance": "invalid",
    "profile": "windows",
    "preflight.set_governor": "performance",
    "cool_down.idle_band": 0.5,
    "costs.intensity_g_per_kwh": 100,
    "costs.price": {"per_kwh": 1, "currency": "EUR"},
    "weights": "seeded",
    "training.betas": [0.25, 0.5],
    "training.weight_decay": 0,
    "training.clip_norm": 5,
    "training.schedule": {"kind": "cosine", "warm_up_steps": 10, "final_rate": 0.0001},
    "factors[].phase": ["infer"],
    "factors[].workload": ["resnet50", "mobilenet"],
    "factors[].dataset": ["digits", "cifar10"],
    "factors[].runtime": ["torch", "mxnet"],
    "factors[].provider": ["cpu", "openvino"],
    "factors[].batch_size": [8, 16],
    "factors[].precision": ["fp32", "bf16"],
    "factors[].graph_optimization": ["all", "basic"],
    "factors[].threads": [1, 2],
    "factors[].compile": ["plain", "compiled"],
    "factors[].layout": ["default", "channels_last"],
    "factors[].optimizer": ["sgd", "adam"],
    "factors[].learning_rate": [0.001, 0.01],
    "factors[].client": ["python", "node"],
    "factors[].caches": ["as_found", "warm"],
    "factors[].heap": ["default", "kept"],
    "factors[].update": ["fused", "foreach"],
    "factors[].loss_read": ["epoch", "step"],
    "factors[].weight_inputs": ["as_exported", "removed"],
    "factors[].decoding": ["default", "greedy"],
    "factors[].load": ["closed", "20/s"],
    "exclude[].phase": "train",
    "exclude[].workload": "mine",
    "exclude[].runtime": "onnx",
    "exclude[].provider": "cpu",
    "exclude[].dataset": "synthetic",
    "exclude[].batch_size": 4,
    "exclude[].precision": "int8_static",
    "exclude[].load": "20/s",
    "models.*.factory.torch": "nets:other",
    "models.*.layout": "NCHW",
    "models.*.metric": "none",
    "models.*.inputs[].name": "y",
    "models.*.inputs[].shape": [3, 8, 8],
    "models.*.inputs[].type": "float64",
    "models.*.weights": "given",
}
"""A changed value of keys for which none can be made from the schema alone."""
OF_INFERENCE = ("provider", "graph_optimization", "client", "weight_inputs", "decoding", "load")
OF_MODELS = "training.models.*."
CROSS_OF = {f"factors[].{name}": 1 for name in OF_INFERENCE}
"""The entry of `factors` in which a key is changed, where it is not the first."""
UNTESTED = {
    "source": "another kind of study",
    "order": "has one level",
    **dict.fromkeys(("factors[].tf32", "exclude[].tf32"), "of GPUs, see tests/study/test_options.py"),
    "models.*.factory.tensorflow": "as torch",
    "models.*.factory.mxnet": "as torch",
    "models.*.weights": "needs a data set to train on",
    "models.*.arrays": "a file, whose hash counts",
    **dict.fromkeys(("models.*.images", "models.*.annotations"), "files, whose hash counts"),
    **dict.fromkeys(("models.*.resize", "models.*.preprocessing"), "of images, see test_own_models.py"),
    **{
        f"models.*.{key}": "of ONNX files, likewise"
        for key in ("outputs.boxes", "outputs.scores", "outputs.labels", "classes")
    },
}


def leaves(part: Mapping[str, Any], key: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every key of a schema that holds a value: `a.b`, `factors[].c`, `models.*.d`."""
    kind = part.get("type")
    items = part.get("items", {})
    others = part.get("additionalProperties")
    if kind == "object" and "properties" in part:
        for name, sub in part["properties"].items():
            yield from leaves(sub, f"{key}.{name}" if key else name)
    elif kind == "object" and isinstance(others, Mapping) and "properties" in others:
        yield from leaves(others, f"{key}.*")
    elif kind == "array" and "properties" in items:
        yield from leaves(items, f"{key}[]")
    else:
        yield key, part


MEASURING = dict(leaves(schema_of_measuring(schema())))
FILES = [key for key, _ in leaves(schema_of_files(schema())) if key.startswith("files.")]


def another(allowed: Mapping[str, Any], value: Any) -> Any:
    """A value that the schema allows and that is not this one."""
    if "enum" in allowed:
        return next(level for level in allowed["enum"] if level != value)
    if allowed["type"] == "boolean":
        return not value
    if allowed["type"] in ("integer", "number"):
        return (value or 1) * 2 if allowed.get("exclusiveMaximum", 9) > 1 else 0.5 + (value or 0) / 4
    if allowed["type"] == "array":
        return [*(value or []), "more"]
    assert allowed["type"] == "string"
    return f"{value or ''}x"


def changed(key: str) -> dict[str, Any]:
    """The base study with another value under a key."""
    content = copy.deepcopy(BASE)
    place: Any = content
    *parents, last = key.replace("[]", ".[]").split(".")
    for part in parents:
        if part == "[]":
            place = place[CROSS_OF.get(key, 0)]
        elif part == "*":
            place = place.setdefault("resnet50", {}) if key.startswith(OF_MODELS) else place["mine"]
        else:
            place = place.setdefault(part, [{}] if key.startswith("exclude") else {})
    # What a model has of its own is in place of what the study has.
    of_study = key.replace(OF_MODELS, "training.")
    default = MEASURING[of_study].get("default")
    place[last] = OTHER[of_study] if of_study in OTHER else another(MEASURING[key], place.get(last, default))
    return content


def made(hashes: JobHashes) -> dict[str, dict[str, str]]:
    """The hash of everything that a study makes, by the page's columns."""
    runs = {f"{run.cell.id}/{run.repetition}": hashes.run(run.cell, run.repetition) for run in hashes.study.runs()}
    return {
        "idle power": {"idle": hashes.idle[""]},
        "weights": hashes.weights,
        "exports": hashes.exports | {f"check of {name}": sha for name, sha in hashes.checks.items()},
        "training runs": {name: sha for name, sha in runs.items() if name.startswith("train-")},
        "inference runs": {name: sha for name, sha in runs.items() if name.startswith("infer-")},
    }


def word(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What of it is made again: `all`, `some`, `new`, or nothing."""
    kept = before.keys() & after.keys()
    again = {name for name in kept if before[name] != after[name]}
    words = ["all" if again == kept else "some"] if again else []
    return " + ".join([*words, *(["new"] if after.keys() - before.keys() else [])]) or "-"


def effect(folder: Path, key: str) -> tuple[str, ...]:
    """What a change of the key makes again, in the order of COLUMNS."""
    content = changed(key)
    before = made(hashes_of(loaded(folder, BASE)))
    after = made(hashes_of(loaded(folder, content, content.get("device", "cpu"))))
    return tuple(word(before[column], after[column]) for column in COLUMNS)


def rows() -> dict[str, tuple[str, ...]]:
    """The page's table of keys."""
    lines = [line for line in PAGE.read_text().splitlines() if re.match(r"\| `", line)]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {key.strip("`"): tuple(rest) for key, *rest in cells if len(rest) == len(COLUMNS)}


def test_the_page_has_a_row_for_every_key_and_no_other() -> None:
    assert set(rows()) == {*MEASURING, *FILES}


@pytest.mark.parametrize("key", sorted(MEASURING.keys() - UNTESTED.keys()))
def test_a_change_of_a_key_makes_again_what_the_page_says(tmp_path: Path, key: str) -> None:
    assert rows()[key][: len(COLUMNS)] == effect(tmp_path, key)


@pytest.mark.parametrize("key", sorted(MEASURING.keys() - UNTESTED.keys() - {"models.*.folder"}))
def test_every_change_of_a_study_is_another_plan(tmp_path: Path, key: str) -> None:
    content = changed(key)
    plans = [plan_of(hashes_of(loaded(tmp_path, BASE)))]
    plans.append(plan_of(hashes_of(loaded(tmp_path, content, content.get("device", "cpu")))))
    assert plans[0] != plans[1]


CHANGES: dict[str, Callable[[Path], JobHashes]] = {
    "another lock": lambda folder: hashes_of(loaded(folder, BASE), lock="2"),
    "containers": lambda folder: hashes_of(loaded(folder, BASE), mode="container"),
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_another_environment_makes_all_again_but_idle_power(tmp_path: Path, change: str) -> None:
    before, after = made(hashes_of(loaded(tmp_path, BASE))), made(CHANGES[change](tmp_path))
    assert [word(before[column], after[column]) for column in COLUMNS] == ["-", "all", "all", "all", "all"]


def test_another_cell_of_a_named_option_leaves_what_was_measured_without_it(tmp_path: Path) -> None:
    content = copy.deepcopy(BASE)
    content["factors"].append({**content["factors"][0], "optimizer": ["adam"]})
    before, after = made(hashes_of(loaded(tmp_path, BASE))), made(hashes_of(loaded(tmp_path, content)))
    assert word(before["training runs"], after["training runs"]) == "new"
    assert word(before["inference runs"], after["inference runs"]) == "-"
